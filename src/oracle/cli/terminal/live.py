"""The answer on a terminal, and the live region that shows progress until it is there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from oracle.cli.terminal.console import SafeConsole, drawn
from oracle.cli.terminal.links import Links, citation_links
from oracle.cli.terminal.markdown import linked, rendered
from oracle.cli.terminal.progress import Line
from oracle.cli.terminal.safe_text import printable, safe_text
from oracle.cli.terminal.tables import wrapped
from oracle.cli.terminal.terminal_state import STATE
from oracle.cli.terminal.times import shown_tokens
from oracle.cli.terminal.waiting import waiting_since
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk

if TYPE_CHECKING:
    from oracle.services.project.roots import Roots

FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
ASCII_FRAMES: Final = "|/-\\"
LINES_KEPT_FREE: Final = 3
MOST_RENDERED: Final = 20_000
WIDTH_OF_KINDS: Final = 9


class RenderedText:
    """The answer on a terminal's stdout. With a `root`, citations are links to files below it."""

    def __init__(self, console: SafeConsole, root: Path | Roots | None = None) -> None:
        self._console = console
        self._root = root
        self._links: Links | None = None

    def chunk(self, chunk: OracleStreamChunk) -> None:
        """Prints nothing yet: a turn may turn out to be a draft."""
        if chunk.type == ChunkType.SOURCES and self._root is not None:
            self._links = citation_links(chunk["citations"], root=self._root)

    def answer(self, text: str) -> None:
        try:
            shown = drawn(self._console, rendered(text, self._links))
        except Exception:
            # A text that rich cannot draw must not cost the answer.
            shown = safe_text(text)
        print(shown, file=self._console.file, flush=True)


class _Tail:
    """The last lines of something, as many as fit on the screen."""

    def __init__(self, whole: RenderableType, most: int) -> None:
        self._whole = whole
        self._most = most

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._whole, options.update(height=None), pad=False)
        for line in lines[-self._most :]:
            yield from line
            yield Segment.line()


class _Counted:
    """Draws a whole, and notes how many lines that takes, in case they must be erased at once."""

    def __init__(self, whole: RenderableType) -> None:
        self._whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._whole, options.update(height=None), pad=False)
        STATE.lines_drawn = len(lines)
        for number, line in enumerate(lines):
            if number:
                yield Segment.line()
            yield from line


class LiveRegion:
    """The text so far and a status line, redrawn in place; lines printed above it stay.

    Without `has_progress` there is no status line. `usage` is added to it if it is set.
    """

    def __init__(self, console: SafeConsole, *, has_progress: bool, has_preview: bool) -> None:
        self.has_progress = has_progress
        self.activity = "starting"
        self.preview = ""
        self.usage: Mapping[str, Any] = {}
        self._has_preview = has_preview
        self._console = console
        self._frames = FRAMES if console.encoding.startswith("utf") else ASCII_FRAMES
        self._began = waiting_since()
        self._live: Live | None = None
        self._times_stopped = STATE.times_stopped

    def draw(self) -> None:
        """Redraw with the current values."""
        if self._times_stopped != STATE.times_stopped:
            self._forget()
        STATE.hide_keys()
        if self._live is None:
            # Refreshed by our own thread. rich must not redirect the streams: answers go to stdout.
            self._live = Live(
                console=self._console,
                get_renderable=self._content,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        try:
            self._live.refresh()
        except OSError:
            raise
        except Exception:
            # The text so far cannot be drawn. The answer does not depend on it.
            self._has_preview = False

    def erase(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
            STATE.lines_drawn = 0
            STATE.show_keys()

    def _forget(self) -> None:
        """Draw anew from here: a shell has written where the region was."""
        self._times_stopped = STATE.times_stopped
        if self._live is not None:
            self._console.clear_live()
            self._console.pop_render_hook()
            self._live = None

    def print(self, line: Line) -> None:
        """Print a line above the region, cut to the width; a `whole` one wraps instead."""
        if line.is_message:
            self.print_below(str(line), line.tone)
        elif line.whole:
            self._console.print(_in_columns(line))
        else:
            self._console.print(_styled(line), no_wrap=True, overflow="ellipsis")

    def space(self) -> None:
        self._console.print()

    @property
    def width(self) -> int:
        return self._console.width

    def print_below(self, text: str, tone: str, links: Links | None = None) -> None:
        """Print a line, in several if it is long. The terminal folds what cannot be broken."""
        for part in wrapped(text, self.width):
            shown = linked(Text(part, style=tone), links or Links())
            self._console.print(shown, soft_wrap=True)

    def _content(self) -> RenderableType:
        parts: list[RenderableType] = []
        if self._has_preview and self.preview.strip():
            parts.append(_Tail(self._words(), max(1, self._console.height - LINES_KEPT_FREE)))
        if self.has_progress:
            parts.append(self._status())
        return _Counted(Group(*parts))

    def _words(self) -> RenderableType:
        """The text so far. Of a very long one only the end, as plain text: markdown is slow."""
        if len(self.preview) <= MOST_RENDERED:
            return rendered(self.preview)
        return Text(safe_text(self.preview[-MOST_RENDERED:]))

    def _status(self) -> Text:
        elapsed = time.monotonic() - self._began
        frame = self._frames[int(elapsed * 10) % len(self._frames)]
        parts = [f"{printable(self.activity)}…", f"{elapsed:.0f} s"]
        if self.usage:
            parts.append(f"turn {self.usage['turns'] + 1}")
            is_estimate = self.usage.get("is_estimate", False)
            parts.append(shown_tokens(self.usage["tokens"], is_estimate=is_estimate))
            if self.usage["money"]:
                parts.append(f"cost {self.usage['money']:.4f}")
        text = f"{frame} {' · '.join(parts)}"
        return Text(text, style="cyan", no_wrap=True, overflow="ellipsis")


def _styled(line: Line) -> Text:
    return Text(f"{line.kind:<{WIDTH_OF_KINDS}} ", style="dim") + Text(line.text, style=line.tone)


def _in_columns(line: Line) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=WIDTH_OF_KINDS)
    table.add_column(overflow="fold")
    table.add_row(Text(line.kind, style="dim"), Text(line.text, style=line.tone))
    return table
