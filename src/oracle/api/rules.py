"""What a token must allow for each route. A route that is not in this table is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from fastapi import FastAPI, Request
from starlette.routing import compile_path
from starlette.types import Scope as Connection

from oracle.errors import DeveloperError
from oracle.lazy_dataclass import dataclass
from oracle.services.storage.tokens import Scope

Needs: TypeAlias = Scope | Literal["nothing"]

RULES: Final[Mapping[str, Needs]] = {
    "GET /healthz": "nothing",
    "GET /readyz": "nothing",
    # The page is the same for everybody. What it shows, it asks for with the user's token.
    "GET /": "nothing",
    "GET /s/{session_id}": "nothing",
    "GET /runs": "nothing",
    "GET /runs/{run_id}": "nothing",
    "GET /trees": "nothing",
    "GET /trees/{name}": "nothing",
    "GET /compare": "nothing",
    "GET /compare/{first}/{second}": "nothing",
    "GET /page/{path:path}": "nothing",
    "GET /api/page": "read",
    # Counts what all users do, but nothing of what they say.
    "GET /metrics": "read",
    "GET /docs": "read",
    "GET /docs/oauth2-redirect": "read",
    "GET /openapi.json": "read",
    "POST /api/oracle": "ask",
    "POST /api/oracle/stream": "ask",
    "GET /api/runs/{run_id}/stream": "read",
    "POST /api/runs/{run_id}/cancel": "ask",
    # It may cost more than the server allows for a run.
    "POST /api/runs/{run_id}/limits": "write",
    "GET /api/spend": "read",
    "GET /api/runs/{run_id}/approvals": "read",
    # To allow a tool that writes, the route asks for `write` as well.
    "POST /api/runs/{run_id}/approvals/{approval_id}": "ask",
    "GET /api/runs": "read",
    "GET /api/runs/{run_id}": "read",
    "GET /api/runs/{run_id}/export": "read",
    "GET /api/runs/{run_id}/mind": "read",
    "GET /api/runs/{run_id}/trees": "read",
    "GET /api/runs/{run_id}/breaks": "read",
    "POST /api/runs/{run_id}/breaks": "ask",
    "DELETE /api/runs/{run_id}/breaks": "ask",
    "POST /api/runs/{run_id}/continue": "ask",
    # It spends nothing, but it keeps a processor busy.
    "POST /api/runs/{run_id}/replay": "ask",
    "GET /api/compare/{first}/{second}": "read",
    # Who may ask can have each of these files quoted; who may only read cannot.
    "GET /api/source": "ask",
    "GET /api/lines": "ask",
    "GET /api/events": "read",
    "GET /api/shadow-reports": "read",
    "GET /api/shadow": "read",
    "GET /api/sessions": "read",
    "GET /api/sessions/{session_id}": "read",
    "GET /api/sessions/{session_id}/export": "read",
    "PATCH /api/sessions/{session_id}": "write",
    "DELETE /api/sessions/{session_id}": "write",
    "GET /api/trees": "read",
    "GET /api/trees/{name}": "read",
    "GET /api/prompts": "read",
    "GET /api/classify": "read",
    "GET /api/settings": "read",
    "GET /v1/models": "read",
    "GET /v1/models/{name}": "read",
    "POST /v1/chat/completions": "ask",
    "POST /v1/responses": "ask",
    # To allow a tool that writes, its desk asks for `write` as well.
    "GET /mcp": "ask",
    "POST /mcp": "ask",
    "DELETE /mcp": "ask",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    method: str
    path: str
    needs: Needs
    pattern: re.Pattern[str]

    def fits(self, method: str, path: str) -> bool:
        # Pages for people also answer HEAD, as GET without a body.
        is_same = self.method == method or (method, self.method) == ("HEAD", "GET")
        return is_same and self.pattern.match(path) is not None


def _rule(key: str, needs: Needs) -> Rule:
    method, _, path = key.partition(" ")
    return Rule(method=method, path=path, needs=needs, pattern=compile_path(path)[0])


_COMPILED: Final = tuple(_rule(key, needs) for key, needs in RULES.items())


def rule_for(scope: Connection) -> Rule | None:
    """None if there is no such route: the application will say so."""
    method, path = scope["method"], scope["path"]
    return next((rule for rule in _COMPILED if rule.fits(method, path)), None)


def methods_of(scope: Connection) -> list[str]:
    """What the path can be asked for, for the header `Allow`."""
    path = scope["path"]
    return sorted({rule.method for rule in _COMPILED if rule.pattern.match(path)})


async def check_rule(request: Request) -> None:
    """Before each route: the rule that was applied is the one of this route, and none is missing.

    Otherwise a mistake in the table would let everybody in who has any token.
    """
    rule, path = rule_for(request.scope), request.scope["route"].path
    if rule is None or rule.path != path:
        raise DeveloperError(f"{request.method} {path} has no rule in oracle/api/rules.py")


def describe_access(app: FastAPI) -> None:
    """Name the scheme, and what each route needs, in the description of the API."""
    plain = app.openapi

    def described() -> dict[str, object]:
        if app.openapi_schema is None:
            schema = plain()
            scheme = {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of `oracle token create`. A server without tokens, which "
                "listens on its own machine only, needs none.",
            }
            schema.setdefault("components", {})["securitySchemes"] = {"token": scheme}
            for path, methods in schema["paths"].items():
                for method, operation in methods.items():
                    needs = RULES[f"{method.upper()} {path}"]
                    is_open = needs == "nothing"
                    operation["security"] = [] if is_open else [{"token": [needs]}]
        return app.openapi_schema or {}

    app.openapi = described
