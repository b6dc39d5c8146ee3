"""Changing the Lua changes behaviour: each test edits a tree and sees the difference."""

from oracle.services.control.ledger import Limits
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import ask, edited, enough, look, stuck


def numbered():
    return ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 x", "web_search": "w"})


async def test_without_the_fallback_nobody_is_consulted():
    weak = "Hm." + signal("need_turn", 0.1, reason="r")
    trees = edited("turn.lua", ('    BT.subtree("fallback"),\n', ""))
    with_it, without = await ask(weak, "Ok."), await ask(weak, "Ok.", trees=trees)
    assert [len(run.events("fallback.triggered")) for run in (with_it, without)] == [1, 0]
    assert (with_it.offered[1], without.offered[1]) == ([], ["search_code"])


async def test_without_the_fallback_who_is_stuck_is_still_shown_another_way():
    trees = edited("turn.lua", ('    BT.subtree("fallback"),\n', ""))
    heard = await ask(stuck(), stuck(), "Ok.", trees=trees)
    assert "Put the search differently" in heard.told(1)
    assert heard.offered[2] == ["search_code", "web_search"]


async def test_a_loop_of_two_rounds_ends_after_two_turns():
    trees = edited("oracle-agent.lua", ("max = 1000", "max = 2"))
    heard = await ask(look(1), look(2), tools=numbered(), trees=trees)
    assert (heard.stop, len(heard.model.requests)) == ("turn_limit", 2)
    assert "f2.py:1" in heard.done["answer"]


async def test_strategies_in_another_order_are_taken_in_that_order():
    rephrase = '    strategy(1, "rephrase", "oracle.bt.actions.strategy.rephrase_the_search"),\n'
    more = '    strategy(2, "more tools", "oracle.bt.actions.strategy.grant_next_rung"),\n'
    turned = more.replace("(2", "(1") + rephrase.replace("(1", "(2")
    trees = edited("strategy.lua", (rephrase + more, turned))
    first = [(await ask(stuck(), "Ok.", **kind)).offered[1] for kind in ({}, {"trees": trees})]
    assert first == [["search_code"], ["search_code", "web_search"]]


async def test_a_ladder_without_its_first_rungs_withdraws_at_once():
    trees = edited(
        "ladder.lua",
        ('      rung(1, "nudge", "oracle.bt.actions.ladder.nudge"),\n', ""),
        ('      rung(2, "not run", "oracle.bt.actions.ladder.refuse_repeats"),\n', ""),
    )
    again = [look("same", reason=str(n)) for n in range(2)]
    one, other = await ask(*again, "Ok."), await ask(*again, "Ok.", trees=trees)
    assert (one.offered[2], other.offered[2]) == (["search_code"], [])


async def test_a_branch_that_is_taken_out_no_longer_decides():
    believed = 'fn = "oracle.bt.conditions.context_needs.has_evidence"'
    trees = edited("decide.lua", (believed, 'expression = "true"'))
    heard = await ask(enough("A guess."), trees=trees)
    assert (heard.stop, len(heard.model.requests)) == ("answered", 1)


async def test_branches_in_another_order_decide_in_that_order():
    """Whether calls speak for a response before its signal is asked."""
    first = '    BT.sequence("need_turn", {\n      signal("need_turn"),'
    calls = '    BT.condition("calls first", { fn = "oracle.bt.conditions.response.has_calls" }),\n'
    trees = edited("decide.lua", (first, calls + first))
    both = Reply(text=enough("Enough."), calls=[("search_code", {"query": "more"})])
    one = await ask(look(), both, "Ok.", tools=numbered())
    other = await ask(look(), both, "Ok.", tools=numbered(), trees=trees)
    assert (len(one.ran), len(other.ran)) == (1, 2)


async def test_an_extra_guard_keeps_a_branch_shut():
    grant = (
        'BT.action("a tool that reads", { fn = "oracle.bt.actions.grants.grant_reading_tools" })'
    )
    guarded = f'BT.guard("not at once", {{ expression = "bb.ledger.turns > 1", {grant} }})'
    trees = edited("decide.lua", (grant, guarded))
    wish = "Hm." + signal("need_capability", capability="web search", reason="r")
    one, other = await ask(wish, "Ok."), await ask(wish, "Ok.", trees=trees)
    assert (one.offered[1], other.offered[1]) == (["search_code", "web_search"], [])


async def test_a_tree_that_announces_no_last_turn_offers_tools_until_the_end():
    reserve = (
        '      BT.action("last turn", { fn = "oracle.bt.actions.budget.announce_last_turn" }),\n'
    )
    trees = edited(
        "budget.lua",
        (
            reserve,
            '      BT.always_succeed("no", BT.condition("never", { expression = "false" })),\n',
        ),
    )
    limits = Limits(turns=2)
    one = await ask(look(1), "Ok.", tools=numbered(), limits=limits)
    other = await ask(look(1), look(2), tools=numbered(), limits=limits, trees=trees)
    assert (one.offered[1], other.offered[1]) == ([], ["search_code"])
    assert (one.stop, other.stop) == ("turn_limit", "turn_limit")


async def test_a_broken_tree_still_ends_with_an_answer_that_says_where():
    trees = edited("turn.lua", ('BT.subtree("fallback")', 'BT.falback("x")'))
    heard = await ask(model=ScriptedModel(), trees=trees)
    assert "turn.lua:34: no node 'falback'" in heard.done["answer"]
