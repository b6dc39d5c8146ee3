"""Citations become links only where a terminal can follow them."""

import io
import re
from pathlib import Path

import pytest
from rich.style import Style
from rich.text import Text

from oracle.cli.terminal.console import console_on
from oracle.cli.terminal.links import Links, can_link, citation_links, target_of
from oracle.cli.terminal.live import LiveRegion, RenderedText
from oracle.cli.terminal.screen import PlainText, Screen
from oracle.models.stream_chunk import CHUNKS, ChunkType, OracleStreamChunk
from oracle.services.citations import check_answer
from tests.tables import each_row

ROOT = Path("/srv/my project")
READ = [
    {"where": "src/a.py:1-9", "path": "src/a.py", "start": 1, "end": 9, "text": "x = compute(1)"},
    {"where": "https://a.org/x", "url": "https://a.org/x", "text": "x"},
]

DONE = dict.fromkeys(CHUNKS[ChunkType.DONE], "") | {
    "stop_reason": "answered",
    "error_kind": None,
    "missing": [],
}


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def shown(answer, monkeypatch):
    """The answer as a terminal gets it, each link as <target|text>."""
    monkeypatch.setenv("TERM", "xterm-kitty")
    monkeypatch.setenv("COLUMNS", "60")
    checked = check_answer(answer, evidence=READ)
    data = {"sources": [], "citations": checked.citations}
    output = RenderedText(console_on(file := Terminal()), ROOT)
    output.chunk(OracleStreamChunk(type=ChunkType.SOURCES, turn=1, data=data))
    output.answer(checked.answer)
    plain = re.sub(r"\x1b\[[\d;]*m", "", file.getvalue())
    linked = re.sub(r"\x1b]8;id=\d+;(.+?)\x1b\\(.*?)\x1b]8;;\x1b\\", r"<\1|\2>", plain)
    return "\n".join(line.rstrip() for line in linked.splitlines()).strip()


@each_row(
    ("environment", "can"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4600"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "new"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM": "xterm-256color", "WT_SESSION": "1"}, True),
        ({"TERM": "xterm", "FORCE_HYPERLINK": "1"}, True),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
        ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb", "FORCE_HYPERLINK": "1"}, False),
        ({}, False),
    ],
)
def test_links_are_for_terminals_that_are_known_to_have_them(environment, can):
    assert can_link(environment, is_terminal=True) is can
    assert can_link(environment, is_terminal=False) is False


A = "file:///srv/my%20project/src/a.py#3"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("See `a.py:3`.", f"See <{A}|a.py:3>."),
        ("# On a.py:3", f"On <{A}|a.py:3>"),
        ("- **a.py:3-4** and", f" • <{A}|a.py:3-4> and"),
        ("At https://a.org/x.", "At <https://a.org/x|https://a.org/x>."),
        ("b.py:4 is", "b.py:4 (⚠ not read) is"),
        ("`x = compute(1)` is at a.py:30", "x = compute(1) is at a.py:30 (⚠ it is at line 1)"),
        ("[a.py:3](https://evil.example)", f"<{A}|a.py:3> (https://evil.example)"),
        ("```\na.py:3\n```", "a.py:3"),
    ],
)
def test_only_citations_that_hold_are_links(answer, expected, monkeypatch):
    assert expected.strip() in shown(answer, monkeypatch)


def test_a_table_and_a_line_that_wraps_keep_their_links(monkeypatch):
    table = shown("| where |\n| --- |\n| `a.py:3` |", monkeypatch)
    assert f"<{A}|a.py:3>" in table
    wrapped = shown(f"{'word ' * 11}`src/a.py:3` and so on", monkeypatch)
    assert f"<{A}|src/a.py:3> and so on" in wrapped


def test_without_a_root_an_answer_has_no_links(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-kitty")
    output = RenderedText(console_on(file := Terminal()))
    data = {"sources": [], "citations": check_answer("a.py:3", evidence=READ).citations}
    output.chunk(OracleStreamChunk(type=ChunkType.SOURCES, turn=1, data=data))
    output.answer("a.py:3")
    assert "]8;" not in file.getvalue()


def test_an_equal_text_further_on_is_not_taken_for_one_without_a_target():
    links = Links([("a.py:3", ""), ("a.py:3", "file:///a"), ("gone", "file:///b"), ("c", "x:c")])
    assert list(links.places("a.py:3 and")) == []
    assert list(links.places("then a.py:3, c")) == [(5, 11, "file:///a"), (13, 14, "x:c")]
    assert list(links.places("gone a.py:3")) == []
    assert list(citation_links(None, root=ROOT).places("a.py:3")) == []


@each_row(
    ("target", "is_safe"),
    [
        ("https://a.org/x", True),
        ("http://a.org/x", True),
        ("file:///srv/a.py#3", True),
        ("file://host/a.py", False),
        ("javascript:alert(1)", False),
        ("ssh://a.org", False),
        ("https://a.org/\x1b]52;c;eA==\x07", False),
        ("https://a.org/\u202e", False),
    ],
)
def test_a_link_leads_only_to_a_page_or_a_file(target, is_safe):
    console = console_on(file := Terminal())
    console.print(Text("text", style=Style(link=target)))
    assert ("\x1b]8;" in file.getvalue()) is is_safe
    assert "\x1b]52" not in file.getvalue()


@each_row(
    ("place", "target"),
    [
        ({"path": "a\x1b\\b.py", "start": 3}, "file:///srv/my%20project/a%1B%5Cb.py#3"),
        ({"path": "notes/größe 1.md"}, "file:///srv/my%20project/notes/gr%C3%B6%C3%9Fe%201.md"),
        ({"path": "a\n#?.py", "start": 0}, "file:///srv/my%20project/a%0A%23%3F.py"),
        ({"url": "https://a.org/\x1b\\\x07ü"}, "https://a.org/%1B%5C%07%C3%BC"),
        ({"url": "https://a.org/\ud800"}, "https://a.org/?"),
        ({"url": "javascript:alert(1)"}, ""),
        ({"path": "../../etc/passwd.txt", "start": 3}, ""),
        ({"path": "/etc/passwd.txt"}, ""),
        ({"path": "a\0b"}, ""),
        ({"path": "a\ud800.py"}, ""),
        (
            {"path": "a.py", "start": "3\x1b]8;;https://a.org\x1b\\"},
            "file:///srv/my%20project/a.py",
        ),
        ({"path": "", "url": ""}, ""),
        ({}, ""),
    ],
)
def test_a_target_cannot_steer_the_terminal_or_leave_the_project(place, target):
    assert target_of(place, root=ROOT) == target


def test_each_source_that_is_listed_is_a_link_what_is_cited_first(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-kitty")
    lines = {"start": 1, "end": 1}
    sources = [{"where": f"{name}.py:1", "path": f"{name}.py", **lines} for name in "abc"]
    sources[2]["cited"] = True
    data = {"sources": sources, "citations": []}
    region = LiveRegion(console_on(file := Terminal()), has_progress=True, has_preview=False)
    screen = Screen(PlainText(), region, "normal", root=ROOT)
    screen.show(OracleStreamChunk(type=ChunkType.SOURCES, turn=1, data=data))
    screen.show(OracleStreamChunk(type=ChunkType.DONE, turn=1, data=DONE))
    assert re.findall(r"/(.)\.py#1\x1b", file.getvalue()) == ["c", "a", "b"]
