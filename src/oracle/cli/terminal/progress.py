"""Progress lines: pure functions of chunks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from oracle.cli.terminal.output import counted
from oracle.cli.terminal.safe_text import printable
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk

LONGEST_FIELD: Final = 100

_QUIET_FIELDS: Final = ("type", "confidence")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """`kind` is the heading, `tone` a style of rich. Only a `whole` line may wrap.

    `links` are parts of the text with their targets, for terminals that support links. A line that
    was `asked_for` is printed even with `--quiet`, a warning everywhere else.
    """

    kind: str
    text: str
    tone: str = "dim"
    whole: bool = False
    links: Sequence[tuple[str, str]] = ()
    asked_for: bool = False
    is_warning: bool = False

    def __post_init__(self) -> None:
        # Here and not where lines are made, so that no chunk can add a line of its own.
        object.__setattr__(self, "kind", printable(self.kind))
        object.__setattr__(self, "text", printable(self.text))

    def __str__(self) -> str:
        return f"{self.kind:<10} {self.text}"


def line_for(chunk: OracleStreamChunk) -> Line | None:
    """The line for a chunk; None if its type has no line."""
    make = _LINES.get(chunk.type)
    return None if make is None else make(chunk)


def draft_line(draft: str) -> Line | None:
    """One line for the text of a turn that was not the answer."""
    text = shortened(draft)
    return Line(kind="draft", text=text) if text else None


def activity(chunk: OracleStreamChunk) -> str | None:
    """What the run does after this chunk, in a few words."""
    if chunk.type == ChunkType.TOOL_CALL:
        return f"{chunk['name']} {shortened(_arguments(chunk['arguments']))}"
    return _ACTIVITIES.get(chunk.type)


def indexing(done: int, total: int) -> str:
    return f"indexing {done:,} of {total:,} files"


_ACTIVITIES: Final = {
    ChunkType.QUESTION: "thinking",
    ChunkType.CONTENT: "writing",
    ChunkType.REASONING: "thinking",
    ChunkType.TOOL_RESULT: "reading the results",
    ChunkType.TURN_END: "thinking",
}


def _question(chunk: OracleStreamChunk) -> Line:
    offered = ", ".join(chunk["tools"]) or "no tools"
    text = f"{chunk['query_type']} ({chunk['confidence']:.2f}) · {offered}"
    return Line(kind="question", text=text)


def _node(chunk: OracleStreamChunk) -> Line:
    return Line(kind=chunk["status"], text=chunk["path"], asked_for=True)


def _tool_call(chunk: OracleStreamChunk) -> Line:
    text = f"{chunk['name']} {shortened(_arguments(chunk['arguments']))}"
    return Line(kind="tool", text=text)


def _tool_result(chunk: OracleStreamChunk) -> Line:
    if not chunk["success"]:
        text = f"{chunk['name']}: {shortened(chunk['content'])}"
        return Line(kind="failed", text=text, tone="yellow")
    found = counted(len(chunk["sources"]), "place") if chunk["sources"] else "nothing to quote"
    return Line(kind="", text=f"→ {chunk['name']}: {found}")


def _signal(chunk: OracleStreamChunk) -> Line:
    signal: Mapping[str, Any] = chunk["signal"]
    fields = (f"{name}: {value}" for name, value in signal.items() if name not in _QUIET_FIELDS)
    text = f"{signal['type']} ({signal['confidence']:.2f}) {'; '.join(fields)}"
    return Line(kind="signal", text=shortened(text))


def _system(chunk: OracleStreamChunk) -> Line:
    is_warning = chunk["severity"] == "warning"
    return Line(
        kind="warning" if is_warning else "note",
        text=chunk.content,
        tone="yellow" if is_warning else "dim",
        whole=True,
        is_warning=is_warning,
    )


def _budget(chunk: OracleStreamChunk) -> Line:
    kept = "; the rest is kept for the answer" if chunk["at"] == "reserve" else ""
    text = f"{chunk['budget']}: {chunk['used']:g} of {chunk['limit']:g} used{kept}"
    return Line(kind="budget", text=text, tone="yellow")


_LINES: Final = {
    ChunkType.QUESTION: _question,
    ChunkType.NODE: _node,
    ChunkType.TOOL_CALL: _tool_call,
    ChunkType.TOOL_RESULT: _tool_result,
    ChunkType.SIGNAL: _signal,
    ChunkType.SYSTEM: _system,
    ChunkType.BUDGET: _budget,
}


def _arguments(arguments: Any) -> str:
    """Arguments for people: the value alone if there is only one."""
    if not isinstance(arguments, Mapping):
        return str(arguments)
    given = cast("Mapping[str, Any]", arguments)
    if len(given) == 1:
        return json.dumps(*given.values(), ensure_ascii=False)
    pairs = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given.items())
    return " ".join(pairs)


def shortened(text: str, most: int = LONGEST_FIELD) -> str:
    line = printable(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"
