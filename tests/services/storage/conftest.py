"""A database with one conversation in it."""

import pytest

from oracle.models.session import Exchange
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.sessions import Sessions


def exchange(name, parent=None, *, session="s1", **fields):
    """`e3` is the third exchange, made at 3.0."""
    return Exchange(
        id=name,
        session_id=session,
        parent_id=parent,
        question=f"question {name}",
        answer=f"answer {name}",
        created_at=float(name[1:]),
        **fields,
    )


@pytest.fixture(name="exchange")
def exchange_maker():
    return exchange


@pytest.fixture
async def conversation(database):
    """Three exchanges, and a branch at the second: e1, e2, then e3 or e4."""
    await Sessions(database).create(session_id="s1", title="On tea", at=1.0)
    for name, parent in [("e1", None), ("e2", "e1"), ("e3", "e2"), ("e4", "e2")]:
        await Exchanges(database).append(exchange(name, parent))
    return database
