"""Both loops on one question: what is shared, what is compared, and that the user never notices."""

import asyncio

import pytest

from oracle import Oracle
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.recipe import BASELINE, TREE
from oracle.bt.wrappers.run_store import open_store
from oracle.bt.wrappers.shadow_mode import NOT_AVAILABLE, WAITING, ShadowMode, is_chosen
from oracle.errors import InputError, ModelError
from oracle.services.ans.bus import event_bus_replaced
from oracle.services.comparison.choosing import SHADOW_LIMIT, chosen
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Prices
from oracle.services.storage.database import as_url
from oracle.testing import RecordingBus, Reply, ScriptedModel, ScriptedTools, signal
from tests.scenarios import CODE, TOOLS, held

LOOK = Reply(calls=[("search_code", {"query": "login"})])
ENOUGH = signal("context_sufficient", sources_found=1)
FOUND = "It is in auth.py:3." + ENOUGH


def first_then(first, then):
    """A model whose later runs get other replies: those of the shadow."""

    def reply(request):
        is_plain = "<signal" not in request.messages[0]["content"]
        turn = sum(m["role"] == "assistant" for m in request.messages)
        replies = then if is_plain else first
        chosen = replies[min(turn, len(replies) - 1)]
        return chosen(request) if callable(chosen) else chosen

    return ScriptedModel(reply, repeats_last=True)


class World:
    def __init__(self, store, *, model=None, tools=None, **options):
        self.store = store
        self.tools = ScriptedTools(tools or TOOLS)
        self.model = model or first_then([LOOK, FOUND], [LOOK, FOUND])
        self.agent = OracleBTWrapper(model=self.model, tools=self.tools, store=store, **options)
        self.shadow = ShadowMode(self.agent.setup, store, money=0.25)

    async def ask(self):
        chunks = [chunk async for chunk in self.agent.process_query(CODE)]
        return chunks[-1]

    async def compare(self):
        done = await self.ask()
        return await self.shadow.compare(done["run_id"])


@pytest.fixture
async def store(tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        yield store


async def test_the_other_loop_answers_the_same_question(store):
    found = await World(store).compare()
    assert (found.tree.stop_reason, found.baseline.stop_reason) == ("answered", "answered")
    assert found.served == "tree"
    assert (found.shared_words, found.shared_citations) == (1.0, 1.0)
    shadow = await store.runs.get(found.shadow_run_id)
    assert (shadow.tree, shadow.shadow_of) == (BASELINE, found.run_id)


async def test_where_the_plain_loop_serves_the_tree_is_the_shadow(store):
    found = await World(store, loop="baseline").compare()
    assert found.served == "baseline"
    assert (await store.runs.get(found.shadow_run_id)).tree == TREE


async def test_results_are_shared_and_only_new_calls_are_run(store):
    other = Reply(calls=[("search_code", {"query": "login"}), ("search_vault", {"query": "x"})])
    world = World(store, model=first_then([LOOK, FOUND], [other, FOUND]))
    await world.compare()
    assert world.tools.calls == [
        ("search_code", {"query": "login"}),
        ("search_vault", {"query": "x"}),
    ]


async def test_a_shadow_writes_nothing_and_writes_are_not_compared(store):
    write = Reply(calls=[("write_note", {"title": "x"})])
    world = World(
        store,
        model=first_then([LOOK, FOUND], [write, FOUND]),
        tools={"search_code": "auth.py:3 def login()", "write_note": "notes/x.md"},
    )
    found = await world.compare()
    assert [name for name, _ in world.tools.calls] == ["search_code"]
    # The first loop would have written: a refusal that only the shadow meets is not its fault.
    facts = found.baseline
    assert (facts.calls, facts.failed_calls, facts.needless_calls) == (0, 0, 0)
    told = [m["content"] for m in world.model.requests[-1].messages if m["role"] == "tool"]
    assert told == [NOT_AVAILABLE]


async def test_a_shadow_that_its_lower_limit_of_money_ended_is_not_counted(store):
    """A loop that could pay for less also did less, whatever decided in it."""
    prices = Prices(input=10.0, output=10.0)
    model = ScriptedModel(LOOK, FOUND, LOOK, FOUND, prices=prices)
    world = World(store, model=model)
    world.shadow = ShadowMode(world.agent.setup, store, money=0.0)
    found = await world.compare()
    assert (found.tree.stop_reason, found.baseline.stop_reason) == ("answered", SHADOW_LIMIT)
    assert chosen([found]).counted == []


async def test_two_loops_are_never_compared_with_two_models(store):
    world = World(store)
    done = await world.ask()
    other = OracleBTWrapper(model=ScriptedModel(name="other"), tools=world.tools, store=store)
    with pytest.raises(InputError, match=r"answered by scripted.*`oracle shadow run .* --model"):
        await ShadowMode(other.setup, store).compare(done["run_id"])


async def test_calls_that_brought_nothing_to_the_answer_are_needless(store):
    wanders = [
        LOOK,
        Reply(calls=[("search_vault", {"query": "a"}), ("web_search", {"query": "b"})]),
        FOUND,
    ]
    found = await World(store, model=first_then([LOOK, FOUND], wanders)).compare()
    assert (found.tree.calls, found.tree.needless_calls) == (1, 0)
    assert (found.baseline.calls, found.baseline.needless_calls) == (3, 2)


async def test_a_comparison_is_stored_and_reported(store):
    bus = RecordingBus()
    with event_bus_replaced(bus):
        found = await World(store).compare()
    assert await store.shadow_reports.newest() == [found]
    (event,) = [event for event in bus.events if event.type == "shadow.compared"]
    assert event.run_id == found.run_id
    assert event.payload["tree"]["calls"] == 1
    assert "answer" not in event.payload["tree"]


async def test_users_are_not_shown_the_runs_of_shadows(store):
    found = await World(store).compare()
    assert [run.id for run in await store.runs.newest()] == [found.run_id]
    session = (await store.runs.get(found.run_id)).session_id
    assert [exchange.id for exchange in await store.exchanges_of(session)] == [found.run_id]


async def test_a_shadow_has_a_limit_of_money_of_its_own(store):
    world = World(store)
    done = await world.ask()
    await ShadowMode(world.agent.setup, store, money=0.01).compare(done["run_id"])
    (report,) = await store.shadow_reports.newest()
    records, _ = await store.record_of(report.shadow_run_id)
    assert records[0].body["board"]["limits"]["money"] == 0.01


@pytest.mark.parametrize("which", ["a shadow", "a run that is not done"])
async def test_what_cannot_be_compared_is_refused(store, which):
    world = World(store)
    found = await world.compare()
    run_id = found.shadow_run_id
    if which != "a shadow":
        world = World(store, model=ScriptedModel(held("I "), repeats_last=True))
        stream = world.agent.process_query(CODE)
        await anext(stream)
        run_id = (await store.runs.newest())[0].id
    with pytest.raises(InputError, match="cannot be compared"):
        await world.shadow.compare(run_id)
    if which != "a shadow":
        await stream.aclose()


# -- behind the user's back ------------------------------------------------------------------------


def hanging(begun):
    """A reply that never ends, and says when it has begun."""

    def reply(request):
        begun.set()
        return held("I wait ")(request)

    return reply


def followed(store, then, **options):
    world = World(store, model=first_then([LOOK, FOUND], then), **options)
    world.agent.follow = world.shadow.follow
    return world


@pytest.mark.parametrize(
    "then",
    [
        [held("I wait ")],
        [Reply(raises=ModelError("down"))],
        [Reply(raises=ZeroDivisionError("a mistake"))],
        [Reply(text="word " * 50_000)],
        [LOOK],
    ],
    ids=["hangs", "is down", "raises", "floods", "loops"],
)
async def test_whatever_a_shadow_does_the_user_has_the_answer(store, then, caplog):
    world = followed(store, then)
    done = await world.ask()
    assert (done["stop_reason"], done["answer"]) == ("answered", "It is in auth.py:3.")
    assert (await store.runs.get(done["run_id"])).status == "done"
    await world.shadow.close()
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize(
    ("then", "stop"),
    [
        ([Reply(raises=ModelError("down"))], "model_unavailable"),
        ([Reply(raises=ZeroDivisionError("a mistake"))], "internal_error"),
        ([LOOK, Reply(text="word " * 50_000)], "token_limit"),
    ],
    ids=["is down", "raises", "floods"],
)
async def test_a_shadow_that_fails_or_floods_is_compared_as_what_it_was(store, then, stop):
    world = followed(store, then)
    await world.ask()
    await world.shadow.wait()
    (found,) = await store.shadow_reports.newest()
    assert (found.tree.stop_reason, found.baseline.stop_reason) == ("answered", stop)


async def test_while_a_shadow_hangs_the_user_can_ask_again(store):
    world = followed(store, [hanging(begun := asyncio.Event())])
    await world.ask()
    await begun.wait()
    done = await world.ask()
    assert (done["stop_reason"], len(world.model.requests)) == ("answered", 5)
    await world.shadow.close()
    assert await store.shadow_reports.newest() == []


async def test_a_shadow_that_hangs_ends_at_its_time_limit_and_the_next_one_begins(store):
    world = followed(store, [held("I wait ")], limits=Limits(seconds=0.2))
    for _ in range(2):
        await world.ask()
    await world.shadow.wait()
    found = await store.shadow_reports.newest()
    assert [each.baseline.stop_reason for each in found] == ["time_limit", "time_limit"]


async def test_a_shadow_outlives_the_agent_of_its_user(store):
    world = followed(store, [hanging(begun := asyncio.Event())], limits=Limits(seconds=0.2))
    await world.ask()
    await begun.wait()
    del world.agent
    await world.shadow.wait()
    (found,) = await store.shadow_reports.newest()
    assert found.baseline.stop_reason == "time_limit"


async def test_when_the_agent_closes_a_shadow_that_hangs_is_given_up(store):
    world = followed(store, [hanging(begun := asyncio.Event())])
    done = await world.ask()
    await begun.wait()
    await world.shadow.close()
    assert not world.shadow._following
    assert (await store.runs.get(done["run_id"])).status == "done"


async def test_a_shadow_begins_after_the_answer(store):
    world = followed(store, [LOOK, FOUND])
    async for chunk in world.agent.process_query(CODE):
        if chunk.type == "done":
            assert len(world.model.requests) == 2
    await world.shadow.wait()
    assert len(world.model.requests) == 4
    assert len(await store.shadow_reports.newest()) == 1


async def test_no_more_than_so_many_wait(store):
    world = followed(store, [held("I wait ")])
    for _ in range(3):
        await world.ask()
    for _ in range(2 * WAITING):
        world.shadow.follow((await store.runs.newest())[0].id, "answered")
    assert len(world.shadow._following) == WAITING
    await world.shadow.close()
    assert await store.shadow_reports.newest() == []


async def test_what_was_cancelled_is_not_compared(store):
    world = followed(store, [LOOK])
    world.shadow.follow("any", "cancelled")
    assert not world.shadow._following


def test_a_share_of_the_runs_is_chosen_always_the_same_ones():
    ids = [f"run{number}" for number in range(2_000)]
    chosen = [id_ for id_ in ids if is_chosen(id_, "answered", 0.25)]
    assert 400 < len(chosen) < 600
    assert chosen == [id_ for id_ in ids if is_chosen(id_, "answered", 0.25)]
    assert not any(is_chosen(id_, "answered", 0.0) for id_ in ids)
    assert all(is_chosen(id_, "answered", 1.0) for id_ in ids)


async def test_an_oracle_in_shadow_mode_compares_each_question(tmp_path, monkeypatch):
    monkeypatch.setenv("ORACLE_USE_BT", "shadow")
    (tmp_path / "oracle.toml").touch()
    model = first_then([LOOK, FOUND], [LOOK, FOUND])
    async with Oracle(project=tmp_path, model=model, tools=ScriptedTools(TOOLS)) as oracle:
        answer = await oracle.ask(CODE)
        assert answer.text == "It is in auth.py:3."
        async with oracle._open_store() as store:
            await oracle._shadow.wait()
            found = await store.shadow_reports.newest()
    assert found[0].run_id == answer.run_id
