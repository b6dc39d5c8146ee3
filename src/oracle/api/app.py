"""The application: its routes, and what every request must pass."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oracle.api.door import Door
from oracle.api.guard import LOOPBACK, Guard
from oracle.api.openai import completions, responses
from oracle.api.openai.problems import handle_openai_problems
from oracle.api.problems import DOCUMENTED, handle_problems
from oracle.api.routes import asking, definitions, health, runs, sessions

ABOUT = "Answers questions about a project. A behavior tree controls the language model."


def create_app(door: Door, *, hosts: Sequence[str] = LOOPBACK) -> ASGIApp:
    """`door` is what all requests share. `hosts` are the names that the server is called by."""
    app = FastAPI(
        title="oracle",
        version=version("bt-oracle"),
        description=ABOUT,
        redoc_url=None,
        responses=DOCUMENTED,
    )
    app.state.door = door
    handle_problems(app)
    handle_openai_problems(app)
    for each in (asking, runs, sessions, definitions, health, completions, responses):
        app.include_router(each.router)
    if door.mcp is not None:
        app.router.routes.append(Route("/mcp", endpoint=door.mcp, include_in_schema=False))
    return Guard(_counted(app), hosts=hosts)


def _counted(app: FastAPI) -> ASGIApp:
    """Count the responses by their status."""

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                app.state.door.metrics.requests[scope["method"], message["status"]] += 1
            await send(message)

        await app(scope, receive, sending if scope["type"] == "http" else send)

    return counted
