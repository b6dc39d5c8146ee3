"""An answer that contradicts what was read, or cites a heading that is not there."""

import pytest

from oracle.services.citations import check_answer, without_marks
from tests.services.citations.test_adjacency import READ
from tests.services.citations.test_resolving import code
from tests.tables import each_row

DENIED = [
    "The code says `MAX_IDLE = 3600` (src/session.py:10).",
    "The code says `MAX_IDLE = 3600` at src/session.py:10.",
    "src/session.py:10 reads `MAX_IDLE = 3600`.",
    "`src/session.py:10` contains `MAX_IDLE=3600` for that.",
]
NOT_DENIED = [
    "The code says `MAX_IDLE = 1800` (src/session.py:10).",
    "The code says `MAX_IDLE=1_800` (src/session.py:10).",
    "If the code says `MAX_IDLE = 3600` (src/session.py:10), it is an hour.",
    "Change src/session.py:10: `MAX_IDLE = 3600`.",
    "Better `MAX_IDLE = 3600` (src/session.py:10).",
    "Nothing in src/session.py:10 says `MAX_IDLE = 3600`.",
    "The code says `MIN_IDLE = 3600` (src/session.py:10).",
    "The code says `MAX_IDLE = ...` (src/session.py:10).",
    "The code says `def is_expired(...)` (src/session.py:13).",
    "The code says `MAX_IDLE = 3600` (src/session.py:13).",
]


@pytest.mark.parametrize("answer", DENIED)
def test_another_value_than_the_one_that_was_read_is_marked(answer):
    checked = check_answer(answer, evidence=[READ])
    assert [found["status"] for found in checked.citations] == ["otherwise"]
    assert " (⚠ it says otherwise)" in checked.answer
    assert without_marks(checked.answer) == answer


@each_row("answer", NOT_DENIED)
def test_what_only_may_be_another_value_is_left_alone(answer):
    assert check_answer(answer, evidence=[READ]).answer == answer


NOTE = {
    **code("notes/policy.md", 1, "# Policy\n\n## Renewal, *always*\n\nOld style\n---------"),
    "kind": "vault",
    "title": "Session Policy",
}


@each_row(
    ("cited", "mark"),
    [
        ("[[Session Policy#Renewal, always]]", ""),
        ("[[Session Policy#renewal-always]]", ""),
        ("[[Session Policy#Renewal]]", ""),
        ("[[Session Policy#Policy#Old style]]", ""),
        ("[[Session Policy#^block]]", ""),
        ("[[Session Policy^block]]", ""),
        ("[[Session Policy#]]", ""),
        ("[[Session Policy#Nope]]", "(⚠ no such heading)"),
        ("[[Session Policy#Nope|so]]", "(⚠ no such heading)"),
        ("[[Other#Nope]]", "(⚠ not read)"),
    ],
)
def test_a_heading_must_be_in_a_note_that_was_read_whole(cited, mark):
    for known, expected in (
        ({**NOTE, "whole": True}, mark),
        (NOTE, mark if "Other" in cited else ""),
    ):
        messages = [{"role": "tool", "call_id": "c1", "sources": [known]}]
        checked = check_answer(cited, evidence=[{**known, "call": "c1"}], messages=messages)
        assert [found["mark"] for found in checked.citations] == [expected]
        assert without_marks(checked.answer) == cited


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        ("`[[Made up]]`, so", "`[[Made up]]` (⚠ not read), so"),
        ("`[[Storage]]`", "`[[Storage]]` (⚠ not read)"),
        ("`[[Session Policy]]`", "`[[Session Policy]]`"),
        ("`[[ -f x ]]` and `[[package]]`", "`[[ -f x ]]` and `[[package]]`"),
    ],
)
def test_a_note_in_inline_code_counts_if_it_is_all_of_it(answer, marked):
    assert check_answer(answer, evidence=[NOTE]).answer == marked
