"""Names with blanks in them, and places that only a map of the project showed."""

import pytest

from oracle.services.citations import check_answer, places_to_remember
from tests.services.citations.test_resolving import code
from tests.tables import each_row

POLICY = code("notes/Session policy.md", 1, "# Policy\n\nThirty minutes.")
OTHER = code("notes/my plans/policy.md", 1, "# Plan")

NAMED = {
    "See notes/Session policy.md:3.": ["notes/Session policy.md:3"],
    "See the Session policy.md:3, it says so": ["Session policy.md:3"],
    '"notes/Session policy.md:3"': ["notes/Session policy.md:3"],
    "`notes/Session policy.md:3`": ["notes/Session policy.md:3"],
    "`see notes/Session policy.md:3`": ["notes/Session policy.md:3"],
    "[policy](notes/Session policy.md:3)": ["notes/Session policy.md:3"],
    "[policy](notes/Session%20policy.md#L3)": ["notes/Session%20policy.md#L3"],
    "notes/my plans/policy.md:1": ["notes/my plans/policy.md:1"],
    "a.py:1 Session policy.md:3": ["a.py:1", "Session policy.md:3"],
    '"Thirty minutes." (notes/Session policy.md:3)': ["notes/Session policy.md:3"],
}
MARKED = {
    "See notes/Session policy.md:9.": "See notes/Session policy.md:9 (⚠ lines not read).",
    "[p](notes/Session policy.md:9)!": "[p](notes/Session policy.md:9) (⚠ lines not read)!",
    "[p](notes/Session%20policy.md#L9)!": "[p](notes/Session%20policy.md#L9) (⚠ lines not read)!",
    "[p](notes/No such.md:9)!": "[p](notes/No such.md:9) (⚠ not read)!",
    "old/Session policy.md:3": "old/Session policy.md:3 (⚠ not read)",
    '"Thirty minutes." (notes/Session policy.md:1)': (
        '"Thirty minutes." (notes/Session policy.md:1 (⚠ it is at line 3))'
    ),
}


@each_row("answer", NAMED)
def test_a_name_with_blanks_that_was_read_is_known(answer):
    checked = check_answer(answer, evidence=[POLICY, OTHER, code("a.py", 1, "x")])
    assert checked.answer == answer
    assert [found["text"] for found in checked.citations] == NAMED[answer]


@each_row("answer", MARKED)
def test_a_mark_stands_behind_the_whole_name_and_its_link(answer):
    assert check_answer(answer, evidence=[POLICY]).answer == MARKED[answer]


@pytest.mark.extra
def test_very_many_names_with_blanks_take_a_bounded_time():
    evidence = [code(f"{number}/my policy.md", 1, "x") for number in range(2_000)]
    answer = "7/my policy.md:1 and policy.md:1, " * 3_000
    found = check_answer(answer, evidence=evidence).citations
    assert [one["status"] for one in found[:2]] == ["resolved", "unknown"]


MAP = {
    "kind": "code",
    "where": ".",
    "path": ".",
    "digest": "d",
    "text": "src/session.py\n  13: function is_expired\n  18:   method renew\nsrc/empty.py",
    "listed": [
        {"path": "src/session.py", "lines": [13, 18]},
        {"path": "src/empty.py", "lines": []},
    ],
}


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("`is_expired` is at src/session.py:13", "resolved"),
        ("session.py:18", "resolved"),
        ("session.py:14", "unread"),
        ("src/empty.py:7", "unknown"),
    ],
)
def test_lines_that_a_map_shows_were_found(answer, status):
    (found,) = check_answer(answer, evidence=[MAP]).citations
    assert found["status"] == status


def test_lines_that_a_map_showed_are_remembered():
    places = places_to_remember([MAP, code("a.py", 1, "x")])
    (found,) = check_answer("src/session.py:13", earlier=places).citations
    assert (found["status"], found["earlier"]) == ("resolved", True)
    assert not any("text" in place for place in places)
