"""The ledger: what is spent, when to warn, when to withdraw the tools, when to end."""

import json
from math import inf

from oracle.services.control.ledger import Ledger, Limits
from tests.tables import each_row


def ledger(**spent):
    limits = Limits(turns=10, tokens=1000, money=1.0, seconds=100, uses_of_a_tool=2)
    return Ledger(limits=limits, started_at=50.0, **spent)


@each_row(
    ("spent", "now", "due"),
    [
        ({}, 50, ()),
        ({"turns": 6}, 50, ()),
        ({"turns": 7}, 50, ("turns",)),
        ({"tokens": 700, "money": 0.7}, 50, ("tokens", "money")),
        ({}, 120, ("seconds",)),
        ({"turns": 7, "warned": ("turns",)}, 50, ()),
        ({"turns": 99, "tokens": 9999}, 50, ("turns", "tokens")),
    ],
)
def test_a_warning_is_due_once_from_seventy_percent_on(spent, now, due):
    assert ledger(**spent).warnings_due(now, 0.7) == due


@each_row(
    ("spent", "now", "resource"),
    [
        ({"turns": 9}, 50, None),
        ({"turns": 10}, 50, "turns"),
        ({"tokens": 1000}, 50, "tokens"),
        ({"money": 1.5}, 50, "money"),
        ({}, 150, "seconds"),
    ],
)
def test_exhausted_leaves_no_room_for_another_request(spent, now, resource):
    assert ledger(**spent).exhausted(now) == resource


def test_where_a_price_is_unknown_the_money_budget_is_off():
    free = Ledger(limits=Limits(money=None), money=999.0)
    assert free.share("money", 0) == 0
    assert free.exhausted(0) is None
    assert free.left("money", 0) == inf


def test_a_limit_of_nothing_is_spent_from_the_start():
    assert Ledger(limits=Limits(turns=0)).exhausted(0) == "turns"


def test_the_provider_s_count_is_a_measure_that_only_rises_and_has_an_end():
    assert ledger().with_count(100, 150).with_count(100, 120).counted == 1.5
    assert ledger().with_count(10, 9_999).counted == 4.0


def test_the_pace_is_that_of_the_slowest_response_and_a_few_words_have_none():
    assert ledger().with_pace(100, 5.0).with_pace(100, 2.0).slowest_token == 0.05
    assert ledger().with_pace(3, 5.0).slowest_token == 0.0


def test_spending_answers_a_new_ledger_and_leaves_the_old_one():
    before = ledger()
    after = before.with_turn().with_usage(120, 0.02).with_use("search_code").with_use("search_code")
    assert (after.turns, after.tokens, after.money) == (1, 120, 0.02)
    assert (after.may_use("search_code"), after.may_use("read_file")) == (False, True)
    assert before == ledger()


def test_the_blackboard_holds_it_as_json():
    spent = ledger(turns=3, uses={"read_file": 1}, warned=("turns",))
    assert Ledger.from_dict(json.loads(json.dumps(spent.to_dict()))) == spent
