"""How parts that were not read are named."""

import pytest

from oracle.services.citations.finding import find_citations
from oracle.services.coverage.parts import as_quoted, left_out
from tests.services.coverage import a_part
from tests.tables import each_row


def part(name, state="open", lines=None):
    return {**a_part.part(name, state=state), "lines": lines}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([part("a.py", "whole")], ""),
        ([part("a.py"), part("b.py", "nothing"), part("a.py", "failed")], "a.py"),
        ([part("src/a.py", "left", [10, 90])], "src/a.py from line no. 10 to 90"),
    ],
)
def test_what_was_not_read_is_named_once_and_never_cited(parts, text):
    assert left_out(parts) == text
    assert find_citations(left_out(parts)) == []


def test_a_long_list_is_cut():
    assert left_out([part(f"{n}.py") for n in range(13)]).endswith("9.py and 3 more")


def quoted(*places, state="open", **known):
    known = {"kind": "code", "path": "a.py", "start": 1, **known}
    return {**part("a.py", state), "quoted": [{**known, "where": w, "text": t} for w, t in places]}


@each_row(
    ("one", "state"),
    [
        (part("a.py"), "open"),
        (quoted(("a.py:1-2", "x\ny")), "open"),
        (quoted(("a.py:1-3", "x\ny\nz")), "read"),
        (quoted(("a.py:1-2", "x\ny"), ("a.py:9", "z")), "read"),
        (quoted(("a.py:1-2", "x\ny"), whole=True), "read"),
        (quoted(("a.py:1-3", "x\ny\nz"), state="failed"), "failed"),
    ],
)
def test_a_part_that_the_search_has_quoted_whole_or_at_length_need_not_be_read(one, state):
    assert as_quoted(one, lines=3)["state"] == state


def test_what_is_quoted_is_shown_with_its_lines():
    taken = as_quoted(quoted(("a.py:1-2", "x\ny")), lines=2)
    assert "From a.py:1-2" in taken["text"]
    assert "2  y" in taken["text"]
    assert [source["where"] for source in taken["sources"]] == ["a.py:1-2"]
