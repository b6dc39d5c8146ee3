"""A broad question: its parts are listed, read, put before the model, and what was left out is
said.
"""

import pytest

from oracle import Oracle
from oracle.services.control.ledger import Limits
from oracle.testing import Reply, signal
from tests.asking import CODE, ask, edited, enough, look
from tests.scenarios import BROAD, FLOW_PARTS

FLOW = {
    "cli": "def order_command(args):\n    '''The CLI takes an order.'''\n    place_order(args)\n",
    "service": "def place_order(order):\n    check_order(order)\n    save_order(order)\n",
    "checks": "def check_order(order):\n    assert order.items\n",
    "store": "def save_order(order):\n    database.insert('orders', order)\n",
    "database": "class Database:\n    def insert(self, table, order):\n        pass\n",
    "mail": "def mail_order(order):\n    send(order.address)\n",
}
EVERY = "List every place that handles an order"
COVERED = "its parts were looked up and read for you"
SWITCHED_OFF = edited("coverage.lua", ("local BROAD = 0.4", "local BROAD = 1.1"))
HAND_OVER = "So far." + signal("delegation_recommended", reason="large", scope="the API")


def files(count, text="order"):
    """As many files as are asked for, found by every search, each of them readable."""
    places = [{"kind": "code", "where": f"f{n}.py:1", "text": f"order {n}"} for n in range(count)]
    return {
        "search_code": {"success": True, "content": "found", "sources": places},
        "read_file": lambda a: f"{a['path']}:1 {text}",
    }


@pytest.fixture
def project(tmp_path):
    (tmp_path / "oracle.toml").touch()
    for name, text in FLOW.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "paint.py").write_text("def paint(wall):\n    brush(wall)\n")
    return tmp_path


async def test_embedded_lists_every_part_in_order_with_places_that_hold(project):
    answer = await Oracle(project=project).ask(BROAD)
    items = [line.split("`")[1] for line in answer.text.split("\n") if line[:1].isdigit()]
    assert {item.partition(":")[0] for item in items} == {f"{name}.py" for name in FLOW}
    assert [line[:2] for line in answer.text.split("\n") if line[:1].isdigit()] == [
        f"{n}." for n in range(1, 7)
    ]
    assert (answer.stop_reason, answer.missing, answer.usage["turns"]) == ("answered", [], 1)


async def test_the_model_gets_the_parts_best_first_before_its_first_turn():
    heard = await ask(enough(), tools=files(5), query=BROAD)
    assert heard.results(0) == [f"f{n}.py:1 order" for n in range(5)]
    assert f"{COVERED}: 5 of 5" in heard.told(0)
    assert (heard.stop, heard.done["missing"]) == ("answered", [])


@pytest.mark.parametrize(
    ("query", "trees"), [(CODE, None), (BROAD, SWITCHED_OFF)], ids=["narrow", "switched off"]
)
async def test_others_are_left_to_the_model(query, trees):
    heard = await ask("In f1.py.", tools=files(5), query=query, trees=trees)
    assert heard.ran == []


async def test_what_was_to_be_delegated_is_read_by_the_tree():
    heard = await ask(HAND_OVER, enough(), tools=files(5))
    assert heard.results(1) == [f"f{n}.py:1 order" for n in range(5)]
    assert any("API" in arguments["query"] for name, arguments in heard.tools.calls[:4])
    assert heard.done["missing"] == []


async def test_a_second_delegation_after_coverage_ends_the_search():
    heard = await ask(HAND_OVER, HAND_OVER, "What I can say.", tools=files(5))
    assert heard.ran.count("read_file") == 5
    assert heard.stop == "stuck"


async def test_evidence_that_keeps_spreading_leads_there():
    tools = {
        "search_code": lambda a: {
            "success": True,
            "content": f"found {a['query']}",
            "sources": [
                {"kind": "code", "where": f"{a['query']}{n}.py:1", "text": "x"} for n in "ab"
            ],
        },
        "read_file": lambda a: f"{a['path']}:1 order",
    }
    heard = await ask(*map(look, "12345"), enough(), tools=tools)
    assert COVERED not in heard.told(4)
    assert COVERED in heard.told(5)


async def test_many_calls_in_one_turn_are_no_spread():
    calls = [("search_code", {"query": str(n)}) for n in range(12)]
    found = {"search_code": lambda a: f"f{a['query']}.py:1 x", "read_file": "f.py:1 x"}
    heard = await ask(
        Reply(text=signal("need_turn", reason="look"), calls=calls), enough(), tools=found
    )
    assert COVERED not in heard.told(1)


@pytest.mark.parametrize(
    ("limits", "read"),
    [(Limits(uses_of_a_tool=4), 4), (Limits(uses_of_a_tool=10), 8), (Limits(), 12)],
    ids=["few uses", "a fifth for the model", "as many as usual"],
)
async def test_where_it_stops_in_mid_way_what_was_left_out_is_said(limits, read):
    heard = await ask(enough(), tools=files(20), query=BROAD, limits=limits)
    assert heard.ran.count("read_file") == read
    assert f"Reading {read} parts" in "\n".join(s["content"] for s in heard.of_type("system"))
    assert f"f{read}.py" in heard.done["missing"][0]
    assert f"Left out: f{read}.py" in heard.told(0)


@pytest.mark.parametrize(("query", "read"), [(BROAD, 12), (EVERY, 20)], ids=["flow", "every one"])
async def test_with_uses_enough_a_dozen_parts_are_read_or_all_that_are_asked_for(query, read):
    heard = await ask(enough(), tools=files(24), query=query, limits=Limits(uses_of_a_tool=40))
    assert heard.ran.count("read_file") == read
    assert f"f{read}.py" in heard.done["missing"][0]


async def test_a_file_that_connects_two_parts_is_read_next():
    heard = await ask(enough(), tools=FLOW_PARTS, query=BROAD)
    read = [arguments["path"] for name, arguments in heard.tools.calls if name == "read_file"]
    assert read == [*(f"f{n}.py" for n in range(4)), "relay.py", *(f"f{n}.py" for n in range(4, 9))]
    assert f"{COVERED}: 10 of 10" in heard.told(0)


async def test_a_part_that_cannot_be_read_is_left_out_by_name():
    tools = files(3) | {"read_file": lambda a: 1 / 0 if "f1" in a["path"] else f"{a['path']}:1"}
    heard = await ask(enough(), tools=tools, query=BROAD)
    assert heard.done["missing"] == ["f1.py (not read)"]


async def test_nothing_found_leaves_the_turns_as_they_are():
    heard = await ask(
        *["Nothing there."] * 2, tools={"search_code": "", "read_file": ""}, query=BROAD
    )
    assert heard.told(0) == ""
    assert heard.stop == "partial_answer"
