"""What the user sees of a question: the answer on stdout, progress on stderr.

On a terminal a status line says what goes on, and the text appears as it arrives. Both are erased;
the answer remains, with one dim line below it. Progress is printed only with `-v`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from oracle.cli.terminal.activity import WAITING, Activity
from oracle.cli.terminal.links import Links, can_link, target_of
from oracle.cli.terminal.next_steps import next_steps
from oracle.cli.terminal.outcome import (
    INCOMPLETE,
    below,
    exit_code,
    fitting,
    is_error,
    summary,
    what_is_missing,
)
from oracle.cli.terminal.output import say, width_of_stderr
from oracle.cli.terminal.places import places
from oracle.cli.terminal.progress import (
    WAITING_LINE,
    Line,
    Volume,
    draft_line,
    indexing,
    line_for,
    message,
)
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import wrapped
from oracle.lazy_dataclass import dataclass
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.project.root import here

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.cli.terminal.console import SafeConsole
    from oracle.cli.terminal.live import LiveRegion
    from oracle.services.project.roots import Roots

MANY_FILES: Final = 100
NO_FILES: Final = (
    "not complete, because there are no files here that could be searched; go to the folder of a "
    "project"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class AskOptions:
    """The flags of `ask`, `chat` and `run resume` that do not depend on the question."""

    volume: Volume = "normal"
    json: bool = False
    trace: bool = False
    dry_run: bool = False
    yes: bool = False
    in_chat: bool = False


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

    `region` is None if the output cannot erase. With a `root`, sources are links to files below
    it; `searched` is what questions are about. `has_model` is false for the embedded model: nobody
    waits for it or pays for its tokens. `tells_activity` prints a line for each thing that goes on.
    """

    def __init__(
        self,
        output: Output,
        region: LiveRegion | None,
        volume: Volume,
        *,
        root: Path | Roots | None = None,
        searched: Path | Roots | None = None,
        has_model: bool = True,
        has_lines_below: bool = True,
        steps: Mapping[str, str] | None = None,
        tells_activity: bool = False,
    ) -> None:
        self._output = output
        self._region = region
        self._volume: Volume = volume
        self._root = root
        self._searched = searched
        self._has_model = has_model
        self._steps = next_steps() if steps is None else steps
        self._has_lines_below = has_lines_below and volume != "quiet"
        self._activity = Activity()
        self._tells_activity = tells_activity
        self._draft = ""
        self._was_cut = False
        self._sources: Sequence[Mapping[str, Any]] = ()
        self._tools: set[str] = set()
        self._has_printed = False
        self._is_indexing = False
        self._is_over = False

    @property
    def _is_verbose(self) -> bool:
        return self._volume in ("verbose", "everything")

    def show(self, chunk: OracleStreamChunk) -> None:
        self._output.chunk(chunk)
        # Text before a tool call is a draft. It is folded now, so that it is above the call.
        if chunk.type == ChunkType.TOOL_CALL:
            self._tools.add(chunk["name"])
            self._fold_draft()
        if line := line_for(chunk, is_whole=self._volume == "everything"):
            self.print_line(line)
        self._follow(chunk)
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
        """Print a line above the live region, if it is for this volume."""
        if not line.is_for(self._volume):
            return
        if self._region is not None and self._region.has_progress:
            self._region.print(line)
            self._has_printed = True
        else:
            print("\n".join(line.wrapped(width_of_stderr())), file=sys.stderr, flush=True)

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

    def _follow(self, chunk: OracleStreamChunk) -> None:
        before = self._activity.words
        self._activity.follow(chunk)
        if self._region is None:
            if chunk.type == ChunkType.TURN_START and self._has_model:
                self.print_line(WAITING_LINE)
            if self._tells_activity and self._activity.words != before:
                self.print_line(message(f"{self._shown_activity()}…"))
        elif self._activity.words != before:
            self._region.activity = self._shown_activity()

    def _shown_activity(self) -> str:
        is_wait = self._activity.words == WAITING
        return "thinking" if is_wait and not self._has_model else self._activity.words

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
        if self._region is not None and self._is_verbose and self._has_model:
            self._region.usage = chunk["usage"]

    def _fold_draft(self) -> None:
        """The text so far was not the answer: print one line of it."""
        if line := draft_line(self._draft):
            self.print_line(line)
        self._write("")

    def _finish(self, done: OracleStreamChunk) -> None:
        self.close()
        # After an error there is an answer only if something was found or shown before it.
        is_answered = not is_error(done.data) or bool(self._sources) or self._was_cut
        if is_answered:
            if self._region is not None and self._has_printed:
                self._region.space()
            self._output.answer(done["answer"])
        # On the same screen the answer has said it. In a pipe, stderr does.
        is_said = is_answered and sys.stdout.isatty() and done["detail"] in done["answer"]
        if is_error(done.data) and not is_said:
            say(printable(done["detail"]))
        if self._has_lines_below:
            self._print_below(done)

    def _print_below(self, done: OracleStreamChunk) -> None:
        found = places(self._used(done), self._tools, answer=done["answer"])
        # The summary of --verbose has the time and the tokens.
        ended: Mapping[str, Any] = done.data
        if self._is_verbose:
            ended = {**ended, "usage": None}
        region = self._region if self._region is not None and self._region.has_progress else None
        # A dumb terminal has no region, but it has a width.
        width = (width_of_stderr() if region is None else region.width) or sys.maxsize
        shown = fitting(found, ended, width=width, has_model=self._has_model)
        line = below(shown, found, ended, has_model=self._has_model)
        missing = what_is_missing(
            done.data,
            has_model=self._has_model,
            is_answer_seen=sys.stdout.isatty(),
            steps=self._steps,
        )
        is_in_vain = exit_code(done.data) == INCOMPLETE and not self._sources
        if is_in_vain and self._is_project_empty():
            missing = NO_FILES
        lines = [(line, "dim"), (missing, "yellow")]
        if self._is_verbose:
            lines.append((summary(done.data, has_model=self._has_model), "dim"))
        if region is None:
            for text in filter(None, (text for text, _ in lines)):
                print("\n".join(wrapped(text, width_of_stderr())), file=sys.stderr, flush=True)
            return
        if sys.stdout.isatty():
            region.space()
        links = Links(self._targets(text for place in shown for text in place.texts))
        for text, tone in lines:
            if text:
                region.print_below(text, tone, links)

    def _used(self, done: OracleStreamChunk) -> Sequence[Mapping[str, Any]]:
        """The sources that the answer rests on. A model may use what it does not cite; our reader
        cites what it quotes, so the rest was looked at in vain.
        """
        if self._has_model:
            return self._sources
        cited = [source for source in self._sources if source.get("cited") is not False]
        # An answer that only counts, such as one about a diff, cites nothing.
        return cited or (self._sources if exit_code(done.data) != INCOMPLETE else [])

    def _is_project_empty(self) -> bool:
        # Imported for those only who found nothing: most answers do not need the walk.
        from oracle.services.project.walk import Walk

        if self._searched is None:
            return False
        from oracle.services.project.roots import Roots

        given = self._searched
        roots = given if isinstance(given, Roots) else Roots(main=given)
        folders = [roots.main, *(root.path for root in roots.others)]
        return all(next(Walk(root=each).files(), None) is None for each in folders)

    def _targets(self, texts: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
        if self._root is not None:
            for text, source in texts:
                yield text, target_of(source, root=self._root)


def screen_for(
    options: AskOptions,
    root: Path | Roots | None = None,
    *,
    has_model: bool = True,
    steps: Mapping[str, str] | None = None,
) -> Screen:
    """The screen that suits stdout and stderr. Links lead to files below `root`."""
    is_terminal, sees_progress = sys.stdout.isatty(), sys.stderr.isatty()
    # Who reads JSON finds sources and costs there.
    has_lines_below = not options.json or options.volume not in ("quiet", "normal")
    if not is_terminal and not sees_progress:
        output = JsonLines() if options.json else PlainText()
        return Screen(
            output,
            None,
            options.volume,
            searched=root,
            has_model=has_model,
            has_lines_below=has_lines_below,
            steps=steps,
        )
    from oracle.cli.terminal.console import console_on

    out, err = console_on(sys.stdout), console_on(sys.stderr)
    linked = (root or here()) if can_link(os.environ, is_terminal=True) else None
    region = _region(options, out, err)
    # A dumb terminal cannot erase a status line, so each is a line of its own. Of lines in a
    # pipe, and with -v, nobody wants these besides.
    is_dumb = sees_progress and region is None and not options.json
    return Screen(
        JsonLines() if options.json else _answers_on(out, linked),
        region,
        options.volume,
        root=linked if sees_progress else None,
        searched=root,
        has_model=has_model,
        has_lines_below=has_lines_below,
        steps=steps,
        tells_activity=is_dumb and options.volume == "normal",
    )


def _answers_on(out: SafeConsole, root: Path | Roots | None) -> Output:
    from oracle.cli.terminal.live import RenderedText

    return RenderedText(out, root) if sys.stdout.isatty() else PlainText()


def _region(options: AskOptions, out: SafeConsole, err: SafeConsole) -> LiveRegion | None:
    from oracle.cli.terminal.live import LiveRegion

    if options.json:
        # Chunks are printed as they come, by us or by who reads the pipe, often on this terminal.
        return None
    has_preview = sys.stdout.isatty()
    has_progress = sys.stderr.isatty() and options.volume != "quiet"
    console = err if sys.stderr.isatty() else out
    if console.is_dumb_terminal or not (has_preview or has_progress):
        return None
    return LiveRegion(console, has_progress=has_progress, has_preview=has_preview)
