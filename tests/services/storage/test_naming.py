"""A run, session or exchange is named by its id, a unique prefix of it, or `last`."""

import time

import pytest

from oracle.errors import InputError, NotFound
from oracle.models.session import Exchange
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.naming import Naming, short_run_ids
from oracle.services.storage.records import shortened_ids
from oracle.services.storage.runs import Runs
from oracle.services.storage.sessions import Sessions

GONE = "elsewhere:1:a"


async def begin(database, run_id, at=1.0, *, session_id=None, seconds=0.0, project=None):
    question = {"question": "why?", "tree": "oracle-agent", "owner": GONE}
    await Runs(database).begin(
        run_id=run_id,
        at=at,
        lease_seconds=seconds,
        session_id=session_id,
        project=project,
        **question,
    )


async def test_last_is_the_newest_of_the_project(database):
    await begin(database, "aa11", at=1.0, project="ours")
    await begin(database, "aa22", at=2.0, project="ours")
    await begin(database, "bb33", at=3.0, project="theirs")
    assert (await Naming(database, "ours").run()).id == "aa22"
    assert (await Naming(database).run("last")).id == "bb33"
    assert (await Naming(database, "ours").run("bb")).id == "bb33"


@pytest.mark.parametrize("noun", ["run", "session"])
async def test_without_any_the_error_says_how_to_get_one(database, noun):
    with pytest.raises(
        NotFound, match=f"there are no {noun}s yet; ask something first: oracle ask"
    ):
        await getattr(Naming(database), noun)()


async def test_an_ambiguous_prefix_lists_ids_that_can_be_typed(database):
    await begin(database, "0123456789aa")
    await begin(database, "0123456789bb")
    with pytest.raises(InputError, match="run '0' is ambiguous: 0123456789a, 0123456789b; type"):
        await Naming(database).run("0")


async def test_an_id_of_the_other_kind_names_its_command(database):
    await Sessions(database).create(session_id="cafe", title="t", at=1.0)
    await begin(database, "beef", session_id="cafe")
    with pytest.raises(NotFound, match="no session 'be'; it is a run: `oracle run show be`"):
        await Naming(database).session("be")
    with pytest.raises(NotFound, match="no run 'ca'; it is a session: `oracle sessions show ca`"):
        await Naming(database).run("ca")


async def test_only_an_interrupted_run_is_the_last_to_resume(database):
    with pytest.raises(NotFound, match="there are no runs yet; ask something first"):
        await Naming(database).interrupted_run()
    await begin(database, "died", at=1.0, seconds=-60)
    await begin(database, "held", at=2.0, seconds=600)
    await begin(database, "done", at=3.0, seconds=600)
    await Runs(database).finish("done", owner=GONE, stop_reason="answered", usage={}, at=4.0)
    assert (await Naming(database).interrupted_run()).id == "died"
    assert (await Naming(database).interrupted_run("held")).id == "held"


async def test_a_conversation_goes_on_at_its_end_or_after_an_exchange(database):
    await Sessions(database).create(session_id="cafe", title="t", at=time.time())
    exchange = Exchange(id="e1", session_id="cafe", question="?", answer="!", created_at=1.0)
    await Exchanges(database).append(exchange)
    naming = Naming(database)
    assert [found and found.id for found in await naming.place("last")] == ["cafe", None]
    assert [found and found.id for found in await naming.place("e")] == ["cafe", "e1"]
    with pytest.raises(NotFound, match="no session 'x'"):
        await naming.place("x")


async def test_short_ids_are_unique_in_the_whole_table(database):
    for run_id in ("01234567aaaa", "01234567aabb", "fedcba98aaaa"):
        await begin(database, run_id)
    short = await short_run_ids(database, ["01234567aaaa", "fedcba98aaaa"])
    assert short == {"01234567aaaa": "01234567aaa", "fedcba98aaaa": "fedcba98"}


def test_an_id_that_begins_another_one_is_shown_whole():
    ids = ["01234567", "0123456789"]
    assert shortened_ids(ids, ids) == {"01234567": "01234567", "0123456789": "012345678"}
