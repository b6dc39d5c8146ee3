"""What the panels of the page show, read from the board at the moment it is said.

Only leaves of ours say the chunks that these are made for, so the keys that they read are declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from oracle.bt.board import board_of, ledger_of, room_of
from oracle.bt.core.context import TickContext
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.citations import holds
from oracle.services.control.conversation import rough_tokens
from oracle.services.control.ledger import RESOURCES

NO_PRICE: Final = "the price of this model is not known"

Message = Mapping[str, Any]


def tools_of(chunk: OracleStreamChunk, tree: RecordedTree) -> list[dict[str, Any]]:
    """Those of a `turn_start`: offered first, then withheld, then withdrawn."""
    gone = {*(tree.read("withdrawn") or ()), *(tree.read("denied") or ())}
    is_all_gone = bool(tree.read("tools_withdrawn"))
    granted = {*(tree.read("granted") or ())}
    uses = _uses(tree)

    def state(name: str) -> str:
        # With all tools withdrawn, those that were never granted are withheld as before.
        return "withdrawn" if name in gone or (is_all_gone and name in granted) else "withheld"

    tools = [{**tool, "state": "offered"} for tool in chunk["offered"]]
    others = [{**tool, "state": state(tool["name"])} for tool in chunk["withheld"]]
    tools += sorted(others, key=lambda tool: tool["state"] == "withdrawn")
    return [{**tool, "uses": uses.get(str(tool["name"]), 0)} for tool in tools]


def with_uses(tools: Sequence[Mapping[str, Any]], tree: RecordedTree) -> list[dict[str, Any]]:
    uses = _uses(tree)
    return [{**tool, "uses": uses.get(str(tool["name"]), 0)} for tool in tools]


def _uses(tree: RecordedTree) -> Mapping[str, int]:
    ledger: Mapping[str, Any] = tree.read("ledger") or {}
    return ledger.get("uses") or {}


def budgets_of(ctx: TickContext, *, is_open: bool) -> list[dict[str, Any]]:
    """What is used of each, what is kept, and what this turn will take if it `is_open`."""
    room, ledger = room_of(ctx), ledger_of(board_of(ctx))
    sent, reserve = room.turn_and_last()[0], room.reserve()
    # A turn counts as used as soon as it begins.
    expected: dict[str, float] = {
        "turns": 0,
        "tokens": room.counted(sent.input) + sent.output,
        "money": round(room.money_for(sent), 6),
        "seconds": round(ledger.longest_turn, 3),
    }
    kept: dict[str, float] = {"turns": 1, **reserve._asdict()}
    limits = ledger.limits
    return [
        {
            "name": name,
            "used": _rounded(ledger.spent(name, ctx.now)),
            "limit": getattr(limits, name),
            "reserve": _rounded(kept[name]),
            "expected": expected[name] if is_open else 0,
            "off": NO_PRICE if getattr(limits, name) is None or _is_unpriced(name, ctx) else None,
        }
        for name in RESOURCES
    ]


def _is_unpriced(name: str, ctx: TickContext) -> bool:
    return name == "money" and room_of(ctx).prices is None


def _rounded(amount: float) -> float:
    return amount if isinstance(amount, int) else round(amount, 6)


# -- the prompt ------------------------------------------------------------------------------------


class PromptPanel:
    """The parts of the first request, and the messages that the tree adds later."""

    def __init__(self) -> None:
        self._segments: Sequence[Mapping[str, Any]] | None = None
        self._seen: Counter[str] = Counter()

    def skip(self, tree: RecordedTree) -> None:
        """Take what the model was told so far as known."""
        self._seen = Counter(_system_texts(tree.read("messages") or ()))

    def announced(self, chunk: OracleStreamChunk) -> None:
        self._segments = chunk["segments"]

    def news(self, tree: RecordedTree, turn: int) -> dict[str, Any] | None:
        """What is new since the last call. The first one has the segments."""
        messages: Sequence[Message] = tree.read("messages") or ()
        segments: list[dict[str, Any]] = []
        if self._segments is not None and messages:
            segments = _named(self._segments, tree, str(messages[0]["content"]))
            segments += [_part(_role(message, messages), message) for message in messages[1:]]
            self._seen = Counter(_system_texts(messages))
            self._segments = None
        added = Counter(_system_texts(messages)) - self._seen
        self._seen += added
        if not segments and not added:
            return None
        said = [{"turn": turn, **_part("message", {"content": text})} for text in added.elements()]
        return {"segments": segments, "added": said}


def _system_texts(messages: Sequence[Message]) -> list[str]:
    """Of what the tree says to the model. The first message is the composed prompt."""
    return [str(m["content"]) for m in messages[1:] if m["role"] == "system"]


def _role(message: Message, messages: Sequence[Message]) -> str:
    if message.get("is_facts"):
        return "facts"
    if message["role"] == "system":
        return "message"
    return "question" if message is _question_of(messages) else "history"


def _question_of(messages: Sequence[Message]) -> Message | None:
    return next((m for m in reversed(messages) if m["role"] == "user"), None)


def _part(name: str, message: Message) -> dict[str, Any]:
    text = str(message["content"])
    return {"name": name, "tokens": rough_tokens(text), "text": text}


def _named(
    segments: Sequence[Mapping[str, Any]], tree: RecordedTree, prompt: str
) -> list[dict[str, Any]]:
    """The prompt, cut into its segments.

    All are in it as they were written, except those that list the tools: these are what lies
    between their neighbours.
    """
    services: Any = tree.tree_run.context.services
    known = {each.id: str(each.content) for each in services.prompt_segments}
    written = [known.get(str(segment["id"]), "") for segment in segments]
    found: list[dict[str, Any]] = []
    at = 0
    for number, segment in enumerate(segments):
        if prompt.startswith(written[number], at) and written[number]:
            end = at + len(written[number])
        else:
            end = _next_known(prompt, at, written[number + 1 :])
        text = prompt[at:end].strip("\n")
        found.append({"name": segment["id"], "tokens": segment["tokens"], "text": text})
        at = end + 2
    return found


def _next_known(prompt: str, at: int, following: Sequence[str]) -> int:
    places = [prompt.find(f"\n\n{text}", at) for text in following if text]
    return next((place for place in places if place >= 0), len(prompt))


# -- sources ---------------------------------------------------------------------------------------

_PROBLEMS: Final[Mapping[str, str]] = {
    "moved": "it is at {where}",
    "otherwise": "the lines say something else",
    "stale": "the file has changed since it was read",
    "unread": "not read",
    "unknown": "not found",
}


def sources_data(
    chunk: OracleStreamChunk, read_by: Mapping[str, tuple[str, int]]
) -> dict[str, Any]:
    """`read_by` has, for a place, the tool that brought it and the turn."""
    citations = cast("Sequence[Mapping[str, Any]]", chunk["citations"] or ())
    found = [source for source in chunk["sources"] if not source["cited"]]
    return {
        "is_checked": chunk["citations"] is not None,
        "cited": [
            _citation(number, each) | _reader(each, chunk["sources"], read_by)
            for number, each in enumerate(citations, start=1)
        ],
        "found": [_found(source, read_by) for source in found],
    }


def _citation(number: int, cited: Mapping[str, Any]) -> dict[str, Any]:
    problem = _PROBLEMS.get(str(cited["status"]))
    return {
        "number": number,
        "text": cited["text"],
        "kind": cited["kind"],
        "span": cited["span"],
        "where": cited["where"] or cited["text"],
        "path": cited["path"] or None,
        "first": cited["start"] or None,
        "last": cited["end"] or None,
        "url": cited["url"] or None,
        "status": cited["status"],
        "holds": holds(cited),
        "problem": None if problem is None else problem.format(where=cited["where"]),
        "note": cited["mark"] or None,
        "digest": cited["digest"] or None,
    }


def _reader(
    cited: Mapping[str, Any],
    sources: Sequence[Mapping[str, Any]],
    read_by: Mapping[str, tuple[str, int]],
) -> dict[str, Any]:
    """Which call brought the cited lines, the latest one, and which lines it brought."""
    path, first, last = cited["path"], cited["start"] or 0, cited["end"] or 0
    brought = [
        (read_by[str(source.get("where"))], source)
        for source in sources
        if str(source.get("where")) in read_by
        and source.get("path") == path
        and (source.get("start") or 0) <= last
        and (source.get("end") or 0) >= first
    ]
    if not path or not brought:
        return {"tool": None, "turn": None, "read": None}
    (tool, turn), source = max(brought, key=lambda each: each[0][1])
    return {"tool": tool, "turn": turn, "read": [source.get("start"), source.get("end")]}


def _found(source: Mapping[str, Any], read_by: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    tool, turn = read_by.get(str(source.get("where")), (None, source.get("turn")))
    return {
        "where": source.get("where"),
        "kind": source.get("kind"),
        "path": source.get("path"),
        "first": source.get("start"),
        "last": source.get("end"),
        "url": source.get("url"),
        "tool": tool,
        "turn": turn,
        "digest": source.get("digest"),
    }
