"""Citations become links only where a terminal can follow them."""

from pathlib import Path

import pytest

from oracle.cli.links import can_link, target_of, with_links
from oracle.services.citations import check_answer

ROOT = Path("/srv/my project")
READ = [
    {"where": "src/a.py:1-9", "path": "src/a.py", "start": 1, "end": 9, "text": "x = compute(1)"},
    {"where": "https://a.org/x", "url": "https://a.org/x", "text": "x"},
]


def link(target, text):
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


@pytest.mark.parametrize(
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


def test_a_citation_that_holds_leads_to_its_line_and_another_one_stays_text():
    checked = check_answer("`a.py:3`, b.py:4, https://a.org/x.", evidence=READ)
    assert with_links(checked.answer, checked.citations, root=ROOT) == (
        f"`{link('file:///srv/my%20project/src/a.py#3', 'a.py:3')}`, b.py:4 (⚠ not read), "
        f"{link('https://a.org/x', 'https://a.org/x')}."
    )


def test_a_citation_that_was_corrected_leads_to_the_right_line():
    checked = check_answer("`x = compute(1)` is at a.py:30", evidence=READ)
    assert "a.py#1\x1b" in with_links(checked.answer, checked.citations, root=ROOT)


@pytest.mark.parametrize("citations", [None, [], [{"span": [0, 3], "text": "abc"}]])
def test_without_citations_of_this_text_it_stays_as_it_is(citations):
    if citations:
        citations = [{**citations[0], "status": "resolved", "url": "https://a.org", "path": ""}]
    assert with_links("xyz `a.py:3`", citations, root=ROOT) == "xyz `a.py:3`"


@pytest.mark.parametrize(
    ("path", "url", "target"),
    [
        ("a\x1b\\b.py", "", "file:///srv/my%20project/a%1B%5Cb.py#3"),
        ("", "https://a.org/\x1b\\\x07ü", "https://a.org/%1B%5C%07%C3%BC"),
        ("../../etc/passwd.txt", "", ""),
        ("/etc/passwd.txt", "", ""),
        ("", "", ""),
    ],
)
def test_a_target_cannot_steer_the_terminal_or_leave_the_project(path, url, target):
    citation = {"status": "resolved", "path": path, "url": url, "start": 3}
    assert target_of(citation, root=ROOT) == target
