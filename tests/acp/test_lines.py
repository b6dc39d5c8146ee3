"""A tree of exchanges as the sessions that an editor sees."""

import pytest

from oracle.acp.lines import is_fork, line_with, lines_of, new_id
from oracle.models.session import Exchange

FORK = new_id(is_fork=True)


def tree(*pairs):
    """Exchanges in the order in which they were stored, as (id, parent)."""
    return [
        Exchange(id=id_, session_id="s", parent_id=above, question=id_, answer="", created_at=at)
        for at, (id_, above) in enumerate(pairs)
    ]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], {}),
        ([("a", None), ("b", "a"), ("c", "b")], {"a": "abc"}),
        # A second answer to the same question, as `/undo` in a chat makes it.
        ([("a", None), ("b", "a"), ("c", "a"), ("d", "c")], {"a": "ab", "c": "acd"}),
        # Two beginnings.
        ([("a", None), ("b", None)], {"a": "a", "b": "b"}),
        # A fork asks before its original does, or after it, or alone.
        ([("a", None), (FORK, "a"), ("b", "a")], {"a": "ab", FORK: f"a{FORK}"}),
        ([("a", None), ("b", "a"), (FORK, "a")], {"a": "ab", FORK: f"a{FORK}"}),
        ([("a", None), (FORK, "a"), ("b", FORK)], {"a": "a", FORK: f"a{FORK}b"}),
    ],
)
def test_each_exchange_is_new_in_exactly_one_line(pairs, expected):
    lines = lines_of(tree(*pairs))
    assert {line.id: "".join(e.id for e in line.exchanges) for line in lines} == expected


def test_a_line_is_found_by_its_head_or_by_any_of_its_exchanges():
    exchanges = tree(("a", None), ("b", "a"), ("c", "a"), ("d", "c"))
    assert [line_with(exchanges, id_).id for id_ in ("a", "b", "c", "d")] == ["a", "a", "c", "c"]
    assert line_with(exchanges, None).id == "a"
    assert line_with(exchanges, "x") is None
    assert line_with([], None) is None


def test_the_id_of_a_fork_says_so():
    assert is_fork(FORK)
    assert not is_fork(new_id())
    assert len(FORK) == len(new_id()) == 32
