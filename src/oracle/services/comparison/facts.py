"""What a run did and what came of it, in figures: a pure function of the chunks that it says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Self, cast

from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.patterns import lazy_pattern

_NAME: Final = lazy_pattern(r"[\w./-]{4,}")
"""A path or a name, as it stands in a result and in the arguments of a later call."""
TAKEN: Final = frozenset(
    {
        ChunkType.TURN_START,
        ChunkType.TOOL_CALL,
        ChunkType.TOOL_RESULT,
        ChunkType.SIGNAL,
        ChunkType.SOURCES,
        ChunkType.DONE,
    }
)
"""The chunks that facts are made of. The others need not be kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool call and its result. `places` are the sources that it brought."""

    name: str
    arguments: Any = None
    was_run: bool = True
    success: bool = False
    content: str = ""
    places: tuple[Mapping[str, Any], ...] = ()

    @property
    def wrote(self) -> bool:
        return self.success and self.name.startswith(("write_", "push_", "create_"))


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopFacts:
    """One run. A call is needless if it brought nothing that the answer cites or a later needed
    call was made from. `cited` are files, notes, threads and pages.
    """

    stop_reason: str
    answer: str = ""
    turns: int = 0
    calls: int = 0
    needless_calls: int = 0
    failed_calls: int = 0
    tokens: int = 0
    money: float | None = None
    seconds: float = 0.0
    resolved: int = 0
    unresolved: int = 0
    cited: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    missing: tuple[str, ...] = field(default=())

    @property
    def is_whole(self) -> bool:
        return self.stop_reason == "answered"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of `dataclasses.asdict`, in which lists may have taken the place of
        tuples.
        """
        known: dict[str, Any] = {name: data[name] for name in cls.__slots__ if name in data}
        for name in _LISTS:
            known[name] = tuple(known[name])
        return cls(**known)


_LISTS: Final = ("cited", "kinds", "signals", "missing")


def facts_of(chunks: Iterable[OracleStreamChunk], uncounted: Collection[str] = ()) -> LoopFacts:
    """Calls of the tools named in `uncounted` are left out."""
    calls: dict[tuple[int, str], Call] = {}
    turns: set[int] = set()
    signals: list[str] = []
    sources: Sequence[Mapping[str, Any]] = ()
    citations: Sequence[Mapping[str, Any]] = ()
    done: Mapping[str, Any] = {}
    for chunk in chunks:
        match chunk.type:
            case ChunkType.TURN_START:
                turns.add(chunk.turn)
            case ChunkType.TOOL_CALL:
                call = Call(name=chunk["name"], arguments=chunk["arguments"])
                calls[chunk.turn, chunk["id"]] = call
            case ChunkType.TOOL_RESULT:
                calls[chunk.turn, chunk["id"]] = _with_result(
                    calls.get((chunk.turn, chunk["id"])), chunk
                )
            case ChunkType.SIGNAL:
                signals.append(chunk["signal"]["type"])
            case ChunkType.SOURCES:
                sources, citations = chunk["sources"], chunk["citations"] or ()
            case ChunkType.DONE:
                done = chunk.data
            case _:
                pass
    # A call that was refused has cost nothing and brought nothing.
    made = [call for call in calls.values() if call.was_run and call.name not in uncounted]
    cited = [source for source in sources if source.get("cited")]
    usage: Mapping[str, Any] = done.get("usage") or {}
    resolved = sum(each["status"] == "resolved" for each in citations)
    return LoopFacts(
        stop_reason=done.get("stop_reason") or "",
        answer=done.get("answer") or "",
        turns=len(turns),
        calls=len(made),
        needless_calls=len(made) - sum(needed(made, cited)),
        failed_calls=sum(not call.success for call in made),
        tokens=usage.get("tokens", 0),
        money=usage.get("money"),
        seconds=usage.get("seconds", 0.0),
        resolved=resolved,
        unresolved=len(citations) - resolved,
        cited=tuple(sorted({_file_of(source) for source in cited})),
        kinds=tuple(sorted({str(source["kind"]) for source in sources if source.get("kind")})),
        signals=tuple(signals),
        missing=tuple(done.get("missing") or ()),
    )


def needed(calls: Sequence[Call], cited: Sequence[Mapping[str, Any]]) -> list[bool]:
    """For each call, in order: did the answer or a later needed call use what it brought?

    A write is needed. A search is needed if its result was the first to show the path or the name
    that a later needed call asks for.
    """
    is_needed = [call.wrote or _brought_any(call, cited) for call in calls]
    first_shown = _first_shown(calls)
    # Backwards, because a call may be needed only for one after it.
    for place in reversed(range(len(calls))):
        if is_needed[place]:
            for name in _names_in(calls[place].arguments):
                shown_by = first_shown.get(name, place)
                if shown_by < place:
                    is_needed[shown_by] = True
    return is_needed


def _with_result(call: Call | None, chunk: OracleStreamChunk) -> Call:
    return Call(
        name=chunk["name"],
        arguments=None if call is None else call.arguments,
        was_run=bool(chunk["was_run"]),
        success=bool(chunk["success"]),
        content=str(chunk["content"]),
        places=tuple(chunk["sources"] or ()),
    )


def _brought_any(call: Call, cited: Sequence[Mapping[str, Any]]) -> bool:
    return any(_overlap(place, other) for place in call.places for other in cited)


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if _file_of(one) != _file_of(other):
        return False
    starts = one.get("start"), other.get("start")
    if None in starts:
        return True
    (start, end), (from_, to) = _lines_of(one), _lines_of(other)
    return start <= to and from_ <= end


def _lines_of(place: Mapping[str, Any]) -> tuple[int, int]:
    start = int(place["start"])
    return start, int(place.get("end") or start)


def _file_of(place: Mapping[str, Any]) -> str:
    return str(place.get("path") or place.get("url") or place.get("where") or "")


def _first_shown(calls: Sequence[Call]) -> dict[str, int]:
    """The call whose result was the first to show a name. What a call asked for itself is known
    without its result.
    """
    shown: dict[str, int] = {}
    asked: set[str] = set()
    for place, call in enumerate(calls):
        asked.update(_names_in(call.arguments))
        for name in _NAME.findall(call.content) if call.success else ():
            if name not in asked:
                shown.setdefault(name, place)
        for source in call.places:
            shown.setdefault(_file_of(source), place)
    return shown


def _names_in(arguments: Any) -> Iterator[str]:
    if isinstance(arguments, dict):
        yield from _names_in([*cast("dict[str, Any]", arguments).values()])
    elif isinstance(arguments, list):
        for value in cast("list[Any]", arguments):
            yield from _names_in(value)
    elif isinstance(arguments, str):
        yield from _NAME.findall(arguments)


def words_shared(one: str, other: str) -> float:
    """How much two answers have in common: the share of their pairs of words, from 0 to 1."""
    pairs = [set(pairwise(_NAME.findall(text.lower()))) for text in (one, other)]
    if not any(pairs):
        return 1.0 if one.strip() == other.strip() else 0.0
    return 2 * len(pairs[0] & pairs[1]) / (len(pairs[0]) + len(pairs[1]))
