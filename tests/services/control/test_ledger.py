"""The ledger: what is spent, when to warn, when to withdraw the tools, when to end."""

import json

import pytest

from oracle.services.control.ledger import Ledger, Limits, Reserve


def ledger(**spent):
    limits = Limits(turns=10, tokens=1000, money=1.0, seconds=100, uses_of_a_tool=2)
    return Ledger(limits=limits, started_at=50.0, **spent)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("spent", "now", "resource"),
    [
        ({}, 50, None),
        ({"turns": 8}, 50, None),
        ({"turns": 9}, 50, "turns"),
        ({"turns": 10}, 50, "turns"),
        ({"tokens": 699}, 50, None),
        ({"tokens": 700}, 50, "tokens"),
        ({"money": 0.9}, 50, "money"),
        ({}, 139, None),
        ({}, 140, "seconds"),
    ],
)
def test_at_the_reserve_the_next_request_is_the_last(spent, now, resource):
    reserve = Reserve(tokens=300, money=0.1, seconds=10)
    assert ledger(**spent).at_reserve(now, reserve) == resource


@pytest.mark.parametrize(
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
    assert free.at_reserve(0, Reserve(money=5.0)) is None


def test_a_limit_of_nothing_is_spent_from_the_start():
    assert Ledger(limits=Limits(turns=0)).exhausted(0) == "turns"


def test_one_turn_means_that_the_first_request_is_the_last():
    assert Ledger(limits=Limits(turns=1)).at_reserve(0, Reserve()) == "turns"


def test_spending_answers_a_new_ledger_and_leaves_the_old_one():
    before = ledger()
    after = before.with_turn().with_usage(120, 0.02).with_use("search_code").with_use("search_code")
    assert (after.turns, after.tokens, after.money) == (1, 120, 0.02)
    assert (after.may_use("search_code"), after.may_use("read_file")) == (False, True)
    assert before == ledger()


def test_the_blackboard_holds_it_as_json():
    spent = ledger(turns=3, uses={"read_file": 1}, warned=("turns",))
    assert Ledger.from_dict(json.loads(json.dumps(spent.to_dict()))) == spent
