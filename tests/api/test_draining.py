"""A worker stops when it is told to, whatever becomes of its connections meanwhile."""

import threading

import psycopg
import pytest

from tests.api.test_asking import GatedModel, asked, found, look
from tests.api.test_workers import working

CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = %s AND pid <> pg_backend_pid()"
)


@pytest.fixture
def cut(postgresql_server, postgresql_url):
    """Ends all connections to the database of the test, again and again, until it is told."""
    done, is_cutting = threading.Event(), threading.Event()

    def work():
        with psycopg.connect(postgresql_server, autocommit=True) as connection:
            while not done.wait(0.02):
                connection.execute(CUT, [postgresql_url.database])
                is_cutting.set()

    thread = threading.Thread(target=work)

    def begin():
        thread.start()
        assert is_cutting.wait(30)

    yield begin
    done.set()
    if thread.ident is not None:
        thread.join()


@pytest.fixture
def front_end(serve, postgresql_url, monkeypatch):
    monkeypatch.setenv("ORACLE_DATABASE_URL", postgresql_url.with_password())
    with serve(has_workers_elsewhere=True) as server:
        yield server


@pytest.mark.parametrize("when", ["idle", "under way", "about to claim"])
def test_a_worker_drains_while_its_connections_are_cut(front_end, root, cut, when):
    model = GatedModel(look(), found())
    with working(root, model=model) as worker:
        if when == "idle":
            cut()
            return
        with asked(front_end) as events:
            run_id = next(events)[0].partition(":")[0]
            assert model.is_reached.wait(20)
            assert run_id in worker._tasks
            if when == "about to claim":
                with front_end.http.stream(
                    "POST", "/api/oracle/stream", json={"question": "And where is logout?"}
                ):
                    cut()
                    return
            cut()
