"""A real server on a real port, in a process thread of its own, with a scripted model."""

import asyncio
import queue
import threading
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from oracle.api.app import create_app
from oracle.api.door import opened
from oracle.api.serving import listening, server_of
from oracle.settings import load_settings
from oracle.testing import ScriptedModel


class Served:
    def __init__(self, address: str, root: Path, stop) -> None:
        self.address = address
        self.root = root
        self.stop = stop
        # Without `verify=False` each client reads all certificates, which takes longer than a test.
        options = {"timeout": 30, "trust_env": False, "verify": False}
        self.http = httpx.Client(base_url=address, **options)

    def ask(self, question: str = "Where is login defined?", **more):
        return self.http.post("/api/oracle", json={"question": question, **more})


@contextmanager
def serving(root: Path, model, **options):
    """Until the end of the block. `stop()` stops it before."""
    settings = load_settings(root)
    socket = listening("127.0.0.1", 0)
    started: queue.SimpleQueue = queue.SimpleQueue()

    async def serve() -> None:
        async with opened(settings, root, model=model, **options) as door:
            seconds = options.get("seconds_to_close", 1)
            server = server_of(create_app(door), drain=door.runs.close, seconds_to_close=seconds)
            started.put((server, door, asyncio.get_running_loop()))
            await server.serve(sockets=[socket])

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    server, door, loop = started.get(timeout=30)

    def stop() -> None:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server does not stop"

    served = Served(f"http://127.0.0.1:{socket.getsockname()[1]}", root, stop)
    served.door = door
    served.uvicorn = server
    served.run = lambda work: asyncio.run_coroutine_threadsafe(work, loop).result(30)
    try:
        yield served
    finally:
        served.http.close()
        stop()
        socket.close()


@pytest.fixture
def root(tmp_path):
    (tmp_path / "oracle.toml").write_text("")
    (tmp_path / "auth.py").write_text("def login():\n    return True\n")
    return tmp_path


@pytest.fixture
def serve(root):
    """`with serve(*replies) as server:` plays the replies."""

    def serve(*replies, model=None, **options):
        return serving(root, model or ScriptedModel(*replies), **options)

    return serve


@pytest.fixture
def server(serve):
    """One for all rows of a table (`each_row`); its model has nothing to say."""
    with serve() as server:
        yield server
