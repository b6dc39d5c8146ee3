"""The application: its routes, and what every request must pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oracle.api.access import Access
from oracle.api.compression import LEAST_BYTES, LEVEL
from oracle.api.door import Door
from oracle.api.guard import LOOPBACK, Guard
from oracle.api.metrics import Metrics
from oracle.api.openai import completions, responses
from oracle.api.openai.problems import OpenAIErrors, handle_openai_problems
from oracle.api.problems import DOCUMENTED, handle_problems, problem
from oracle.api.rates import Rates
from oracle.api.routes import (
    asking,
    comparing,
    definitions,
    health,
    mind,
    page,
    runs,
    sessions,
    source,
)
from oracle.api.rules import check_rule, describe_access

OPENAI: dict[int | str, dict[str, Any]] = {
    status: {**row, "model": OpenAIErrors} for status, row in DOCUMENTED.items()
}
ABOUT = "Answers questions about a project. A behavior tree controls the language model."


def create_app(
    door: Door, *, hosts: Sequence[str] = LOOPBACK, is_reachable: bool = False
) -> ASGIApp:
    """`door` is what all requests share. `hosts` are the names that the server is called by.

    A server that `is_reachable` from other machines always needs a token, whatever its name.
    """
    app = routes_of(door)
    limits = door.settings.server
    access = Access(
        app,
        tokens=door.tokens,
        rates=Rates(limits.requests_per_minute),
        is_required=is_reachable,
    )
    return Guard(
        _counted(GZipMiddleware(access, LEAST_BYTES, LEVEL), door.metrics),
        hosts=hosts,
        any_host=is_reachable,
        most_bytes=limits.most_bytes,
    )


def routes_of(door: Door) -> FastAPI:
    """All routes, to be used inside of `Access` only."""
    app = FastAPI(
        title="oracle",
        version=version("bt-oracle"),
        description=ABOUT,
        redoc_url=None,
        # For a route that is added later: it needs a rule too.
        dependencies=[Depends(check_rule)],
    )
    app.state.door = door
    handle_problems(app)
    handle_openai_problems(app)
    app.router.routes.extend(_shared_routes())
    app.router.routes.append(
        Route(
            "/mcp",
            endpoint=door.mcp or _Absent(door.why_no_mcp),
            methods=["GET", "POST", "DELETE"],
            include_in_schema=False,
        )
    )
    describe_access(app)
    return app


@cache
def _shared_routes() -> Sequence[BaseRoute]:
    """The routes that are the same for each door: they find it in the state of the application.

    FastAPI prepares a route at its first request and keeps the result in the objects made here.
    """
    router = APIRouter(responses=DOCUMENTED, dependencies=[Depends(check_rule)])
    for each in (asking, runs, source, mind, comparing, sessions, definitions, page, health):
        router.include_router(each.router)
    for each in (completions, responses):
        router.include_router(each.router, responses=OPENAI)
    return tuple(router.routes)


class _Absent:
    """Says why there is nothing here. It is a class, because `Route` calls a function otherwise."""

    def __init__(self, why: str) -> None:
        self._why = why

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await problem(501, "NotHere", self._why, scope=scope)(scope, receive, send)


def _counted(app: ASGIApp, metrics: Metrics) -> ASGIApp:
    """Count the responses by their status."""

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                metrics.requests[scope["method"], message["status"]] += 1
            await send(message)

        await app(scope, receive, sending if scope["type"] == "http" else send)

    return counted
