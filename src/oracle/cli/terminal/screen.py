"""What one sees of a question: the answer on stdout, and on stderr how it comes about.

On a terminal the words appear as they come, in a region that is erased again; at the end the answer
alone stands. In a pipe there is only the answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from oracle.cli.terminal.endings import is_error, named, notes, summary, told_sources
from oracle.cli.terminal.links import target_of
from oracle.cli.terminal.progress import Line, activity, classified, folded, indexing, told
from oracle.cli.terminal.terminal import printable
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.cli.terminal.live import LiveRegion

MANY_FILES: Final = 100

Volume = Literal["quiet", "normal", "verbose"]
Board = Mapping[str, Any]


class Output(Protocol):
    """Where answers go."""

    def chunk(self, chunk: OracleStreamChunk) -> None: ...

    def answer(self, text: str) -> None: ...


class JsonLines:
    def chunk(self, chunk: OracleStreamChunk) -> None:
        print(json.dumps(chunk.to_dict()), flush=True)

    def answer(self, text: str) -> None:
        """It is in the last chunk."""


class PlainText:
    def chunk(self, chunk: OracleStreamChunk) -> None:
        """Only what is known to be the answer is printed."""

    def answer(self, text: str) -> None:
        print(text.strip("\n"), flush=True)


class Screen:
    """Used from one thread. `region` is None where nothing can be erased again; then lines of
    progress are printed if it `tells_lines`. With a `root`, sources are links to files there.
    """

    def __init__(
        self,
        output: Output,
        region: LiveRegion | None,
        volume: Volume,
        *,
        tells_lines: bool,
        root: Path | None = None,
    ) -> None:
        self._output = output
        self._region = region
        self._volume = volume
        self._tells_lines = tells_lines
        self._root = root
        self._draft = ""
        self._was_cut = False
        self._sources: Sequence[Mapping[str, Any]] = ()
        self._is_classified = False
        self._is_indexing = False
        self._is_over = False

    def show(self, chunk: OracleStreamChunk, board: Board) -> None:
        self._output.chunk(chunk)
        self._classify(board)
        if chunk.type == ChunkType.TOOL_CALL:
            self._fold()
        if line := told(chunk):
            self.tell(line)
        if self._region is not None and (doing := activity(chunk)):
            self._region.activity = doing
        if chunk.type == ChunkType.CONTENT:
            self._write(self._draft + chunk.content)
        elif chunk.type == ChunkType.TURN_END:
            self._end_turn(chunk)
        elif chunk.type == ChunkType.SOURCES:
            self._sources = chunk["sources"]
        elif chunk.type == ChunkType.DONE:
            self._finish(chunk)

    def tick(self, board: Board) -> None:
        """Time has passed."""
        self._classify(board)
        if self._region is not None and not self._is_over:
            self._region.draw()

    def tell(self, line: Line, *, always: bool = False) -> None:
        """A line of progress; above what is erased again, if there is such."""
        if self._region is not None and self._region.has_progress:
            self._region.print(line)
        elif always or (self._region is None and self._tells_lines):
            print(line, file=sys.stderr, flush=True)

    def indexing(self, done: int, total: int) -> None:
        """A line for each step where it is erased again, else one for a work that takes a while."""
        if self._region is not None:
            self._region.activity = indexing(done, total)
        elif not self._is_indexing and total >= MANY_FILES:
            self.tell(Line(kind="index", text=f"{total:,} files to look at"))
        self._is_indexing = True

    def pause(self) -> None:
        """Make room for a question to the user."""
        if self._region is not None:
            self._region.erase()

    def close(self) -> None:
        self._is_over = True
        self.pause()

    def _classify(self, board: Board) -> None:
        if not self._is_classified and (found := board.get("classification")):
            self._is_classified = True
            if self._region is not None and self._is_indexing:
                self._region.activity = "thinking"
            self.tell(classified(found, board.get("granted") or ()))

    def _write(self, text: str) -> None:
        self._draft = text
        if self._region is not None:
            self._region.preview = text

    def _end_turn(self, chunk: OracleStreamChunk) -> None:
        if chunk["outcome"] == "answer":
            return
        if chunk["outcome"] == "cut":
            self._was_cut = self._was_cut or bool(self._draft)
            self._write("")
        self._fold()
        if self._region is not None:
            self._region.usage = chunk["usage"]

    def _fold(self) -> None:
        """What was written is no answer: a line of it will do. What was cut comes again."""
        if line := folded(self._draft):
            self.tell(line)
        self._write("")

    def _finish(self, done: OracleStreamChunk) -> None:
        self.close()
        if not is_error(done.data) or self._sources or self._was_cut:
            if self._region is not None and self._region.has_progress:
                self._region.space()
            self._output.answer(done["answer"])
        if is_error(done.data):
            print(f"oracle: {printable(done['detail'])}", file=sys.stderr, flush=True)
        if self._volume != "quiet":
            self._add_notes(done)

    def _add_notes(self, done: OracleStreamChunk) -> None:
        lines = [
            Line(kind=kind, text=text, whole=True, links=self._links if kind == "sources" else ())
            for kind, text in self._notes(done)
        ]
        if self._region is not None and self._region.has_progress:
            self._region.print_notes(lines)
        else:
            for line in lines:
                print(line, file=sys.stderr, flush=True)

    @property
    def _links(self) -> list[tuple[str, str]]:
        root = self._root
        if root is None:
            return []
        return [
            (named(source), target_of(source, root=root)) for source in told_sources(self._sources)
        ]

    def _notes(self, done: OracleStreamChunk) -> list[tuple[str, str]]:
        found = list(notes(done.data, self._sources))
        if self._volume == "verbose" or self._region is not None:
            found.append(("run", summary(done.data)))
        return found
