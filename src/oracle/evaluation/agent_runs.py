"""Asks the questions about harbour with a model and a loop, and says how good each answer is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Self

from oracle.bt.wrappers.recipe import LOOPS, AgentSetup, Definitions, built_in_trees
from oracle.bt.wrappers.run import Run
from oracle.evaluation.adherence import EVENTS, adherence_of
from oracle.evaluation.harbour import Question, World
from oracle.models.session import Exchange
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import AgentServices
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event
from oracle.services.comparison.comparing import Loop
from oracle.services.comparison.facts import TAKEN, LoopFacts, facts_of
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Model
from oracle.services.prompting.project_facts import ProjectFacts

if TYPE_CHECKING:
    from oracle.evaluation.purse import Purse

MakeModel = Callable[[int], Model]
"""A model for the given repeat: its seed, where it has one."""
SECONDS_TO_STOP: Final = 1.0
"""A run notices its time limit when it is reached, so it ends a moment later."""
LIMIT_STOPS: Final = ("turn_limit", "token_limit", "money_limit", "time_limit")


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One answer. `complete` is the share of what it should contain and cite.

    `apt_signals` are the responses, of all `responses`, with a valid signal that the evidence does
    not contradict. `kept_limits` says that no limit was exceeded; one may have been reached.
    `is_cut` says that the run had less money than it should, or no model. Only its cost counts.
    `agent` is a digest of the trees, the prompts and the limits (`Examined`).
    """

    question: str
    loop: Loop
    model: str
    repeat: int
    facts: LoopFacts
    complete: float
    is_right: bool
    confidence: float | None = None
    responses: int = 0
    apt_signals: int = 0
    kept_limits: bool = True
    is_cut: bool = False
    agent: str = ""

    @property
    def key(self) -> tuple[str, str, str, int]:
        return (self.model, self.loop, self.question, self.repeat)

    @property
    def is_wrongly_whole(self) -> bool:
        """Called whole, and it is not."""
        return self.facts.is_whole and not self.is_right

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        known: dict[str, Any] = {name: data[name] for name in cls.__slots__ if name in data}
        known["facts"] = LoopFacts.from_dict(data["facts"])
        return cls(**known)


@dataclass(frozen=True, kw_only=True, slots=True)
class Examined:
    """The agent that is asked: a project may have trees, prompts and limits of its own."""

    limits: Limits = field(default_factory=Limits)
    definitions: Definitions | None = None

    def digest(self) -> str:
        recipe = AgentSetup(limits=self.limits, definitions=self.definitions).recipe("")
        # The plain loop is always ours, whatever trees the project has.
        trees = (built_in_trees(), recipe.sources)
        parts = (version("bt-oracle"), trees, recipe.prompts, self.limits.to_dict())
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


async def ask(
    world: World,
    question: Question,
    *,
    model: Model,
    loop: Loop,
    repeat: int,
    limits: Limits,
    definitions: Definitions | None = None,
) -> Outcome:
    facts = ProjectFacts(world.root, world.index.paths).gather
    setup = AgentSetup(
        live=AgentServices(model=model, tools=world.tools),
        limits=limits,
        sources=world.index,
        facts=facts,
        tree=LOOPS[loop],
        definitions=definitions,
    )
    run = Run.start(setup, question.question, history=_history(question))
    heard: list[OracleStreamChunk] = []
    confidence: float | None = None
    events: list[Event] = []
    unsubscribe = get_event_bus().subscribe(events.append, types=EVENTS)
    try:
        async for chunk in run.chunks():
            if chunk.type in TAKEN:
                heard.append(chunk)
            if chunk.type == ChunkType.SIGNAL:
                confidence = chunk["signal"]["confidence"]
    finally:
        unsubscribe()
    found = facts_of(heard)
    signals = adherence_of(events)
    complete = completeness(question, found, world.web)
    return Outcome(
        question=question.id,
        loop=loop,
        model=model.name,
        repeat=repeat,
        facts=found,
        complete=complete,
        is_right=_is_right(question, found, complete),
        confidence=confidence,
        responses=sum(each.responses for each in signals),
        apt_signals=sum(each.apt for each in signals),
        kept_limits=_keeps(found, limits),
    )


async def ask_all(
    world: World,
    asked: Sequence[Question],
    *,
    make_model: MakeModel,
    repeats: int,
    examined: Examined,
    done: frozenset[tuple[str, str, str, int]] = frozenset(),
    purse: Purse | None = None,
) -> AsyncIterator[Outcome]:
    """Both loops on each question. Those that are `done` already are left out. It ends when the
    `purse` is empty.
    """
    limits, definitions, agent = examined.limits, examined.definitions, examined.digest()
    for repeat in range(repeats):
        model = make_model(repeat)
        for question in asked:
            for loop in ("tree", "baseline"):
                if (model.name, loop, question.id, repeat) in done:
                    continue
                given = limits if purse is None else purse.limits(limits, model)
                if given is None:
                    return
                answered = await ask(
                    world,
                    question,
                    model=model,
                    loop=loop,
                    repeat=repeat,
                    limits=given,
                    definitions=definitions,
                )
                outcome = replace(answered, agent=agent)
                yield outcome if purse is None else purse.paid(outcome, given, limits)


def completeness(question: Question, found: LoopFacts, web: str = "") -> float:
    """The share of the groups that the answer contains or cites. Without groups it is 1."""
    answer = found.answer.lower()
    contained = [any(word.lower() in answer for word in group) for group in question.contains]
    cited = {place.removeprefix(web) for place in found.cited}
    held = [any(file in cited for file in group) for group in question.cites]
    groups = contained + held
    return sum(groups) / len(groups) if groups else 1.0


def _is_right(question: Question, found: LoopFacts, complete: float) -> bool:
    """An answer to what cannot be answered is right if it does not claim to be whole."""
    if not question.answerable:
        return not found.is_whole
    return complete == 1.0


def _keeps(found: LoopFacts, limits: Limits) -> bool:
    money = limits.money is None or (found.money or 0.0) <= limits.money
    in_time = found.seconds <= limits.seconds + SECONDS_TO_STOP
    return money and in_time and found.turns <= limits.turns and found.tokens <= limits.tokens


def _history(question: Question) -> list[Exchange]:
    return [
        Exchange(
            id=str(number),
            session_id="",
            question=said["question"],
            answer=said["answer"],
            metadata={"places_found": 1},
            created_at=0.0,
        )
        for number, said in enumerate(question.history)
    ]
