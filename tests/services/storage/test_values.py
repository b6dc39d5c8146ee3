"""Both databases keep the same values, whatever a model or a file has put into them."""

import pytest

from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.runs import Runs
from oracle.services.storage.sessions import Sessions
from oracle.services.storage.values import storable

ODD = "tab\t, quote ' \" \\, \\u0000, emoji 🍵, \x1b[31m, \0, \udc80, عربى, :name %s %(x)s {}"


@pytest.mark.parametrize(
    ("text", "kept"), [("a\0b", "a\ufffdb"), ("\udcff", "\ufffd"), ("🍵\u0085", "🍵\u0085")]
)
def test_only_what_cannot_be_stored_is_replaced(text, kept):
    assert storable(text) == kept


async def test_odd_text_comes_back(conversation, exchange):
    metadata = {ODD: [ODD, {"deep": (ODD, 1, 2.5, None, True, 10**15)}]}
    await Exchanges(conversation).append(exchange("e5", "e1", metadata=metadata))
    kept = storable(ODD)
    found = (await Exchanges(conversation).get("e5")).metadata
    assert found == {kept: [kept, {"deep": [kept, 1, 2.5, None, True, 10**15]}]}


async def test_odd_text_in_columns_comes_back(database):
    await Sessions(database).create(session_id="s", title=ODD, at=1.0)
    run = await Runs(database).begin(
        run_id="r", question=ODD, tree=ODD, at=1e9 + 0.123456, owner=ODD, lease_seconds=60
    )
    assert (run.question, run.tree, run.lease_owner) == (storable(ODD),) * 3
    assert run.started_at == 1e9 + 0.123456


async def test_the_clock_of_the_database_is_right(database):
    from time import time

    now = await database.read(lambda c: c.first(f"SELECT {c.backend.now}"))
    assert now == pytest.approx(time(), abs=60)
