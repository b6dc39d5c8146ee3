"""Sources are merged: each file once, without ranges that overlap."""

from hypothesis import given
from hypothesis import strategies as st

from oracle.cli.terminal.places import places
from tests.tables import each_row


def lines(path, start, end, **more):
    return {"where": f"{path}:{start}-{end}", "path": path, "start": start, "end": end, **more}


def shown(*sources, tools=()):
    return list(map(str, places(sources, tools)))


@each_row(
    ("sources", "expected"),
    [
        (
            [lines("a.py", 3, 9), lines("a.py", 8, 20), lines("a.py", 40, 52)],
            ["a.py:3-20, 40-52"],
        ),
        ([lines("a.py", 1, 2), lines("a.py", 3, 3)], ["a.py:1-3"]),
        ([lines("a.py", 1, 9), lines("a.py", 3, 4)], ["a.py:1-9"]),
        ([lines("a.py", 7, 7), lines("b.py", 1, 1)], ["a.py:7", "b.py:1"]),
        ([lines("a.py", 7, 7), lines("b.py", 1, 1, cited=True)], ["b.py:1", "a.py:7"]),
        ([lines("a\x1b[2J.py", 7, 7)], ["a[2J.py:7"]),
        ([lines("a.py", n * 3, n * 3) for n in range(1, 9)], ["a.py:3, 6, 9, 12"]),
        ([{"where": "https://a.org", "url": "https://a.org"}] * 2, ["https://a.org"]),
        ([{"where": "thread:x@1", "path": "t.md", "entry": "1"}], ["thread:x@1"]),
        ([{"where": "JIRA-12"}], ["JIRA-12"]),
    ],
)
def test_ranges_that_overlap_or_touch_are_one(sources, expected):
    assert shown(*sources) == expected


@each_row(
    "source",
    [
        {"where": ".", "kind": "code"},
        {"where": "src", "path": "src"},
        {"where": "the list of notes", "path": ""},
        {"where": "write_note", "kind": "vault"},
        {"where": "the plan for notes/a.md"},
    ],
)
def test_what_is_not_a_place_is_left_out(source):
    assert shown(source, tools={"write_note"}) == []


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 9))))
def test_merging_keeps_every_line_once(given_ranges):
    sources = [lines("a", start, start + more) for start, more in given_ranges]
    covered = {n for start, more in given_ranges for n in range(start, start + more + 1)}
    (place,) = places(sources) or [None]
    if place is None:
        assert not covered
        return
    texts = [text.removeprefix("a:") for text, _ in place.texts]
    pairs = [[int(n) for n in text.split("-")] for text in texts]
    numbers = [n for pair in pairs for n in range(pair[0], pair[-1] + 1)]
    assert len(numbers) == len(set(numbers))
    assert set(numbers) == covered if not place.left else set(numbers) <= covered


def test_cited_files_come_in_the_order_of_the_answer():
    sources = [lines("a.py", 1, 2, cited=True), lines("b.md", 3, 4, cited=True), lines("c", 1, 1)]
    found = places(sources, answer="`b.md:3` says so, and `a.py:1` too")
    assert list(map(str, found)) == ["b.md:3-4", "a.py:1-2", "c:1"]
