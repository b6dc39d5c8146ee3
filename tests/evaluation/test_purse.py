"""What an evaluation may spend is looked at before each run, and is never more than is left."""

import json

import pytest

from oracle.errors import InputError
from oracle.evaluation.agent_runs import Examined, Outcome, ask_all
from oracle.evaluation.harbour import harbour, questions
from oracle.evaluation.purse import Purse
from oracle.services.comparison.facts import LoopFacts
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Prices
from oracle.testing import ScriptedModel
from oracle.testing.simulated import simulated_model

FREE, PAID = Prices(input=0, output=0), Prices(input=1, output=1)


def model(prices):
    return ScriptedModel(prices=prices)


def outcome(money, stop="answered"):
    facts = LoopFacts(stop_reason=stop, answer="x", money=money)
    known = {"question": "a", "loop": "tree", "model": "m", "repeat": 0, "is_right": True}
    return Outcome(**known, facts=facts, complete=1.0)


def test_an_unknown_price_is_refused_and_names_the_setting():
    with pytest.raises(InputError, match=r"set model.input_price and model.output_price"):
        Purse(0.5).check(model(None))
    Purse().check(model(None))
    Purse(0.5).check(model(FREE))


@pytest.mark.parametrize(
    ("most", "spent", "prices", "money"),
    [
        (None, 9.0, PAID, 1.0),
        (3.0, 0.5, PAID, 1.0),
        (1.25, 0.5, PAID, 0.75),
        (1.0, 1.0, PAID, None),
        (0.0, 0.0, PAID, None),
        (0.0, 0.0, FREE, 1.0),
    ],
)
def test_a_run_may_cost_what_is_left_and_not_more(most, spent, prices, money):
    purse = Purse(most, spent)
    limits = purse.limits(Limits(money=1.0), model(prices))
    assert (None if limits is None else limits.money) == money
    assert purse.is_empty is (money is None)


def test_a_run_that_missed_the_money_is_not_counted_and_the_last():
    purse, wanted = Purse(1.0, 0.9), Limits(money=1.0)
    given = purse.limits(wanted, model(PAID))
    assert purse.paid(outcome(0.01), given, wanted).is_cut is False
    assert purse.paid(outcome(0.0, "money_limit"), given, wanted).is_cut is True
    assert purse.limits(wanted, model(PAID)) is None
    assert json.loads(json.dumps(outcome(0.0).as_data()))["is_cut"] is False


async def test_nothing_is_spent_beyond_the_purse():
    competent, purse = simulated_model("competent"), Purse(0.02)
    async with harbour() as world, world.index.at_hand():
        asking = ask_all(
            world,
            questions()[:4],
            make_model=lambda _: competent,
            repeats=1,
            examined=Examined(),
            purse=purse,
        )
        found = [each async for each in asking]
    assert purse.is_empty
    assert 0 < purse.spent <= 0.02
    assert [each.is_cut for each in found[:-1]] == [False] * (len(found) - 1)
