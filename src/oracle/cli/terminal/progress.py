"""Progress lines: pure functions of chunks."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, cast

from oracle.cli.terminal.activity import WAITING
from oracle.cli.terminal.output import counted
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import wrapped
from oracle.cli.terminal.times import shown_tokens
from oracle.lazy_dataclass import dataclass
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk

LONGEST_FIELD: Final = 100

Volume = Literal["quiet", "normal", "verbose", "everything"]
"""How much is printed on stderr: `--quiet`, nothing given, `-v` or `-vv`."""

_QUIET_FIELDS: Final = ("type", "confidence")
_ORDER: Final[Sequence[Volume]] = ("quiet", "normal", "verbose", "everything")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """`kind` is the heading, `tone` a style of rich. Only a `whole` line may wrap.

    `least` is the volume from which on it is printed. What is printed at the normal volume is for
    people who did not ask for progress, so it looks like the other messages of the command.
    """

    kind: str
    text: str
    tone: str = "dim"
    whole: bool = False
    least: Volume = "verbose"

    def __post_init__(self) -> None:
        # Here and not where lines are made, so that no chunk can add a line of its own.
        object.__setattr__(self, "kind", printable(self.kind))
        object.__setattr__(self, "text", printable(self.text))

    def __str__(self) -> str:
        if self.is_message:
            return f"oracle: {'warning: ' if self.kind == 'warning' else ''}{self.text}"
        return f"{self.kind:<10} {self.text}"

    def wrapped(self, width: int | None) -> list[str]:
        """For a terminal without a live region. Without a width it is one line."""
        if width is None or self.is_message:
            return wrapped(str(self), width)
        return wrapped(self.text, width, first=f"{self.kind:<10} ", rest=" " * 11)

    @property
    def is_message(self) -> bool:
        return self.least == "normal"

    def is_for(self, volume: Volume) -> bool:
        return _ORDER.index(self.least) <= _ORDER.index(volume)


def message(text: str) -> Line:
    """A line for everybody but those who asked for quiet."""
    return Line(kind="note", text=text, whole=True, least="normal")


def line_for(chunk: OracleStreamChunk, *, is_whole: bool = False) -> Line | None:
    """The line for a chunk; None if its type has no line. Long fields are cut unless `is_whole`."""
    if is_whole and (make := _LINES_OF_EVERYTHING.get(chunk.type)):
        kind, text = make(chunk)
        return Line(kind=kind, text=text, whole=True, least="everything")
    if make := _LINES.get(chunk.type):
        line = make(chunk, sys.maxsize if is_whole else LONGEST_FIELD)
        return replace(line, whole=line.whole or is_whole)
    return None


def draft_line(draft: str) -> Line | None:
    """One line for the text of a turn that was not the answer."""
    text = shortened(draft)
    return Line(kind="draft", text=text) if text else None


WAITING_LINE: Final = Line(kind="model", text=WAITING)
"""For outputs without a status line."""


def indexing(done: int, total: int) -> str:
    return f"indexing {done:,} of {total:,} files"


def _question(chunk: OracleStreamChunk, most: int) -> Line:
    offered = ", ".join(chunk["tools"]) or "no tools"
    text = f"{chunk['query_type']} ({chunk['confidence']:.2f}) · {offered}"
    return Line(kind="question", text=text)


def _node(chunk: OracleStreamChunk, most: int) -> Line:
    return Line(kind=chunk["status"], text=chunk["path"], least="quiet")


def _tool_call(chunk: OracleStreamChunk, most: int) -> Line:
    text = f"{chunk['name']} {shortened(_arguments(chunk['arguments']), most)}"
    return Line(kind="tool", text=text)


def _tool_result(chunk: OracleStreamChunk, most: int) -> Line:
    if not chunk["success"]:
        said = chunk["content"].removeprefix(f"{chunk['name']} failed: ")
        text = f"{chunk['name']}: {shortened(said, most)}"
        return Line(kind="failed", text=text, tone="yellow")
    found = counted(len(chunk["sources"]), "place") if chunk["sources"] else "nothing to quote"
    return Line(kind="", text=f"→ {chunk['name']}: {found}")


def _signal(chunk: OracleStreamChunk, most: int) -> Line:
    signal: Mapping[str, Any] = chunk["signal"]
    fields = (f"{name}: {value}" for name, value in signal.items() if name not in _QUIET_FIELDS)
    text = f"{signal['type']} ({signal['confidence']:.2f}) {'; '.join(fields)}"
    return Line(kind="signal", text=shortened(text, most))


def _system(chunk: OracleStreamChunk, most: int) -> Line:
    is_warning = chunk["severity"] == "warning"
    return Line(
        kind="warning" if is_warning else "note",
        text=chunk.content,
        tone="yellow" if is_warning else "dim",
        whole=True,
        least="verbose" if chunk["severity"] == "info" else "normal",
    )


def _budget(chunk: OracleStreamChunk, most: int) -> Line:
    kept = "; the rest is kept for the answer" if chunk["at"] == "reserve" else ""
    text = f"{chunk['budget']}: {chunk['used']:g} of {chunk['limit']:g} used{kept}"
    return Line(kind="budget", text=text, tone="yellow")


def _prompt(chunk: OracleStreamChunk) -> tuple[str, str]:
    ids = ", ".join(segment["id"] for segment in chunk["segments"])
    return "prompt", f"{chunk['tokens']:,} tokens: {ids}"


def _turn_start(chunk: OracleStreamChunk) -> tuple[str, str]:
    offered = "; ".join(f"{tool['name']} ({tool['reason']})" for tool in chunk["offered"])
    return "turn", f"{chunk.turn} · {offered or 'no tools'}"


def _verdict(chunk: OracleStreamChunk) -> tuple[str, str]:
    reason = f": {chunk['reason']}" if chunk["reason"] else ""
    return "verdict", f"{chunk['verdict']}{reason} · {chunk['node']}"


def _cost(chunk: OracleStreamChunk) -> tuple[str, str]:
    tokens = shown_tokens(chunk["tokens"], is_estimate=chunk["is_estimate"])
    return "cost", f"{tokens} · {chunk['money']:.4f} · {chunk['seconds']:.1f} s · {chunk['node']}"


_LINES: Final = {
    ChunkType.QUESTION: _question,
    ChunkType.NODE: _node,
    ChunkType.TOOL_CALL: _tool_call,
    ChunkType.TOOL_RESULT: _tool_result,
    ChunkType.SIGNAL: _signal,
    ChunkType.SYSTEM: _system,
    ChunkType.BUDGET: _budget,
}
_LINES_OF_EVERYTHING: Final = {
    ChunkType.PROMPT: _prompt,
    ChunkType.TURN_START: _turn_start,
    ChunkType.VERDICT: _verdict,
    ChunkType.COST: _cost,
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
