"""The one way to print with styles: a rich console that makes each piece of text safe."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, Any, Final, cast

from rich.console import Console, ConsoleDimensions, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.theme import Theme

from oracle.cli.terminal.links import is_safe_target
from oracle.cli.terminal.safe_text import safe_text

THEME: Final = Theme(
    {
        "markdown.code": "cyan",
        "markdown.code_block": "default",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
    }
)
PLAIN_LETTERS: Final = str.maketrans("•─━│▌→…⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏·", "*--||>.||||||||||-")


class SafeConsole(Console):
    """Control sequences on the stream are only those that rich makes from styles and controls."""

    @property
    def file(self) -> IO[str]:
        """The stream that keeps styles, below the one that would remove them."""
        file: Any = super().file
        return getattr(file, "styled", file)

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(map(_safe_segment, buffer))


def _safe_segment(segment: Segment) -> Segment:
    text, style, control = segment
    if control is not None:  # made by rich itself: it moves the cursor
        return segment
    return Segment(safe_text(text), style and _safe_style(style))


def _safe_style(style: Style) -> Style:
    link = style.link
    return style if link is None or is_safe_target(link) else style.update_link(None)


class _ReplacingFile:
    """A file that replaces characters its encoding lacks, if possible with similar ones."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(fitting(text, self._file.encoding))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def fitting(text: str, encoding: str) -> str:
    return text.translate(PLAIN_LETTERS).encode(encoding, "replace").decode(encoding)


def console_on(stream: Any) -> SafeConsole:
    file: Any = getattr(stream, "styled", stream)
    if not file.encoding.lower().startswith("utf"):
        file = cast("Any", _ReplacingFile(file))
    console = SafeConsole(file=file, theme=THEME, highlight=False, markup=False, emoji=False)
    # rich assumes 80 columns for a dumb terminal, even if it is narrower.
    if console.is_dumb_terminal and "COLUMNS" not in os.environ:
        # FORCE_COLOR can make rich take a pipe for a terminal.
        with suppress(OSError):
            width, height = os.get_terminal_size(file.fileno())
            console.size = ConsoleDimensions(width or 80, height or 25)
    return console


def terminal_file(stream: Any) -> Any:
    """The stream for a library that draws by itself, and shows control characters as `^X`."""
    return getattr(stream, "styled", stream)


def drawn(console: SafeConsole, renderable: RenderableType, *, wraps: bool = True) -> str:
    """What the console would print, without the blanks that rich adds to every line.

    They spoil copy and paste. The text has its styles, so it must be written to `console.file`.
    """
    with console.capture() as capture:
        console.print(renderable, soft_wrap=not wraps)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
