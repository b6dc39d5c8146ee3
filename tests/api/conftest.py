"""A real server on a real port, in a process thread of its own, with a scripted model."""

import asyncio
import threading
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from oracle.api.app import create_app
from oracle.api.door import opened
from oracle.settings import load_settings
from oracle.testing import ScriptedModel

uvicorn = pytest.importorskip("uvicorn", reason="the extra [server] is not installed")


class Served:
    def __init__(self, address: str, root: Path, stop) -> None:
        self.address = address
        self.root = root
        self.stop = stop
        self.http = httpx.Client(base_url=address, timeout=30, trust_env=False)

    def ask(self, question: str = "Where is login defined?", **more):
        return self.http.post("/api/oracle", json={"question": question, **more})


@contextmanager
def serving(root: Path, model, **options):
    """Until the end of the block. `stop()` stops it before."""
    settings = load_settings(root)
    app = create_app(lambda: opened(settings, root, model=model, **options))
    config = uvicorn.Config(
        app, port=0, log_level="error", timeout_graceful_shutdown=1, lifespan="on"
    )
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    socket.listen()
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[socket])), daemon=True
    )
    thread.start()

    def stop() -> None:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server does not stop"

    served = Served(f"http://127.0.0.1:{socket.getsockname()[1]}", root, stop)
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
