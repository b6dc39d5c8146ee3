"""What leaves know of the board: how each entity is read from it and written back.

Conditions and actions both import this module and never each other. `bb_get` and `bb_set` are the
only way to the keys; everything else here is a reading of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter, is_
from typing import Any, Final

from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import LEAVES
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.state.schema import Json, Key
from oracle.models.agent_state import AgentState
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.models.signals import AgentSignalState
from oracle.models.tool_spec import ToolSpec
from oracle.services.agent_services import AgentServices
from oracle.services.control.conversation import (
    TOKENS_AROUND_A_MESSAGE,
    Weight,
    rough_tokens,
)
from oracle.services.control.grants import considered, specs_from
from oracle.services.control.ledger import Ledger
from oracle.services.control.repetition import Repetition, find_repetition, name_of_call
from oracle.services.control.room import Room
from oracle.services.coverage.affordable import Purse
from oracle.services.coverage.parts import MOST_PARTS
from oracle.services.llm.protocol import Prices

bb_get: Final[Callable[[TypedBlackboard, str], Any]] = TypedBlackboard.get
bb_set: Final[Callable[[TypedBlackboard, str, Json], None]] = TypedBlackboard.set

SIGNAL_STATE: Final = (
    "signals_emitted",
    "last_signal",
    "consecutive_same_reason",
    "turns_without_signal",
)
"""The keys that hold the `AgentSignalState` of a run."""

AGENT_STATE: Final = (
    "signals_emitted",
    "tool_results",
    "sources_tried",
    "sources_empty",
    "evidence",
)
"""The keys that `agent_state` reads."""

OFFER: Final = ("granted", "withdrawn", "tools_withdrawn", "tool_list")
"""The keys that decide which tools are in the next request."""

ROOM: Final = ("ledger", "model", "weight", *OFFER)
"""The keys that `room_of` reads."""

LARGE_SHARE: Final = 2
"""Messages are large from this part of the context window on: half of it."""

PIPE_EMPTY: Final = "is_pipe_empty"
"""In `facts`: the user meant to attach a text, but there was none."""

SECONDS_WAITED: Final = "seconds_waited"
"""In `facts`: how long the user had waited before the run began."""

BERT: Final = "bert"
"""In `facts`: what BERT is asked for in this run; a list. Without it, nothing."""

SHARES: Final = "words_by_source"
"""In `facts`: how much of the question the best place of each source has
(services/control/first_look.py). It is missing if the index could not be asked.
"""

# Trees that were recorded or written for an older version do not declare these.
LEAVES.later_keys.update(
    words_found=Key(list, []),
    yields=Key(list, []),
    words_at_strategies=Key(list, []),
    words_when_told=Key(int, -1),
    surplus=Key(list, []),
    parts_wanted=Key(int, 0),
    pieces=Key(list, []),
)

_NO_SERVICES: Final = AgentServices()


board_of: Final[Callable[[TickContext], TypedBlackboard]] = attrgetter("blackboard")
"""The board of a run: the leaves of the agent always have one."""


def services_of(ctx: TickContext) -> AgentServices:
    return ctx.services or _NO_SERVICES


def append(bb: TypedBlackboard, key: str, *values: Any) -> None:
    """Values on the board are replaced, never changed in place."""
    bb_set(bb, key, [*bb_get(bb, key), *values])


def wanted_parts(bb: TypedBlackboard) -> int:
    """How many parts may be read. Older trees do not say it."""
    return bb_get(bb, "parts_wanted") or MOST_PARTS


# -- the ledger ------------------------------------------------------------------------------------

_last_ledger: tuple[object, Ledger] = (None, Ledger())


def ledger_of(bb: TypedBlackboard) -> Ledger:
    """A dozen leaves of a turn ask for the same ledger, so the last one read is kept at hand.

    It is recognised by the identity of its data: another run has another object on its board.
    """
    global _last_ledger
    data = bb_get(bb, "ledger")
    # Read once: another thread may replace the pair at any moment.
    known, ledger = _last_ledger
    if data is not known:
        ledger = Ledger.from_dict(data)
        _last_ledger = (data, ledger)
    return ledger


def set_ledger(bb: TypedBlackboard, ledger: Ledger) -> None:
    global _last_ledger
    data = ledger.to_dict()
    _last_ledger = (data, ledger)
    bb_set(bb, "ledger", data)


def note_time_left(ctx: TickContext) -> None:
    """Give whatever begins to wait now (a response, tools, a person) the time that is left.

    Only the last turn may use the time that is kept for the last answer.
    """
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    kept = 0.0 if bb_get(bb, "is_last_turn") else ledger.seconds_kept
    bb_set(bb, "seconds_left", ledger.left("seconds", ctx.now) - kept)


def prices_of(bb: TypedBlackboard) -> Prices | None:
    prices = bb_get(bb, "model")["prices"]
    return None if prices is None else Prices.from_dict(prices)


def weigh(bb: TypedBlackboard) -> Weight:
    """Weigh the messages that were added since the last time."""
    weight = Weight.from_dict(bb_get(bb, "weight")).with_all(bb_get(bb, "messages"))
    bb_set(bb, "weight", weight.to_dict())
    return weight


def room_of(ctx: TickContext) -> Room:
    """What the next request may hold, and what it may cost.

    Half a dozen guards ask for it one after the other, so the last one is kept, like the ledger.
    """
    global _last_room
    bb = board_of(ctx)
    model, weight, ledger = bb_get(bb, "model"), bb_get(bb, "weight"), ledger_of(bb)
    offer, now = granted_tools(bb), ctx.now
    (*parts, last_now), room = _last_room
    if now == last_now and all(map(is_, parts, (model, weight, ledger, offer))):
        return room
    room = Room(
        ledger=ledger,
        prices=prices_of(bb),
        window=model["context_window"],
        longest_output=model["longest_output"],
        messages=weight["tokens"],
        tools=tokens_of_tools(bb),
        now=now,
    )
    _last_room = ((model, weight, ledger, offer, now), room)
    return room


_NO_ROOM: Final = Room(
    ledger=Ledger(), prices=None, window=0, longest_output=0, messages=0, tools=0, now=0.0
)
_last_room: tuple[tuple[Any, ...], Room] = ((None, None, None, None, -1.0), _NO_ROOM)


def tokens_of_tools(bb: TypedBlackboard) -> int:
    """The estimated size of the tools in the next request."""
    global _last_size
    offer = granted_tools(bb)
    known, size = _last_size
    if offer is not known:
        sizes = _sizes_of_tools(bb_get(bb, "tool_list"))
        size = sum([sizes[spec.name] for spec in offer])
        _last_size = (offer, size)
    return size


_last_size: tuple[object, int] = (None, 0)


def purse_of(ctx: TickContext) -> Purse:
    """What reading the parts of a broad question may still cost."""
    room = room_of(ctx)
    return Purse(room=room, window_left=room.in_window(room.window // LARGE_SHARE) - room.messages)


# -- the question and its tools --------------------------------------------------------------------


def as_data(classification: QueryClassification) -> dict[str, Any]:
    data: dict[str, Any] = {**vars(classification), "query_type": classification.query_type.value}
    runner_up = classification.runner_up
    data["runner_up"] = None if runner_up is None else runner_up.value
    return {**data, "keywords_matched": [*classification.keywords_matched]}


def known_terms_of(bb: TypedBlackboard) -> dict[str, int] | None:
    """The known terms of the question, and the number of files that have each."""
    known: list[Any] | None = bb_get(bb, "known_terms")
    if known is None:
        return None
    # Older records have the terms alone.
    return dict((each, 1) if isinstance(each, str) else tuple(each) for each in known)


def shares_of(bb: TypedBlackboard) -> dict[str, float]:
    """How much of the question each source has; empty if that is not known."""
    facts: dict[str, Any] = bb_get(bb, "facts") or {}
    return facts.get(SHARES) or {}


def classification_of(bb: TypedBlackboard) -> QueryClassification:
    data: dict[str, Any] = dict(bb_get(bb, "classification"))
    data["query_type"] = QueryType(data["query_type"])
    data["keywords_matched"] = tuple(data["keywords_matched"])
    if data["runner_up"] is not None:
        data["runner_up"] = QueryType(data["runner_up"])
    return QueryClassification(**data)


def question_of(bb: TypedBlackboard) -> str:
    """The question, with what the model wanted to delegate."""
    scopes = [delegation["scope"] for delegation in bb_get(bb, "delegations")]
    return " ".join([bb_get(bb, "query"), *scopes])


def all_tools(bb: TypedBlackboard) -> Sequence[ToolSpec]:
    return specs_of(bb_get(bb, "tool_list"))


def granted_tools(bb: TypedBlackboard) -> Sequence[ToolSpec]:
    """The tools of the next request: granted, and not withdrawn one by one or all together."""
    global _last_offer
    if bb_get(bb, "tools_withdrawn"):
        return ()
    known: str = bb_get(bb, "tool_list")
    chosen = (bb_get(bb, "granted"), bb_get(bb, "withdrawn"))
    # Asked several times in a turn, mostly with the same answer. The list of tools is long and
    # shared by all runs, so it is compared by identity.
    last_known, last_chosen, offer = _last_offer
    if known is not last_known or chosen != last_chosen:
        granted, withdrawn = chosen
        offer = [s for s in specs_of(known) if s.name in granted and s.name not in withdrawn]
        _last_offer = (known, chosen, offer)
    return offer


_last_offer: tuple[object, object, Sequence[ToolSpec]] = (None, None, ())


@lru_cache(maxsize=32)
def _sizes_of_tools(text: str) -> dict[str, int]:
    """The estimated tokens of each tool's description in a request."""
    return {
        spec.name: TOKENS_AROUND_A_MESSAGE
        + rough_tokens(json.dumps([spec.name, spec.description, dict(spec.parameters)]))
        for spec in specs_of(text)
    }


@lru_cache(maxsize=32)
def specs_of(text: str) -> Sequence[ToolSpec]:
    return tuple(specs_from(json.loads(text)))


def give_reason(bb: TypedBlackboard, tools: Sequence[str], reason: str) -> None:
    """Keep why these tools are offered or withheld, for readers of the run."""
    bb_set(bb, "tool_reasons", {**bb_get(bb, "tool_reasons"), **dict.fromkeys(tools, reason)})


# -- what a run remembers of itself ----------------------------------------------------------------


def signal_state(bb: TypedBlackboard) -> AgentSignalState:
    return AgentSignalState(**{key: bb_get(bb, key) for key in SIGNAL_STATE})


def set_signal_state(bb: TypedBlackboard, state: AgentSignalState) -> None:
    for key in SIGNAL_STATE:
        bb_set(bb, key, getattr(state, key))


def agent_state(ctx: TickContext) -> AgentState:
    bb = board_of(ctx)
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    failed = (result["name"] for result in results if not result["success"])
    return AgentState(
        turn=ctx.turn,
        signals=tuple(signal["type"] for signal in bb_get(bb, "signals_emitted")),
        tools_tried=tuple(
            dict.fromkeys(result["name"] for result in results if result.get("run", True))
        ),
        tools_failed=tuple(dict.fromkeys(failed)),
        sources_tried=tuple(bb_get(bb, "sources_tried")),
        sources_empty=tuple(bb_get(bb, "sources_empty")),
        places_found=len(bb_get(bb, "evidence")),
    )


def capability_tools(bb: TypedBlackboard, *, writes: bool) -> list[str]:
    """The tools that write, or those that only read, that can do what a `need_capability` signal
    asks for. Tools that were withdrawn, or refused by a person, are left out.
    """
    found = considered(bb_get(bb, "signal")["capability"], all_tools(bb)).tools
    gone = {*bb_get(bb, "withdrawn"), *bb_get(bb, "denied")}
    return [spec.name for spec in found if spec.writes is writes and spec.name not in gone]


def calls_without_a_yes(bb: TypedBlackboard) -> list[dict[str, Any]]:
    """The calls that would be run but need a yes that no person has given yet. The words of the
    question are no yes: what begins like an order may be a heading, a quotation or a report.
    """
    careful = {spec.name for spec in all_tools(bb) if spec.needs_yes}
    calls: list[dict[str, Any]] = bb_get(bb, "calls") if careful else []
    return [
        call
        for call in calls
        if call.get("not_run") is None and not call.get("has_yes") and call["name"] in careful
    ]


def new_gaps(bb: TypedBlackboard) -> list[str]:
    """What a `need_capability` signal asks for, no tool can do, and was not admitted before."""
    beyond = considered(bb_get(bb, "signal")["capability"], all_tools(bb)).beyond
    gaps: list[str] = bb_get(bb, "gaps")
    return [part for part in beyond if not any(gap.startswith(f"{part} (") for gap in gaps)]


def refused_again(bb: TypedBlackboard) -> list[str]:
    """The calls of this turn that are not run again: the model was told so, or they are writes that
    were done before.
    """
    refused: list[str] = bb_get(bb, "refused")
    calls: list[dict[str, Any]] = bb_get(bb, "calls")
    named = [(name_of_call(call["name"], call["arguments"]), call) for call in calls]
    again = (name for name, call in named if name in refused or call.get("is_repeat"))
    return list(dict.fromkeys(again))


def repetition_of_this_turn(bb: TypedBlackboard) -> Repetition | None:
    calls: list[dict[str, Any]] = bb_get(bb, "calls")
    was_run = sum(call.get("not_run", "") is None for call in calls)
    return find_repetition(bb_get(bb, "made"), newest=was_run)
