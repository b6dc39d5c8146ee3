"""Calls of one response: which of them are not run, because others bring the same."""

from oracle.services.control.overlap import reasons_not_to_run
from oracle.testing.models import tool_spec
from tests.tables import each_row

SPECS = {n: tool_spec(n) for n in ("search_code", "search_vault", "read_file", "write_note")}
MOST = {"search": 3, "read": 2}


def search(query, tool="search_code", **more):
    return {"name": tool, "arguments": {"query": query, **more}}


def read(path):
    return {"name": "read_file", "arguments": {"path": path}}


SAVE = {"name": "write_note", "arguments": {"query": "x"}}


@each_row(
    ("calls", "run"),
    [
        ([search("a"), search("a")], "yn"),
        ([search("a b"), search("b")], "yn"),
        ([search("b"), search("a b")], "ny"),
        ([search("a b"), search("B, a")], "yn"),
        ([search("a b"), search("b c")], "yy"),
        ([search("a 1"), search("1")], "yy"),
        ([search("a"), search("a", "search_vault")], "yy"),
        ([search("a"), search("a", page=2)], "yy"),
        ([search(n) for n in "abcd"], "yyyn"),
        ([read("a"), read("b"), read("c"), search("a")], "yyny"),
        ([read("a"), read("a"), read("b")], "yny"),
        ([search("a"), search("b")], "yy"),
        ([SAVE, SAVE], "yy"),  # writes have a rule of their own
        ([{"name": "unknown", "arguments": {}}] * 2, "yy"),
        ([{"name": "search_code", "arguments": "{half"}], "y"),
        ([], ""),
    ],
)
def test_overlapping_calls(calls, run):
    reasons = reasons_not_to_run(calls, SPECS, MOST, usual=2)
    assert "".join("y" if reason is None else "n" for reason in reasons) == run


def test_the_reason_says_what_to_do():
    reasons = reasons_not_to_run([search("a b"), search("a"), search("a b")], SPECS, MOST, usual=2)
    assert reasons[1] == "another search of this response has its words; look at its result first"
    assert reasons[2] == "another call of this response is the same"
