"""What the user sees of a question: the answer on stdout, progress on stderr.

On a terminal the text appears as it arrives, in a live region that is erased at the end; only the
answer remains. In a pipe there is only the answer, with warnings and notes on stderr.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from oracle.cli.terminal.links import can_link, target_of
from oracle.cli.terminal.outcome import is_error, named, notes, summary, unique_sources
from oracle.cli.terminal.progress import Line, activity, draft_line, indexing, line_for
from oracle.cli.terminal.safe_text import printable
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.project.root import here

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.cli.terminal.live import LiveRegion

MANY_FILES: Final = 100

Volume = Literal["quiet", "normal", "verbose"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AskOptions:
    """The flags of `ask`, `chat` and `run resume` that do not depend on the question."""

    volume: Volume = "normal"
    json: bool = False
    trace: bool = False
    dry_run: bool = False
    yes: bool = False


class Output(Protocol):
    """Where answers go."""

    def chunk(self, chunk: OracleStreamChunk) -> None: ...

    def answer(self, text: str) -> None: ...


class JsonLines:
    def chunk(self, chunk: OracleStreamChunk) -> None:
        print(json.dumps(chunk.to_dict()), flush=True)

    def answer(self, text: str) -> None:
        """Prints nothing: the answer is in the last chunk."""


class PlainText:
    def chunk(self, chunk: OracleStreamChunk) -> None:
        """Prints nothing yet: a turn may turn out to be a draft."""

    def answer(self, text: str) -> None:
        print(text.strip("\n"), flush=True)


class Screen:
    """Shows chunks; those it does not know are ignored. It must be used from one thread only.

    `region` is None if the output cannot erase; then progress is printed in lines if
    `prints_lines`. With a `root`, sources are links to files below it.
    """

    def __init__(
        self,
        output: Output,
        region: LiveRegion | None,
        volume: Volume,
        *,
        prints_lines: bool,
        root: Path | None = None,
    ) -> None:
        self._output = output
        self._region = region
        self._volume = volume
        self._prints_lines = prints_lines
        self._root = root
        self._draft = ""
        self._was_cut = False
        self._sources: Sequence[Mapping[str, Any]] = ()
        self._is_indexing = False
        self._is_over = False

    def show(self, chunk: OracleStreamChunk) -> None:
        self._output.chunk(chunk)
        # Text before a tool call is a draft. It is folded now, so that it is above the call.
        if chunk.type == ChunkType.TOOL_CALL:
            self._fold_draft()
        if line := line_for(chunk):
            self.print_line(line)
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

    def tick(self) -> None:
        """Redraw, so that the clock and the spinner move."""
        if self._region is not None and not self._is_over:
            self._region.draw()

    def print_line(self, line: Line) -> None:
        """Print a progress line above the live region. A warning also goes into a pipe."""
        is_needed = line.asked_for or (line.is_warning and self._volume != "quiet")
        if self._region is not None and self._region.has_progress:
            self._region.print(line)
        elif is_needed or (self._region is None and self._prints_lines):
            print(line, file=sys.stderr, flush=True)

    def indexing(self, done: int, total: int) -> None:
        """Show each step in the live region; without one, a single line if there are many files."""
        if self._region is not None:
            self._region.activity = indexing(done, total)
        elif not self._is_indexing and total >= MANY_FILES:
            self.print_line(Line(kind="index", text=f"{total:,} files to check"))
        self._is_indexing = True

    def pause(self) -> None:
        """Erase the live region, to make room for a question to the user."""
        if self._region is not None:
            self._region.erase()

    def close(self) -> None:
        self._is_over = True
        self.pause()

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
        self._fold_draft()
        if self._region is not None:
            self._region.usage = chunk["usage"]

    def _fold_draft(self) -> None:
        """The text so far was not the answer: print one line of it."""
        if line := draft_line(self._draft):
            self.print_line(line)
        self._write("")

    def _finish(self, done: OracleStreamChunk) -> None:
        self.close()
        # After an error there is an answer only if something was found or shown before it.
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
            (named(source), target_of(source, root=root))
            for source in unique_sources(self._sources)
        ]

    def _notes(self, done: OracleStreamChunk) -> list[tuple[str, str]]:
        found = list(notes(done.data, self._sources))
        if self._volume == "verbose" or self._region is not None:
            found.append(("run", summary(done.data)))
        return found


def screen_for(options: AskOptions, root: Path | None = None) -> Screen:
    """The screen that suits stdout and stderr. Links lead to files below `root`."""
    is_terminal, sees_progress = sys.stdout.isatty(), sys.stderr.isatty()
    if not is_terminal and not sees_progress:
        output = JsonLines() if options.json else PlainText()
        return Screen(output, None, options.volume, prints_lines=options.volume == "verbose")
    return _terminal_screen(options, root or here(), is_terminal, sees_progress)


def _terminal_screen(
    options: AskOptions, root: Path, is_terminal: bool, sees_progress: bool
) -> Screen:
    from oracle.cli.terminal.console import console_on
    from oracle.cli.terminal.live import LiveRegion, RenderedText

    out, err = console_on(sys.stdout), console_on(sys.stderr)
    has_preview = is_terminal and not options.json
    has_progress = sees_progress and options.volume != "quiet"
    console = err if sees_progress else out
    region: LiveRegion | None = None
    if not console.is_dumb_terminal and (has_preview or has_progress):
        region = LiveRegion(console, has_progress=has_progress, has_preview=has_preview)
    has_links = can_link(os.environ, is_terminal=True)
    linked = root if has_links else None
    output = RenderedText(out, linked) if is_terminal else PlainText()
    return Screen(
        JsonLines() if options.json else output,
        region,
        options.volume,
        prints_lines=has_progress or options.volume == "verbose",
        root=linked if sees_progress else None,
    )
