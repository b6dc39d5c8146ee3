"""Writes `docs/images/terminal.svg`: a real terminal in which `oracle` answers a question.

The command runs in a pseudo-terminal, on a copy of our sources, without a language model. A
terminal emulator reads what it writes, so the picture shows what is left on the screen at the end.
Run it after a change of what the terminal shows: `python scripts/terminal_picture.py`.
"""

import fcntl
import os
import pty
import shutil
import struct
import sys
import termios
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pyte
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style
from rich.terminal_theme import TerminalTheme

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/terminal.svg"
QUESTION = "how does find_root find the root of a project?"
COLUMNS, LINES = 92, 200

# Without the web font that rich links to: a picture should load nothing.
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="A \
terminal: oracle answers a question and lists its sources">
<style>
{styles}
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; \
font-size: {char_height}px; line-height: {line_height}px; }}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" \
height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
COLOURS = [(224, 108, 117), (152, 195, 121), (229, 192, 123)]
COLOURS += [(97, 175, 239), (198, 120, 221), (86, 182, 194)]
THEME = TerminalTheme(
    (22, 24, 29),
    (220, 223, 228),
    [(40, 44, 52), *COLOURS, (220, 223, 228)],
    [(90, 99, 116), *COLOURS, (255, 255, 255)],
)


class Screen(pyte.Screen):
    """Also remembers which text is faint, which the emulator leaves out."""

    def select_graphic_rendition(self, *attributes: int, **kwargs: bool) -> None:
        super().select_graphic_rendition(*attributes, **kwargs)
        for attribute in attributes or (0,):
            if attribute == 2:
                self.cursor.attrs = self.cursor.attrs._replace(fg="brightblack")
            elif attribute == 22 and self.cursor.attrs.fg == "brightblack":
                self.cursor.attrs = self.cursor.attrs._replace(fg="default")


def run_in_terminal(folder: Path, *command: str) -> Screen:
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        # A home of its own: the settings of the person who runs this must not show.
        os.execve(command[0], command, {"TERM": "xterm-256color", "HOME": str(folder.parent)})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    screen = Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    while written := _read(terminal):
        stream.feed(written)
    os.waitpid(process, 0)
    return screen


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux ends a terminal like this
        return b""


def lines_of(screen: Screen) -> list[list[Segment]]:
    lines = [
        [_segment(screen.buffer[line][column]) for column in range(COLUMNS)]
        for line in range(screen.cursor.y + 1)
    ]
    while lines and not "".join(segment.text for segment in lines[-1]).strip():
        lines.pop()
    return lines


def _segment(letter: pyte.screens.Char) -> Segment:
    return Segment(
        letter.data, Style(color=_colour(letter.fg), bold=letter.bold, italic=letter.italics)
    )


def _colour(name: str) -> str | None:
    """The emulator's name of a colour as rich spells it."""
    if name == "default":
        return None
    if set(name) <= set("0123456789abcdef"):
        return f"#{name}"
    return name.replace("brown", "yellow").replace("bright", "bright_")


def main() -> None:
    oracle = Path(sys.executable).with_name("oracle")
    with TemporaryDirectory() as folder:
        project = Path(folder) / "oracle"
        # The sources alone: this script quotes the question, so it would be found.
        shutil.copytree(ROOT / "src", project / "src")
        (project / "oracle.toml").touch()
        # The time below the answer is that of a question, and not of indexing our sources.
        run_in_terminal(project, str(oracle), "index")
        screen = run_in_terminal(project, str(oracle), "--model", "embedded", QUESTION)
    console = Console(record=True, width=COLUMNS, file=StringIO(), color_system="truecolor")
    prompt = Style(color="green", bold=True)
    console.print(Segments([Segment("$ ", prompt), Segment(f'oracle "{QUESTION}"\n')]), end="")
    for line in lines_of(screen):
        console.print(Segments([*Segment.simplify(line), Segment.line()]), end="")
    PICTURE.parent.mkdir(exist_ok=True)
    svg = console.export_svg(title="oracle", theme=THEME, code_format=SVG, unique_id="oracle")
    PICTURE.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
