"""Marks are only added, and marking an answer a second time changes nothing."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.services.citations import check_answer, without_marks
from tests.services.citations.test_finding import HOSTILE
from tests.services.citations.test_resolving import ENTRIES, code
from tests.services.citations.test_resolving import EVIDENCE as READ
from tests.tables import each_row
from tests.timing import within

EVIDENCE = [*READ, code("my file.md", 1, "x")]
MARKED = {
    "In `x.py:3` it is.": "In `x.py:3` (⚠ not read) it is.",
    "See session.py:99.": "See session.py:99 (⚠ lines not read).",
    "(thread:caching@2026-05-01)": "(thread:caching@2026-05-01 (⚠ entry not read))",
    "[[Nobody's note]]": "[[Nobody's note]] (⚠ not read)",
    "[it](https://z.org/a), so": "[it](https://z.org/a) (⚠ not read), so",
    "`MAX_IDLE = 1800`: session.py:99": "`MAX_IDLE = 1800`: session.py:99 (⚠ it is at line 10)",
    "`def renew(session, now): session.last_seen = now` `session.py:2`": (
        "`def renew(session, now): session.last_seen = now` `session.py:2` (⚠ it is at lines 18-19)"
    ),
    '"no answers at all" thread:caching@2026-05-01': (
        '"no answers at all" thread:caching@2026-05-01 '
        f"(⚠ it is in the entry of {ENTRIES[1]['entry']})"
    ),
    "`session.py:12` holds": "`session.py:12` holds",
    "```\nx.py:3\n```": "```\nx.py:3\n```",
    "": "",
}


@each_row("answer", MARKED)
def test_a_citation_that_does_not_hold_is_marked_right_behind_it(answer):
    checked = check_answer(answer, evidence=EVIDENCE)
    assert checked.answer == MARKED[answer]
    assert without_marks(checked.answer) == answer
    for citation in checked.citations:
        assert citation["mark"] in checked.answer
        start, end = citation["span"]
        assert checked.answer[start:end] == citation["text"]


def test_a_stale_citation_says_so():
    evidence = [code(digest="old"), code(start=100, digest="new")]
    assert check_answer("session.py:10", evidence=evidence).answer.endswith("10 (⚠ changed since)")


PIECES = st.sampled_from(
    [
        *("a.py:1", "`x.py:3`", "session.py:12", "`session.py:99`", "[[Storage]]", "[[no]]"),
        *("https://a.org/guide", "https://z.org/", "thread:caching@2026-03-02", "a b.md:3"),
        *("`session.py`:12", "**x.py**:3,4", ", 99", " (line 12)", ", lines 3-4", "%20", "#Why"),
        *("session.py:12 says ", "`MAX_IDLE = 1`", " (⚠ it says otherwise)", "my ", "file.md:1"),
        *(
            "`MAX_IDLE = 1800`",
            '"idle > MAX_IDLE"',
            "renew",
            " (⚠ not read)",
            " (⚠ it is at line 3)",
        ),
        *("`", "``", "```", "~~~", "\n", "\n\n", "[", "](", ")", "(", "<", ">", '"', "“", "”", "“"),
        *(
            " ",
            ".",
            ":",
            ",",
            "-",
            "_",
            "*",
            "/",
            "\\",
            "#L3",
            ":3",
            "1",
            "C:",
            "を",
            "⚠",
            "> ",
            "- ",
        ),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join)


def is_with_additions(longer: str, text: str) -> bool:
    rest = iter(longer)
    return all(letter in rest for letter in text)


@given(TEXTS)
@example("`x.py:3``session.py`:12")
def test_marking_only_adds_marks_and_does_so_once(answer):
    once = check_answer(answer, evidence=EVIDENCE)
    assert is_with_additions(once.answer, answer)
    assert without_marks(once.answer) == without_marks(answer)
    twice = check_answer(once.answer, evidence=EVIDENCE)
    assert twice.answer == once.answer
    assert twice.citations == once.citations
    if without_marks(answer) == answer:
        assert all(once.answer[slice(*c["span"])] == c["text"] for c in once.citations)


@pytest.mark.extra
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_and_sources_take_no_time(name):
    text = HOSTILE[name]
    with within(8):
        check_answer(text, evidence=[code("a.py", 1, text), code("b.py", 1, "b = 1\n" * 20_000)])


@pytest.mark.extra
def test_very_many_quotations_of_long_files_take_a_bounded_time():
    answer = "\n".join(f"`value number {n}` at `a.py:{n}`" for n in range(5_000))
    long = "\n".join(f"value number {n * 7}" for n in range(50_000))
    with within(8):
        check_answer(answer, evidence=[code("a.py", 1, long)])
