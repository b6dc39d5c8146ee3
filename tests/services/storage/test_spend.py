"""Budgets are never exceeded, whoever asks at once, and whatever dies in between."""

import asyncio
import json
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import InputError, SpendHeld, SpendLimitReached, StoreError
from oracle.services.settings.team_sections import SpendSettings
from oracle.services.storage.budgets import (
    MILLION,
    Need,
    budgets_from,
    millionths,
    need_of,
    period_of,
    renewal_of,
)
from oracle.services.storage.database import Database
from oracle.services.storage.runs import Runs
from oracle.services.storage.spend import ABANDONED_SECONDS, Hold
from oracle.services.storage.spend_report import spend_rows
from tests.processes import run

LIMITS = {"turns": 30, "tokens": 1000, "money": 1.0, "seconds": 300.0, "uses_of_a_tool": 20}
PRICES = {"input": 3.0, "output": 15.0}


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def set_clock(database, text):
    """The clock of the database stands still. It is asked for the time in SQL."""
    database.backend.now = f"CAST({at(text)} AS double precision)"


async def begin(database, run_id, *, money=1.0, user=None, project="p", prices=PRICES, **budgets):
    """Returns the limit of money that the run gets."""
    limits = {**LIMITS, "money": money}
    hold = Hold(
        need=need_of(limits, prices),
        budgets=budgets_from(SpendSettings(**budgets)),
        project=project,
    )
    seen = database if user is None else database.seen_by(user)
    await Runs(seen).begin(
        run_id=run_id, question="?", tree="t", at=1.0, owner="a", project=project, hold=hold
    )
    return hold.lowered(limits)["money"]


async def finish(database, run_id, **usage):
    end = {"owner": "a", "stop_reason": "answered", "at": 2.0}
    await Runs(database.seen_by(None)).finish(run_id, usage=usage, **end)


async def spent(database, *, user="local", project="p", span="day", unit="money", **budgets):
    """What is spent, held and left."""
    rows = await spend_rows(database, user, project, budgets_from(SpendSettings(**budgets)))
    (row,) = [r for r in rows if (r.scope, r.span, r.unit) == ("user", span, unit)]
    return row.spent, row.held, row.left


async def test_what_a_run_may_cost_is_held_and_then_replaced_by_what_it_has_cost(database):
    budget = {"user_money_per_day": 5.0}
    assert await begin(database, "r1", **budget) == 1.0
    assert await spent(database, **budget) == (0, 1.0, 4.0)
    await finish(database, "r1", money=0.25, tokens=700)
    assert await spent(database, **budget) == (0.25, 0, 4.75)
    assert await spent(database, span="month", unit="tokens") == (700, 0, None)


async def test_a_run_gets_what_is_left_if_that_is_less_than_its_limit(database):
    budget = {"user_money_per_day": 1.3}
    await begin(database, "r1", **budget)
    assert await begin(database, "r2", **budget) == 0.3
    # Its limit of money is off: all that is left is held for it.
    await finish(database, "r1", money=0.5)
    assert await begin(database, "r3", money=None, **budget) == 0.5


async def test_at_the_limit_a_run_is_refused_with_what_is_left_and_when_it_renews(database):
    set_clock(database, "2026-11-18T15:00")
    budget = {"user_money_per_day": 1.0}
    await begin(database, "r1", **budget)
    await finish(database, "r1", money=0.99, tokens=5)
    with pytest.raises(SpendLimitReached) as refused:
        await begin(database, "r2", **budget)
    assert str(refused.value) == (
        "the money budget of user 'local' for this day is used up: 0.99 of 1 spent, 0.01 left; it "
        "renews at 2026-11-19 00:00 UTC; ask then, or raise spend.user_money_per_day"
    )
    assert (refused.value.left, refused.value.retry_after) == (0.01, 9 * 3600)
    assert not isinstance(refused.value, SpendHeld)
    assert len(await Runs(database).newest()) == 1


async def test_a_damaged_sum_is_named_and_not_counted_with(tmp_path):
    budget = {"user_money_per_day": 5.0}
    # Only SQLite lets a column have a value of another type.
    async with await Database.open(tmp_path / "o.db") as database:
        await begin(database, "r1", **budget)
        damage = "UPDATE spend_totals SET money = 'much'"
        await database.write(lambda connection: connection.execute(damage))
        for reader in (spent(database, **budget), begin(database, "r2", **budget)):
            with pytest.raises(StoreError, match=r"money in spend_totals .*'much'"):
                await reader


async def test_two_runs_at_once_for_the_last_cent_one_waits_for_the_other(database):
    budget = {"project_money_per_month": 0.01}
    results = await asyncio.gather(
        *(begin(database, f"r{n}", **budget) for n in range(2)), return_exceptions=True
    )
    (granted,) = [each for each in results if isinstance(each, float)]
    (refused,) = [each for each in results if not isinstance(each, float)]
    assert granted == 0.01
    assert isinstance(refused, SpendHeld)
    assert "0.01 held for runs under way" in str(refused)
    assert refused.retry_after < 10


async def test_users_and_projects_have_budgets_of_their_own(database):
    budget = {"user_money_per_day": 1.0, "project_money_per_day": 2.5}
    await begin(database, "r1", user="ann", **budget)
    await begin(database, "r2", user="bob", **budget)
    with pytest.raises(SpendLimitReached, match="user 'ann'"):
        await begin(database, "r3", user="ann", project="q", **budget)
    assert await begin(database, "r4", user="cas", **budget) == 0.5
    with pytest.raises(SpendLimitReached, match="project 'p'"):
        await begin(database, "r5", user="dan", **budget)
    assert await begin(database, "r6", user="dan", project="q", **budget) == 1.0


async def test_a_run_counts_for_the_period_in_which_it_began(database):
    budget = {"user_money_per_day": 1.0, "user_money_per_month": 3.0}
    set_clock(database, "2026-11-30T23:59:59.900")
    await begin(database, "r1", **budget)
    set_clock(database, "2026-12-01T00:00:00.100")
    assert await begin(database, "r2", **budget) == 1.0
    await finish(database, "r1", money=0.7)
    assert await spent(database, **budget) == (0, 1.0, 0)
    assert await spent(database, span="month", **budget) == (0, 1.0, 2.0)
    set_clock(database, "2026-11-30T23:00")
    assert await spent(database, span="month", **budget) == (0.7, 0, 2.3)


@pytest.mark.parametrize(
    ("span", "now", "period", "renewal"),
    [
        ("day", "2026-02-28T23:59:59", "2026-02-28", "2026-03-01"),
        ("day", "2028-02-28T23:59:59", "2028-02-28", "2028-02-29"),
        ("month", "2026-01-31T12:00", "2026-01", "2026-02-01"),
        ("month", "2026-12-31T23:59:59", "2026-12", "2027-01-01"),
        ("month", "2026-12-01T00:00", "2026-12", "2027-01-01"),
    ],
)
def test_days_and_months_end_at_midnight_of_utc(span, now, period, renewal):
    assert period_of(span, at(now)) == period
    assert renewal_of(span, at(now)) == at(renewal)


async def test_a_model_of_unknown_price_needs_a_budget_of_tokens(database):
    with pytest.raises(InputError, match=r"model\.input_price"):
        await begin(database, "r1", prices=None, user_money_per_day=5.0)
    await begin(database, "r2", prices=None, user_tokens_per_day=1000)
    with pytest.raises(SpendHeld, match="the tokens budget of user 'local'"):
        await begin(database, "r3", prices=None, user_tokens_per_day=1000)


async def test_a_model_that_costs_nothing_needs_no_money(database):
    await begin(database, "r1", prices={"input": 0.0, "output": 0.0}, user_money_per_day=0.0)
    with pytest.raises(SpendLimitReached):
        await begin(database, "r2", user_money_per_day=0.0)


async def test_a_run_that_nobody_works_on_holds_only_what_it_has_spent(database):
    """Its process was killed after it had noted that, and nobody has resumed it."""
    budget = {"user_money_per_day": 1.0}
    set_clock(database, "2026-11-18T15:00")
    await begin(database, "r1", **budget)
    await Runs(database).renew("r1", "a", usage={"money": 0.4, "tokens": 90})
    with pytest.raises(SpendHeld):
        await begin(database, "r2", **budget)
    minutes = ABANDONED_SECONDS // 60 + 1
    set_clock(database, f"2026-11-18T15:{minutes:02.0f}")
    assert await begin(database, "r2", **budget) == 0.6
    await finish(database, "r2", money=0.1, tokens=1)
    assert await spent(database, **budget) == (0.5, 0, 0.5)


@pytest.mark.parametrize("day", ["2026-11-18", "2026-11-19"])
async def test_a_run_that_is_resumed_late_holds_the_rest_again(database, day):
    budget = {"user_money_per_day": 1.0, "user_money_per_month": 5.0}
    budgets = budgets_from(SpendSettings(**budget))
    set_clock(database, "2026-11-18T15:00")
    await begin(database, "r1", **budget)
    await Runs(database).release("r1", "a", {"money": 0.4, "tokens": 90})
    set_clock(database, "2026-11-18T16:00")
    await begin(database, "r2", **budget)  # that releases what the first one held
    await finish(database, "r2", money=0.0, tokens=10)
    assert await spent(database, **budget) == (0.4, 0, 0.6)
    set_clock(database, f"{day}T17:00")
    await Runs(database).claim("r1", "a", budgets=budgets)
    _, _, left = await spent(database, span="month", **budget)
    assert left == 4.0
    with pytest.raises(SpendLimitReached):
        await begin(database, "r3", user_money_per_month=1.0)
    await finish(database, "r1", money=0.7, tokens=200)
    assert await spent(database, span="month", **budget) == (0.7, 0, 4.3)
    assert await spent(database, span="month", unit="tokens") == (210, 0, None)


@pytest.mark.parametrize("day", ["2026-03-04", "2026-03-05"])
async def test_a_queued_run_whose_worker_died_at_once_begins_again(database, day):
    """It was taken, and has no record yet."""
    runs, budget = Runs(database), {"user_money_per_day": 1.0}
    budgets = budgets_from(SpendSettings(**budget))
    set_clock(database, "2026-03-04 23:00")
    await runs.begin(
        run_id="r1", question="?", tree="t", at=1.0, owner=None, project="p", request={"a": 1}
    )
    for owner, now in (("a", "2026-03-04 23:00"), ("b", f"{day} 23:30"), ("c", f"{day} 23:59")):
        set_clock(database, now)
        hold = Hold(need=need_of(LIMITS, PRICES), budgets=budgets, project="p")
        run = await runs.begin_queued("r1", owner, "t", hold)
        assert (run.lease_owner, hold.is_lowered) == (owner, False)
        assert await spent(database, **budget) == (0, 1.0, 0)
    end = {"stop_reason": "answered", "usage": {"money": 0.25, "tokens": 7}, "at": 2.0}
    await runs.finish("r1", owner="c", **end)
    assert await spent(database, **budget) == (0.25, 0, 0.75)
    assert await spent(database, span="month") == (0.25, 0, None)


async def test_more_can_be_held_for_a_run_under_way_within_its_budgets(database):
    from oracle.services.dispatch import control
    from oracle.services.dispatch.commands import Commands

    budget = {"user_money_per_day": 2.0}
    budgets = budgets_from(SpendSettings(**budget))
    await begin(database, "r1", **budget)
    found = await Runs(database).get("r1")
    await control.raise_limits(database, found, {"money": 1.5}, budgets)
    assert await spent(database, **budget) == (0, 1.5, 0.5)
    with pytest.raises(SpendLimitReached):
        await control.raise_limits(database, found, {"money": 2.5}, budgets)
    assert [command for _, command in await Commands(database).of_run("r1")] == [
        {"raise": {"money": 1.5}}
    ]


async def test_what_was_spent_stays_when_its_run_is_deleted(database):
    await begin(database, "r1")
    await finish(database, "r1", money=0.25)
    await database.write(lambda c: c.execute("DELETE FROM runs"))
    assert (await spent(database))[0] == 0.25


async def test_a_run_is_settled_once(database):
    await begin(database, "r1")
    await finish(database, "r1", money=0.25)
    with pytest.raises(InputError):
        await finish(database, "r1", money=0.25)
    assert (await spent(database))[:2] == (0.25, 0)


async def test_a_run_from_before_there_were_budgets_counts_when_it_ends(database):
    await Runs(database).begin(run_id="r1", question="?", tree="t", at=1.0, owner="a", project="p")
    await finish(database, "r1", money=0.25, tokens=3)
    assert (await spent(database))[:2] == (0.25, 0)


@given(st.floats(0, 1e6, allow_nan=False))
def test_money_is_never_counted_as_less(money):
    assert money * MILLION <= millionths(money) + 1e-3
    assert millionths(money) <= money * MILLION + 1


steps = st.lists(
    st.tuples(st.sampled_from("be"), st.integers(0, 7), st.integers(0, 120)), max_size=30
)


@pytest.mark.extra
@given(steps, st.integers(0, 300), st.integers(1, 120))
def test_whatever_begins_and_ends_nothing_exceeds_the_budget(tmp_path_factory, steps, limit, most):
    """Each run costs at most what it was granted. `b` begins a run, `e` ends one."""

    async def play():
        file = tmp_path_factory.mktemp("spend") / "oracle.db"
        async with await Database.open(file) as database:
            granted, costs = {}, []
            for number, (what, which, cost) in enumerate(steps):
                if what == "b":
                    try:
                        limit_of_run = await begin(
                            database, f"r{number}", money=most / 100, user_money_per_day=limit / 100
                        )
                    except SpendLimitReached:
                        continue
                    granted[f"r{number}"] = limit_of_run
                elif granted:
                    run_id = sorted(granted)[which % len(granted)]
                    costs.append(min(cost / 100, granted.pop(run_id)))
                    await finish(database, run_id, money=costs[-1])
                now_spent, held, _ = await spent(database)
                assert now_spent + held <= limit / 100 + 1e-9
                assert now_spent == pytest.approx(sum(costs))
                assert held == pytest.approx(sum(granted.values()))

    asyncio.run(play())


CLAIM = """
import asyncio, json, sys
from oracle.errors import SpendLimitReached
from oracle.services.settings.team_sections import SpendSettings
from oracle.services.storage.budgets import budgets_from, need_of
from oracle.services.storage.database import Database
from oracle.services.storage.runs import Runs
from oracle.services.storage.spend import Hold

async def main(url, name, limits, prices):
    granted = []
    async with await Database.open(url) as database:
        for number in range(6):
            hold = Hold(need=need_of(limits, prices), project="p",
                        budgets=budgets_from(SpendSettings(user_money_per_day=5.0)))
            run = {"run_id": f"{name}-{number}", "owner": name, "project": "p", "hold": hold}
            try:
                await Runs(database).begin(question="?", tree="t", at=1.0, **run)
            except SpendLimitReached:
                continue
            granted.append(hold.granted.money)
            if number % 2:
                usage = {"money": min(0.3, hold.granted.money / 1e6), "tokens": 10}
                await Runs(database).finish(run["run_id"], owner=name, stop_reason="answered",
                                            usage=usage, at=2.0)
    print(json.dumps(granted))

asyncio.run(main(sys.argv[1], sys.argv[2], *json.loads(sys.argv[3])))
"""


@pytest.mark.extra
async def test_sixteen_processes_at_once_never_exceed_a_budget(database_url, database):
    """Half of the runs end, the processes of the others are gone: those stay held."""
    given_ = json.dumps([{**LIMITS, "money": 0.5}, PRICES])
    url = database_url.with_password()
    await asyncio.gather(
        *(
            asyncio.to_thread(run, [sys.executable, "-c", CLAIM, url, f"w{n}", given_])
            for n in range(16)
        )
    )
    now_spent, held, _ = await spent(database, user_money_per_day=5.0)
    assert 0 < now_spent + held <= 5.0
    rows = await database.read(lambda c: c.rows("SELECT state, money_held, money_spent FROM spend"))
    assert round(held * MILLION) == sum(row[1] for row in rows if row[0] == "held")
    assert round(now_spent * MILLION) == sum(row[2] for row in rows if row[0] == "settled")


async def test_sixteen_claimers_in_one_process_never_exceed_a_budget(database):
    budget = {"user_money_per_day": 5.0}
    results = await asyncio.gather(
        *(begin(database, f"r{n}", **budget) for n in range(16)), return_exceptions=True
    )
    assert sum(each for each in results if isinstance(each, float)) == 5.0
    assert sum(isinstance(each, SpendHeld) for each in results) == 11


def test_a_need_without_a_limit_takes_what_is_left():
    assert need_of({**LIMITS, "money": None}, PRICES) == Need(None, 1000)
    assert need_of(LIMITS, None) == Need(0, 1000, is_price_known=False)
