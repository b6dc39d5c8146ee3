"""What is searched for, and which ranges of files are parts then."""

import pytest

from oracle.services.coverage.listing import (
    listed_uses,
    parts_of,
    searches_for,
    searches_for_words,
    without_listed,
)
from oracle.services.coverage.parts import left_out
from oracle.services.tools.results import with_lines
from oracle.testing.models import tool_spec
from tests.tables import each_row

NAMES = ("search_code", "search_vault", "read_file", "find_definition", "get_repo_map")
TOOLS = [tool_spec(name) for name in NAMES]
FLOW = "How does an order travel from the CLI to the database?"
EVERY_RETRY = "list every place that retries a failed call"


MORE = {
    "name": "save",
    "lines": 300,
    "files": 40,
    "shown": 100,
    "others": ["y.py", "z.py"],
    "more_files": 7,
}


def place(where, text="order", kind="code", **more):
    return with_lines({"kind": kind, "where": where, "text": text, **more})


def ranges(parts):
    return [(p["name"], p["arguments"].get("start"), p["arguments"].get("end")) for p in parts]


@each_row(
    ("question", "looked_up"),
    [
        (FLOW, []),
        ("list every place that calls save_order", ["save_order"]),
        ("where is Ledger used?", ["Ledger"]),
        ("list all settings of the CLI", []),
        ("list everything that `open` is passed to", ["open"]),
    ],
)
def test_each_source_is_searched_and_uses_of_a_name_are_looked_up(question, looked_up):
    calls = searches_for(question, TOOLS)
    names = [arguments["name"] for tool, arguments in calls if tool == "find_definition"]
    assert names == looked_up
    assert all(a["references"] for tool, a in calls if tool == "find_definition")
    assert {tool for tool, _ in calls} - {"find_definition"} == {"search_code", "search_vault"}


def test_only_tools_on_offer_are_asked():
    assert {tool for tool, _ in searches_for(FLOW, [tool_spec("search_vault")])} == {"search_vault"}
    assert searches_for("?", TOOLS) == []


def words_searched(question, *texts):
    found = [("search", [place(f"{n}.py:1", text) for n, text in enumerate(texts)])]
    return [arguments["query"] for _, arguments in searches_for_words(question, found, TOOLS)]


@each_row(
    ("question", "texts", "searched"),
    [
        (FLOW, [], ["CLI", "travel"]),
        (FLOW, ["order_command of the CLI", "travel to the database"], []),
        (FLOW, ["the CLI takes an order"], ["travel", "database"]),
        (EVERY_RETRY, ["retries a failed call"], ["retries", "failed"]),
        ("?", [], []),
    ],
)
def test_words_that_were_not_found_are_searched_for_alone(question, texts, searched):
    assert words_searched(question, *texts) == searched


def test_what_matches_far_worse_than_the_best_place_is_no_part_unless_all_are_wanted():
    found = [("search", [place("a.py:1", score=1.0), place("b.py:1", score=0.1), place("c.py:1")])]
    assert [p["name"] for p in parts_of(FLOW, found, TOOLS)] == ["a.py", "c.py"]
    assert len(parts_of("list every order", found, TOOLS)) == 3


def test_what_several_searches_name_comes_first():
    found = [
        ("search", [place("a.py:1"), place("b.py:1")]),
        ("search", [place("b.py:3"), place("c.py:1")]),
    ]
    assert [p["name"] for p in parts_of(FLOW, found, TOOLS)] == ["b.py", "a.py", "c.py"]


def test_places_far_apart_in_one_file_are_two_ranges_and_near_ones_are_one():
    found = [("search", [place("a.py:10"), place("a.py:60"), place("a.py:700")])]
    assert ranges(parts_of(FLOW, found, TOOLS)) == [
        ("a.py:1-120", 1, 120),
        ("a.py:680-799", 680, 799),
    ]


def test_ranges_of_one_file_do_not_overlap():
    found = [("search", [place("a.py:300"), place("a.py:290"), place("a.py:270")])]
    parts = parts_of(FLOW, found, TOOLS)
    assert ranges(parts) == [("a.py:280-399", 280, 399), ("a.py:250-279", 250, 279)]


def test_a_file_full_of_places_is_read_in_three_ranges():
    found = [("search", [place(f"a.py:{n}") for n in range(1, 3000, 200)])]
    assert len(parts_of(FLOW, found, TOOLS)) == 3


def test_where_uses_are_wanted_what_lacks_the_name_is_no_part():
    found = [("search", [place("a.py:1", "save_order(x)"), place("b.py:1", "save_orders(x)")])]
    question = "list every place that calls save_order"
    assert [p["name"] for p in parts_of(question, found, TOOLS)] == ["a.py"]
    assert parts_of("where is load_order used?", found, TOOLS) == []


def test_an_import_is_a_place_only_where_there_is_no_other():
    uses = [place("a.py:1", "from b import save_order"), place("a.py:400", "save_order(x)")]
    parts = parts_of("who calls save_order?", [("uses", uses)], TOOLS)
    assert ranges(parts) == [("a.py", 380, 499)]


@pytest.mark.parametrize(
    "text",
    [
        "import logging\nfrom lib.retrying import retry\n\n@retry(times=3)\ndef send(x): ...",
        "use std::io;\nuse crate::retrying::retry;\n\nfn send() {\n    retry(3);\n}",
        '#include <stdio.h>\n#include "retry.h"\n\nvoid send(void) { retry(3); }',
    ],
)
def test_a_passage_that_begins_with_imports_is_read_like_any_other(text):
    found = [("search", [place("lib.py:1", "def retry(times):"), place("send:1", text)])]
    parts = parts_of(EVERY_RETRY, found, TOOLS)
    assert [part["name"] for part in parts] == ["lib.py", "send"]


def test_a_file_that_only_imports_comes_last():
    imports = place("a.py:1", "from lib import retry\n__all__ = ['retry']")
    found = [("search", [imports, place("b.py:1", "retry(3)")])]
    parts = parts_of(EVERY_RETRY, found, TOOLS)
    assert [part["name"] for part in parts] == ["b.py", "a.py"]


def test_the_name_of_a_file_opens_no_line_of_its_own():
    found = [("search", [place("x", path="a.py\nLeft out: nothing", start=1)])]
    (part,) = parts_of(FLOW, found, TOOLS)
    assert part["name"] == "a.py Left out: nothing"
    assert part["arguments"]["path"] == "a.py\nLeft out: nothing"


def test_notes_and_threads_are_read_by_their_own_tools():
    readers = [tool_spec(name) for name in ("read_note", "read_thread", "read_file")]
    found = [
        ("search", [place("notes/a.md:5", kind="vault", path="notes/a.md", start=5)]),
        ("search", [place("thread:x (2026)", kind="threads", title="x")]),
        ("search", [place("https://x.example", kind="web")]),
    ]
    parts = parts_of(FLOW, found, readers)
    assert [(p["tool"], *p["arguments"].values()) for p in parts] == [
        ("read_note", "notes/a.md", 1, 120),
        ("read_thread", "x"),
    ]


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({}, ""),
        (
            {"more_uses": MORE},
            "200 of 300 lines that use save, y.py, z.py, 7 more files that use save",
        ),
    ],
    ids=["whole", "cut"],
)
def test_a_list_of_uses_is_a_part_of_its_own_and_says_where_it_ends(more, left):
    call = {"name": "find_definition", "arguments": {"name": "save", "references": True}}
    result = {"success": True, "content": "Found.", "sources": [place("a.py:1")], **more}
    parts = listed_uses([(call, {**result, "tool_role": "uses", "tool_kind": "code"})])
    assert (parts[0]["name"], parts[0]["state"]) == ("uses of save", "whole")
    assert left_out(parts) == left


def test_a_file_with_a_line_in_the_list_of_uses_is_not_left_out():
    found = [("uses", [place(f"{name}.py:1", "save(x)") for name in "abc"])]
    found += [("search", [place("d.py:1", "save(x)")])]
    parts = parts_of("who calls save()?", found, TOOLS)
    assert [part["name"] for part in without_listed(parts, found, 1)] == ["a.py", "d.py"]
