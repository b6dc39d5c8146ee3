"""Calls of one response: which of them are not run, because others bring the same."""

from oracle.services.control.overlap import (
    is_in_vain,
    reasons_not_to_run,
    searches_in_vain,
    tools_that_found_nothing,
)
from oracle.testing.models import tool_spec
from tests.tables import each_row

NAMES = ("search_code", "search_vault", "read_file", "get_repo_map", "write_note")
SPECS = {name: tool_spec(name) for name in NAMES}
MOST = {"search": 3, "read": 2, "map": 1}


def search(query, tool="search_code", **more):
    return {"name": tool, "arguments": {"query": query, **more}}


def read(path):
    return {"name": "read_file", "arguments": {"path": path}}


def look_around(question):
    return {"name": "get_repo_map", "arguments": {"question": question}}


SAVE = {"name": "write_note", "arguments": {"query": "x"}}


@each_row(
    ("calls", "run"),
    [
        ([search("tide"), search("tide")], "yn"),
        ([search("tide moon"), search("moon")], "yn"),
        ([search("moon"), search("tide moon")], "ny"),
        ([search("tide moon"), search("Moon, tide")], "yn"),
        ([search("tide moon"), search("moon sun")], "yy"),
        ([search("tide 1"), search("1")], "yy"),
        ([search("tide"), search("tide", "search_vault")], "yy"),
        ([search("tide"), search("tide", page=2)], "yy"),
        ([search(n) for n in ("tide", "moon", "sun", "star")], "yyyn"),
        ([read("a"), read("b"), read("c"), search("tide")], "yyny"),
        ([read("a"), read("a"), read("b")], "yny"),
        ([look_around("a"), look_around("b"), read("a")], "yny"),
        ([look_around("a"), look_around("b")], "yy"),
        ([search("tide"), search("moon")], "yy"),
        # Letters, stop words and signs tell nothing: one of them shows that nothing is found.
        ([search("a"), search("b"), search("the")], "ynn"),
        ([search("*"), search("tide"), search("of")], "yyn"),
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


def searched(query, tool="search_code", *, kind="code", empty=True, **more):
    """A response with a search, and its result."""
    call = {"id": "1", **search(query, tool, **more)}
    result = {"role": "tool", "call_id": "1", "success": True, "empty": empty, "tool_kind": kind}
    return [{"role": "assistant", "tool_calls": [call]}, result]


@each_row(
    ("before", "then", "in_vain"),
    [
        (searched("tide tables"), search("tables"), True),
        (searched("tide tables"), search("Tide tables", limit=30), True),
        (searched("tide tables"), search("tide heights"), False),
        (searched("tide tables"), search("tide", "search_vault"), False),
        (searched("tide tables"), search("tide", under="src"), False),
        (searched("tide tables", empty=False), search("tide"), False),
        # Another server may want all words of a query at once.
        (searched("tide tables", kind="tickets"), search("tide"), False),
        # The same id in each turn: the result belongs to the newest call.
        ([*searched("tide", empty=False), *searched("moon")], search("tide"), False),
        ([*searched("tide", empty=False), *searched("moon")], search("moon"), True),
        (searched("tide tables"), read("tide"), False),
        # A letter, a stop word or a sign tells nothing, whichever it is.
        (searched("a"), search("b"), True),
        (searched("*"), search("the"), True),
        (searched("of"), search("a", "search_vault"), False),
        (searched("a"), search("潮"), False),
        (searched("a"), search("7"), False),
        (searched("tide"), search("a"), False),
        (searched("a"), search("a tide"), False),
        ([], search("tide"), False),
    ],
)
def test_a_search_is_in_vain_if_its_words_were_not_found_before(before, then, in_vain):
    assert is_in_vain(then, SPECS, searches_in_vain(before, SPECS)) is in_vain


def test_a_tool_that_did_not_find_the_words_of_the_question_is_not_asked_for_them_again():
    before = [*searched("tide tables"), *searched("tide", "search_vault", kind="vault")]
    found = tools_that_found_nothing("where are the tide tables?", before, [*SPECS.values()])
    assert found == {"search_code"}
