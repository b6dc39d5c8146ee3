"""A repetition is the same call with the same result. A text that repeats itself is found."""

import pytest

from oracle.services.control.repetition import (
    find_repetition,
    name_of_call,
    name_of_result,
    tool_of,
)
from tests.tables import each_row

A, B, C = ("a", "1"), ("b", "1"), ("c", "1")
A2 = ("a", "2")


@each_row(
    ("made", "kind", "times", "calls"),
    [
        ([], None, 0, ()),
        ([A], None, 0, ()),
        ([A, A2], None, 0, ()),
        ([A, B], None, 0, ()),
        ([A, A], "call", 2, ("a",)),
        ([A, B, A], "call", 2, ("a",)),
        ([A, A, B], None, 0, ()),
        ([A, A2, A], "call", 2, ("a",)),
        ([A, A, A], "call", 3, ("a",)),
        ([A, B, A, B], "cycle", 2, ("a", "b")),
        ([A, B, C, A, B, C], "cycle", 2, ("a", "b", "c")),
        ([A, B, A2, B], "call", 2, ("b",)),
        ([A, A, A, A], "call", 4, ("a",)),
    ],
)
def test_the_last_call_repeats(made, kind, times, calls):
    found = find_repetition(made)
    told = (None, 0, ()) if found is None else (found.kind, found.times, found.calls)
    assert told == (kind, times, calls)


@pytest.mark.parametrize(("newest", "is_found"), [(0, False), (1, False), (2, True), (9, True)])
def test_each_of_the_newest_calls_counts(newest, is_found):
    assert (find_repetition([A, A, B], newest) is not None) is is_found


def test_a_call_is_named_by_tool_and_arguments_in_any_order():
    assert name_of_call("t", {"a": 1, "b": 2}) == name_of_call("t", {"b": 2, "a": 1})
    assert len({name_of_call("t", {}), name_of_call("u", {}), name_of_call("t", "{}")}) == 3
    assert tool_of(name_of_call("search_code", {"query": "a:b"})) == "search_code"
    assert name_of_result(True, "x") != name_of_result(False, "x")
