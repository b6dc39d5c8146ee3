"""What a decision diff says of costs."""

from oracle.bt.wrappers.decisions.difference import DecisionDiff
from oracle.bt.wrappers.decisions.recording import Totals
from oracle.cli.terminal.diff_lines import diff_lines, totals_words


def spent(money):
    return Totals(turns=3, model_calls=3, tokens=900, money=money)


def test_the_same_decisions_may_cost_something_else():
    diff = DecisionDiff(run_id="r", question="why?", before=spent(0.016), now=spent(0.159))
    lines = [line.text for line in diff_lines(diff, None)]
    assert "  cost: 0.016 → 0.16 (+0.14)" in lines


def test_where_nothing_differs_nothing_is_said_of_costs():
    diff = DecisionDiff(run_id="r", question="why?", before=spent(0.5), now=spent(0.5))
    assert [line.text for line in diff_lines(diff, None)] == [
        "Run r: no decision differs",
        "question: why?",
    ]


def test_a_cost_that_is_shown_alike_is_as_before():
    assert totals_words(spent(0.01601), spent(0.01602))[-1] == "cost: 0.016, as before"
