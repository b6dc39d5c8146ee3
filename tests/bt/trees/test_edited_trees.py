"""Changing the Lua changes behaviour: each test edits a tree and sees the difference."""

import re

from oracle.bt.core.leaves import LEAVES
from oracle.bt.wrappers.recipe import built_in_trees
from oracle.services.control.ledger import Limits
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import ask, edited, enough, look, stuck


def numbered():
    return ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 x", "web_search": "w"})


async def test_a_tree_of_an_older_version_that_lacks_later_keys_still_runs():
    trees = dict(built_in_trees())
    for key in LEAVES.later_keys:
        trees["oracle-agent.lua"], removed = re.subn(
            rf"^    {key} = .*\n", "", trees["oracle-agent.lua"], flags=re.MULTILINE
        )
        assert removed == 1, f"the tree does not declare {key!r}"
    heard = await ask(look(1), look(2), enough(), tools=numbered(), trees=trees)
    assert heard.stop == "answered"


async def test_without_the_fallback_nobody_is_consulted():
    weak = "Hm." + signal("need_turn", 0.1, reason="r")
    trees = edited("turn.lua", ('    BT.subtree("fallback"),\n', ""))
    with_it, without = [await ask(weak, look(), "Ok.", **kind) for kind in ({}, {"trees": trees})]
    assert [len(run.events("fallback.triggered")) for run in (with_it, without)] == [1, 0]
    assert ["Search first" in run.told(1) for run in (with_it, without)] == [True, False]


async def test_without_the_fallback_who_is_stuck_is_still_shown_another_way():
    trees = edited("turn.lua", ('    BT.subtree("fallback"),\n', ""))
    heard = await ask(stuck(), stuck(), "Ok.", trees=trees)
    assert "Put the search differently" in heard.told(1)
    assert heard.offered[2] == ["search_code", "web_search"]


async def test_a_loop_of_two_rounds_ends_after_two_turns():
    trees = edited("oracle-agent.lua", ("local MOST_ROUNDS = 1000", "local MOST_ROUNDS = 2"))
    heard = await ask(look(1), look(2), tools=numbered(), trees=trees)
    assert (heard.stop, len(heard.model.requests)) == ("turn_limit", 2)
    assert "f2.py:1" in heard.done["answer"]


async def test_strategies_in_another_order_are_taken_in_that_order():
    rephrase = (
        '        BT.sequence("other words", '
        "{ evidence.a_reading_tool_is_on_offer, tell.rephrase_the_search }),\n"
    )
    more = '        BT.subtree("more tools"),\n'
    trees = edited("escalate.lua", (rephrase + more, more + rephrase))
    first = [(await ask(stuck(), "Ok.", **kind)).offered[1] for kind in ({}, {"trees": trees})]
    assert first == [["search_code"], ["search_code", "web_search"]]


async def test_a_ladder_without_its_first_rungs_withdraws_at_once():
    trees = edited(
        "escalate.lua",
        ("        tell.you_have_that_already,\n", ""),
        ("        circles.refuse_that_call_from_now_on,\n", ""),
    )
    again = [look("same", reason=str(n)) for n in range(2)]
    one, other = await ask(*again, "Ok."), await ask(*again, "Ok.", trees=trees)
    assert (one.offered[2], other.offered[2]) == (["search_code"], [])


async def test_a_branch_that_is_taken_out_no_longer_decides():
    believed = "        evidence.backs_the_claim,\n"
    doubted = '    BT.sequence("nothing backs it", { evidence.is_missing, finish.ungrounded }),\n'
    anything = '        BT.expect("anything goes", "true"),\n'
    trees = edited("decide.lua", (believed, anything), (doubted, ""))
    heard = await ask(enough("A guess."), trees=trees)
    assert (heard.stop, len(heard.model.requests)) == ("answered", 1)


async def test_branches_in_another_order_decide_in_that_order():
    """Whether calls speak for a response before its signal is asked."""
    first = '    on("need_turn",'
    calls = '    reply.has_calls("calls first"),\n'
    trees = edited("decide.lua", (first, calls + first))
    both = Reply(text=enough("Enough."), calls=[("search_code", {"query": "more"})])
    one = await ask(look(), both, "Ok.", tools=numbered())
    other = await ask(look(), both, "Ok.", tools=numbered(), trees=trees)
    assert (len(one.ran), len(other.ran)) == (1, 2)


async def test_an_extra_guard_keeps_a_branch_shut():
    grant = "capability.a_reading_tool_can_do_it, grant.reading_tools"
    guarded = '"bb.ledger.turns > 1", grant.reading_tools'
    trees = edited("decide.lua", (grant, guarded))
    wish = "Hm." + signal("need_capability", capability="web search", reason="r")
    one, other = [await ask(wish, look(), "Ok.", **kind) for kind in ({}, {"trees": trees})]
    assert (one.offered[1], other.offered[1]) == (["search_code", "web_search"], ["search_code"])


async def test_a_tree_that_announces_no_last_turn_offers_tools_until_the_end():
    trees = edited("budget.lua", ("ledger.only_the_reserve_is_left, ", '"false", '))
    limits = Limits(turns=2)
    one = await ask(look(1), "Ok.", tools=numbered(), limits=limits)
    other = await ask(look(1), look(2), tools=numbered(), limits=limits, trees=trees)
    assert (one.offered[1], other.offered[1]) == ([], ["search_code"])
    assert (one.stop, other.stop) == ("turn_limit", "turn_limit")


async def test_a_broken_tree_still_ends_with_an_answer_that_says_where():
    trees = edited("turn.lua", ('BT.subtree("fallback")', 'BT.falback("x")'))
    heard = await ask(model=ScriptedModel(), trees=trees)
    line = trees["turn.lua"].partition("BT.falback")[0].count("\n") + 1
    assert f"turn.lua:{line}: no node 'falback'" in heard.done["answer"]
