"""When parts are read, asked about, and handed over: truth tables."""

import json
from dataclasses import asdict

import pytest

from oracle.bt.board import purse_of
from oracle.bt.conditions.coverage import (
    all_readable_parts_are_read,
    can_be_covered,
    enough_is_read_to_follow_imports,
    enough_parts_are_asked_about,
    every_use_of_a_name_is_asked_for,
    evidence_keeps_spreading,
    parts_are_too_much,
    parts_may_be_connected,
    parts_stand_alone,
    the_question_is_narrow,
)
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.control.grants import specs_as_data
from oracle.services.control.ledger import Ledger, Limits
from oracle.testing.models import tool_spec
from tests.asking import context
from tests.tables import each_row

MODEL = {
    "name": "m",
    "context_window": 100_000,
    "longest_output": 1_000,
    "prices": {"input": 1.0, "output": 1.0},
}
TEXT = "word " * 400  # 600 tokens


def part(state, text=TEXT, tool="read_file"):
    known = {"name": "a.py", "tool": tool, "role": "read", "arguments": {}, "sources": []}
    return {**known, "state": state, "text": text, "told": ""}


@each_row(
    ("known", "is_narrow"),
    [
        ({}, True),
        ({"breadth": 0.39}, True),
        ({"breadth": 0.4}, False),
        ({"query": "where is Ledger used?"}, False),
        ({"delegations": [{"scope": "x"}]}, False),
        ({"evidence": [{"where": "a.py:1"}]}, False),
    ],
)
def test_a_narrow_question_has_a_few_parts(known, is_narrow):
    breadth = known.pop("breadth", 0.0)
    found = asdict(QueryClassification.of_type(QueryType.CODE))
    ctx = context(classification={**found, "keywords_matched": [], "breadth": breadth}, **known)
    assert the_question_is_narrow(ctx, broad=0.4) is is_narrow


@pytest.mark.parametrize(
    ("query", "wanted", "answer"),
    [
        ("how does an order travel to the database?", 20, False),
        ("how does an order travel to the database?", 3, True),
        ("list every place that saves an order", 20, True),
    ],
)
def test_a_few_parts_or_a_list_stand_alone(query, wanted, answer):
    tools = json.dumps(specs_as_data([tool_spec("find_definition")]))
    ctx = context(query=query, parts_wanted=wanted, tool_list=tools, granted=["find_definition"])
    assert parts_stand_alone(ctx, many=20) is answer


def state(*parts, now=0.0, until=50.0, limits=None, weight=2_000, window=100_000, **spent):
    return context(
        now=now,
        parts=list(parts),
        parts_until=until,
        ledger=Ledger(limits=limits or Limits(), counted=1.0, **spent).to_dict(),
        model={**MODEL, "context_window": window},
        weight={"count": 1, "tokens": weight, "digest": ""},
    )


@each_row(
    ("known", "enough"),
    [
        ((state(part("open"))), False),
        ((state()), True),
        ((state(part("read"), part("failed"))), True),
        ((state(part("open"), now=50.0)), True),
        ((state(part("open"), uses={"read_file": 15})), False),
        ((state(part("open"), uses={"read_file": 16})), True),
        ((state(part("open", tool="read_note"), uses={"read_file": 16})), False),
        ((state(*[part("read")] * 20, part("open"))), True),
    ],
    ids=["one", "none", "all", "late", "uses left", "the model's uses", "another tool", "twenty"],
)
def test_no_more_parts_are_read(known, enough):
    assert all_readable_parts_are_read(known) is enough


@pytest.mark.parametrize(
    ("known", "enough"),
    [
        (state(*[part("read")] * 7, part("open")), False),
        (state(*[part("read")] * 7, part("failed"), part("open")), True),
        (state(part("read")), True),
        (state(part("open"), now=50.0), True),
    ],
    ids=["seven", "eight", "all", "late"],
)
def test_enough_is_read_to_follow_what_it_imports(known, enough):
    assert enough_is_read_to_follow_imports(known, parts=8) is enough


@pytest.mark.parametrize(
    ("query", "granted", "between"),
    [
        ("How does an order get from the CLI to the database?", ["find_definition"], True),
        ("How does an order get from the CLI to the database?", ["search_code"], False),
        ("list every place that retries", ["find_definition"], False),
        ("all callers of save_order", ["find_definition"], False),
    ],
)
def test_parts_may_be_connected(query, granted, between):
    listed = json.dumps(specs_as_data([tool_spec(name) for name in granted]))
    ctx = context(query=query, granted=granted, tool_list=listed)
    assert parts_may_be_connected(ctx, many=12) is between


@each_row(
    ("known", "too_much"),
    [
        (state(*[part("read")] * 10), False),
        (state(*[part("read")] * 11), True),
        (state(part("extracted")), True),
        (state(part("read"), limits=Limits(tokens=4_000)), True),
        (state(part("read"), limits=Limits(tokens=9_000)), False),
        (state(part("read"), window=5_000), True),
        (state(*[part("failed")] * 20), False),
    ],
    ids=["few", "many", "begun", "no tokens", "just enough", "a small window", "failed"],
)
def test_parts_are_too_much_to_hand_over_whole(known, too_much):
    assert parts_are_too_much(known) is too_much


@each_row(
    ("known", "enough"),
    [
        (state(part("read")), False),
        (state(part("extracted"), part("open"), part("nothing")), True),
        (state(part("read"), *[part("unanswered")] * 3), False),
        (state(part("read"), *[part("unanswered")] * 4), True),
        (state(part("read"), now=50.0), True),
        (state(part("read"), limits=Limits(tokens=10_000)), True),
        (state(part("read"), limits=Limits(tokens=11_000)), False),
        (state(part("read"), limits=Limits(money=0.01)), True),
        (state(part("read"), limits=Limits(turns=2)), False),
    ],
    ids=["one", "none", "3 in vain", "4 in vain", "late", "tokens", "enough", "money", "turns"],
)
def test_no_more_parts_are_asked_about(known, enough):
    assert enough_parts_are_asked_about(known, at_once=4, failures=4) is enough


@each_row(
    ("tokens", "known", "fits"),
    [
        (1_000, {}, True),
        (43_454, {}, True),
        (43_455, {}, False),
        (1_313, {"limits": Limits(tokens=10_000)}, True),
        (1_314, {"limits": Limits(tokens=10_000)}, False),
        (3_500, {"limits": Limits(money=0.01)}, False),
        (3_500, {"limits": Limits(turns=2, tokens=10_000), "turns": 1}, False),
        (1_000, {"now": 299.0}, True),
    ],
)
def test_there_is_room_for_so_many_tokens(tokens, known, fits):
    assert purse_of(state(**known)).has_room_for(tokens) is fits


@each_row(
    ("query", "asked"),
    [
        ("Where is save_order used?", True),
        ("who calls `save_order`?", True),
        ("all callers of save_order", True),
        ("everywhere Ledger is used", True),
        ("list every place that calls save_order", True),
        ("How is Ledger used?", False),
        ("who calls the shots here?", False),
        ("What does save_order do?", False),
    ],
)
def test_every_use_of_a_name_is_asked_for(query, asked):
    assert every_use_of_a_name_is_asked_for(context(query=query)) is asked


@each_row(
    ("turn", "new", "files", "covered", "spreads"),
    [
        (5, [1] * 5, 10, False, True),
        (4, [1] * 5, 10, False, False),
        (5, [1] * 4, 10, False, False),
        (5, [1, 1, 0, 1, 1], 10, False, False),
        (5, [1] * 5, 9, False, False),
        (5, [1] * 5, 10, True, False),
    ],
)
def test_evidence_keeps_spreading(turn, new, files, covered, spreads):
    evidence = [{"where": f"f{n}.py:1"} for n in range(files)]
    ctx = context(new_by_call=new, evidence=evidence, was_covered=covered)
    ctx.turn = turn
    assert evidence_keeps_spreading(ctx, turns=5, calls=5, files=10) is spreads


@pytest.mark.parametrize(
    ("granted", "covered", "answer"),
    [
        (["search_code", "read_file"], False, True),
        (["search_code", "read_file"], True, False),
        (["search_code"], False, False),
        (["read_file"], False, False),
    ],
)
def test_parts_can_be_covered_once_with_tools_that_search_and_read(granted, covered, answer):
    listed = json.dumps(specs_as_data([tool_spec(name) for name in granted]))
    ctx = context(granted=granted, tool_list=listed, was_covered=covered)
    assert can_be_covered(ctx) is answer
