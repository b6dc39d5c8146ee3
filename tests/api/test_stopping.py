"""What a signal does to the server and its runs, and what the next server does with them."""

import asyncio
import logging
import signal

import httpx

from oracle.api.serving import listening, server_of
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import open_store
from oracle.models.stream_chunk import ChunkType
from oracle.services.storage.database import url_for_writing
from oracle.settings import load_settings
from oracle.testing import ScriptedModel
from tests.api.test_asking import GatedModel, asked, found, look


async def hello(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


async def test_a_second_signal_interrupts_all_runs_at_once(monkeypatch):
    # A signal is for the whole process: what MCP streams with remembers it there.
    monkeypatch.setattr("sse_starlette.sse.AppStatus.should_exit", False)
    begun = asyncio.Event()
    given = []

    async def drain(seconds):
        given.append(seconds)
        begun.set()
        if seconds:
            await asyncio.Event().wait()

    server = server_of(hello, drain=drain, seconds_to_close=600)
    socket = listening("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve(sockets=[socket]))
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.get(f"http://127.0.0.1:{socket.getsockname()[1]}/")
    server.handle_exit(signal.SIGTERM, None)
    await begun.wait()
    server.handle_exit(signal.SIGTERM, None)
    await serving
    assert given == [600, 0]


def test_the_log_names_each_run_that_is_resumed(serve, caplog):
    model = GatedModel(look(), found())
    with serve(model=model, seconds_to_close=0) as server:
        with asked(server) as events:
            run_id = next(events)[0].partition(":")[0]
            assert model.is_reached.wait(20)
        server.stop()
    with caplog.at_level(logging.WARNING, "oracle.api"), serve(found()):
        pass
    assert f"run {run_id} was interrupted and is resumed" in caplog.text


async def left_behind(root):
    """Ask as the terminal does, and leave in the middle."""
    settings = load_settings(root)
    async with open_store(url_for_writing(settings)) as store:
        agent = project_agent(settings, root=root, model=GatedModel(look(), found()), store=store)
        run = agent.new_run("Where is login defined?")
        async for chunk in run.chunks():
            if chunk.type == ChunkType.TURN_END:
                run.hand_over()
        return (await store.runs.newest(1))[0].id


def test_a_run_of_the_terminal_waits_for_its_user(serve, root, caplog):
    run_id = asyncio.run(left_behind(root))
    model = ScriptedModel(found())
    with serve(model=model) as server:
        assert server.http.get(f"/api/runs/{run_id}").json()["run"]["status"] != "done"
    assert (model.requests, "is resumed" in caplog.text) == ([], False)
