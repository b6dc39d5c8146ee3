"""A question that is stored for another process arrives there as it was asked, without secrets."""

import pytest

from oracle.bt.wrappers.queueing import options_of, store_question
from oracle.bt.wrappers.recipe import AgentSetup
from oracle.bt.wrappers.run_store import BEFORE_FIRST, RunStore
from oracle.errors import InputError, NotFound
from oracle.models.session import Exchange
from oracle.models.source import Given
from oracle.services.control.ledger import Limits
from oracle.services.dispatch.queue import Queue

KEY = "sk-proj-" + "a1B2c3D4" * 6


async def stored(database, question="Where is the login?", context_id=None, **options):
    store = RunStore(database)
    await store_question(store, AgentSetup(), question, context_id, run_id="r1", **options)
    return await store.runs.get("r1"), await Queue(database, None).request_of("r1")


async def test_it_waits_in_a_session_of_its_own_and_nobody_holds_it(database):
    run, request = await stored(database)
    assert (run.status, run.lease_owner, run.door) == ("running", None, "queue")
    assert run.session_id is not None
    assert (request["session_id"], request["context_id"]) == (run.session_id, BEFORE_FIRST)


async def test_what_was_given_arrives(database):
    given, limits = Given(text="a text"), Limits(turns=3)
    history = [Exchange(id="e", session_id="s", question="a?", answer="b", created_at=1.0)]
    run, request = await stored(database, given=given, limits=limits, history=history)
    options = options_of(request)
    assert options["given"].text == "a text"
    assert (options["limits"], options["history"]) == (limits, history)
    # A conversation that the client keeps has no session here.
    assert (run.session_id, options["session_id"], options["context_id"]) == (None, None, None)


@pytest.mark.parametrize(("approve", "expected"), [(None, None), ("as usual", "as usual")])
async def test_who_may_be_asked_and_who_may_write_is_decided_where_the_user_is_known(
    database, approve, expected
):
    _, request = await stored(database, approve=approve, may_write=False)
    assert options_of(request)["approve"] == expected
    assert request["may_write"] is False


async def test_no_secret_is_stored(database):
    history = [Exchange(id="e", session_id="s", question=KEY, answer=KEY, created_at=1.0)]
    run, request = await stored(database, f"Why {KEY}?", given=Given(text=KEY), history=history)
    assert KEY not in repr((run, request))


async def test_a_mistake_is_refused_before_anything_is_stored(database):
    with pytest.raises(InputError, match="the question is empty"):
        await stored(database, " ")
    with pytest.raises(NotFound):
        await stored(database, context_id="nowhere")
    assert await RunStore(database).runs.newest() == []
