"""Going in circles is noticed and climbs the ladder; legitimate work is left alone."""

import pytest

from oracle.testing import Reply, ScriptedTools, signal
from tests.asking import LONG, TALK, ask, look

SAME = [look("same", reason=f"reason {n}") for n in range(9)]


def numbered(**more):
    return ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 x", **more})


async def test_the_same_reason_three_times_without_evidence_consults_the_fallback():
    again = "Hm." + signal("need_turn", reason="Look at it.")
    replies = [again, again.replace("Look", "look "), again, look(), "Ok."]
    heard = await ask(*replies, query=LONG)
    assert [event["kind"] for event in heard.events("loop.detected")] == ["reason"]
    assert len(heard.events("fallback.triggered")) == 1
    assert "Put the search differently" in heard.told(3)


async def test_what_the_fallback_decides_about_a_loop_is_carried_out():
    heard = await ask(*["Hm." + signal("need_turn", reason="Look.")] * 3, "Ok.", query=TALK)
    assert "final response" in heard.told(3)
    assert heard.offered[3] == []


async def test_the_same_reason_three_times_with_new_evidence_is_only_nudged():
    replies = [look(n, reason="Look at it.") for n in range(3)]
    heard = await ask(*replies, "Ok.", tools=numbered())
    assert [event["times"] for event in heard.events("loop.detected")] == [3]
    assert heard.events("fallback.triggered") == []
    assert "You are repeating yourself: the same reason" in heard.told(3)
    assert heard.offered[3] == ["search_code"]


async def test_the_same_reason_twice_and_then_another_is_no_loop():
    reasons = ["a", "a", "b", "b", "a", "a"]
    replies = [look(n, reason) for n, reason in enumerate(reasons)]
    heard = await ask(*replies, "Ok.", query=LONG, tools=numbered())
    assert heard.events("loop.detected") == []


async def test_the_same_call_with_the_same_result_climbs_the_ladder_rung_by_rung():
    tools = {"search_code": "auth.py:3 x", "read_file": "auth.py:3 y"}
    other = Reply(text="What I know." + signal("stuck", attempted=["a"], blocker="b"))
    heard = await ask(*SAME[:6], other, tools=tools)
    assert "You are repeating yourself: the same call" in heard.told(2)
    assert "It will not be run again" in heard.told(3)
    assert heard.results(4)[3].startswith("Not run: you have made this call before")
    assert heard.offered[4] == ["read_file"]
    assert "Put the search differently" in heard.told(5)
    assert heard.offered[6] == []
    assert (len(heard.ran), heard.stop) == (3, "stuck")


async def test_once_the_only_tool_is_withdrawn_the_next_strategy_is_one_with_tools():
    heard = await ask(*SAME[:5], "Ok.")
    assert heard.offered[4:] == [[], ["web_search"]]
    assert "Put the search differently" not in heard.told(5)


async def test_once_new_evidence_has_come_the_ladder_begins_anew():
    tools = {"search_code": ["a.py:1", "a.py:1", "a.py:1", "b.py:1", "b.py:1"]}
    heard = await ask(SAME[0], SAME[1], look("other"), look("other", "r"), "Ok.", tools=tools)
    assert heard.told(4).count("You are repeating yourself") == 1
    heard = await ask(*SAME[:2], look("x"), look("y"), look("y", "r"), "Ok.", tools=numbered())
    assert heard.told(5).count("You are repeating yourself") == 2
    assert "will not be run again" not in heard.told(5)


async def test_a_repeat_is_seen_wherever_it_stands_among_the_calls_of_a_turn():
    def both(n):
        calls = [("search_code", {"query": "same"}), ("search_code", {"query": f"new{n}"})]
        return Reply(text=signal("need_turn", reason=f"r{n}"), calls=calls)

    heard = await ask(both(1), both(2), "Ok.", tools=numbered())
    assert "You are repeating yourself" in heard.told(2)


async def test_a_cycle_of_calls_is_refused_as_a_whole():
    tools = {"search_code": "auth.py:3 x", "read_file": "auth.py:3 y"}
    turns = [look("x", f"r{n}", tool=("search_code", "read_file")[n % 2]) for n in range(6)]
    heard = await ask(*turns, "Ok.", tools=tools)
    kinds = [event["kind"] for event in heard.events("loop.detected")]
    assert kinds[:2] == ["call", "cycle"]
    assert "a cycle of 2 calls with the same results (search_code, read_file)" in heard.told(4)
    assert len(heard.ran) == 4
    assert all(result.startswith("Not run:") for result in heard.results(6)[4:])


async def test_arguments_in_another_order_are_the_same_call():
    one = Reply(text=signal("need_turn", reason="a"), calls=[("search_code", {"a": 1, "b": 2})])
    two = Reply(text=signal("need_turn", reason="b"), calls=[("search_code", {"b": 2, "a": 1})])
    heard = await ask(one, two, "Ok.")
    assert len(heard.events("loop.detected")) == 1


# -- what is no loop -------------------------------------------------------------------------------


def paging(number):
    return Reply(
        text=signal("need_turn", reason=f"page {number}"),
        calls=[("search_code", {"query": "login", "page": number})],
    )


NO_LOOPS = {
    "paging": ([paging(n) for n in range(8)], lambda a: f"p{a['page']}.py:1 x"),
    "paging through the same words": ([paging(n) for n in range(8)], "main.py:1 x"),
    "polling what changes": (
        [look("status", reason=f"wait {n}") for n in range(8)],
        [f"{n} % done" for n in range(8)],
    ),
    "the same call in two turns with different results": (
        [look("x", "a"), look("y", "b"), look("x", "c")],
        ["a.py:1", "b.py:1", "c.py:1"],
    ),
    "ten different searches": ([look(n) for n in range(10)], lambda a: f"f{a['query']}.py:1"),
    "ten searches that find nothing": ([look(n) for n in range(3)], ""),
}


@pytest.mark.parametrize("name", NO_LOOPS)
async def test_this_is_no_loop(name):
    replies, results = NO_LOOPS[name]
    heard = await ask(*replies, "Ok.", tools={"search_code": results})
    assert heard.events("loop.detected") == []
    assert heard.offered[-1] == ["search_code"]
    assert len(heard.ran) == len(replies)
