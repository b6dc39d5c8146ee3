"""Errors as JSON: `{"error": {"kind": …, "message": …}}`. Never a stack trace.

Under `/v1` they have the shape that OpenAI's clients read.
"""

from __future__ import annotations

import math
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import Scope as Connection

from oracle import errors
from oracle.api.live_run import NotBegun
from oracle.api.mistakes import CODES, SEND_JSON, fields_of, place_of, told
from oracle.api.openai.problems import error_of
from oracle.api.rules import RULES, methods_of
from oracle.errors import (
    Forbidden,
    OracleError,
    SpendHeld,
    SpendLimitReached,
    TooManyRuns,
    did_you_mean,
    named,
)
from oracle.logs import logger_of
from oracle.services.project.redaction import redact, redacted_traceback

log = logger_of(__name__)


class Problem(BaseModel):
    """What is wrong, and what to do about it."""

    kind: str
    message: str


class Problems(BaseModel):
    error: Problem


KINDS: Final = {404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge"}
_PATHS: Final = {"oracle runs": "/api/runs", "oracle sessions": "/api/sessions"}
DOCUMENTED: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Problems, "description": "Something about the request is wrong"},
    401: {"model": Problems, "description": "A token is needed, or the one sent is not valid"},
    403: {"model": Problems, "description": "The token does not allow it; another host or origin"},
    404: {"model": Problems, "description": "There is no such thing"},
    409: {"model": Problems, "description": "Another process is working on it"},
    413: {"model": Problems, "description": "The body is too large"},
    422: {"model": Problems, "description": "The request does not fit its description"},
    429: {
        "model": Problems,
        "description": "Too many requests or runs, or a budget is used up",
    },
    431: {"model": Problems, "description": "Address and headers are too long"},
    503: {"model": Problems, "description": "The database cannot be used"},
}


def problem(
    status: int,
    kind: str,
    message: str,
    *,
    scope: Connection,
    headers: dict[str, str] | None = None,
    details: dict[str, Any] | None = None,
) -> JSONResponse:
    """`details` are for programs. OpenAI's clients have no place for them."""
    message = redact(message)
    plain = {"kind": kind, "message": message, **(details or {})}
    error = error_of(status, kind, message) if is_openai(scope) else plain
    return JSONResponse({"error": error}, status_code=status, headers=headers)


def is_openai(scope: Connection) -> bool:
    return str(scope["path"]).startswith("/v1/")


def problem_of(error: OracleError, scope: Connection) -> JSONResponse:
    headers, details = None, None
    if isinstance(error, TooManyRuns | SpendLimitReached):
        headers = {"Retry-After": str(math.ceil(error.retry_after))}
    if isinstance(error, SpendLimitReached):
        details = {"left": error.left, "unit": error.unit, "renews_at": error.renews_at}
        if not isinstance(error, SpendHeld):
            # OpenAI's clients would try again at once.
            headers = {**(headers or {}), "X-Should-Retry": "false"}
    if isinstance(error, Forbidden):
        told = f'Bearer realm="oracle", error="insufficient_scope", scope="{error.scope}"'
        headers = {"WWW-Authenticate": told}
    kind = error.kind if isinstance(error, NotBegun) else type(error).__name__
    status: int = getattr(getattr(errors, kind, error), "status", 500)
    message = _for_clients(str(error))
    return problem(status, kind, message, headers=headers, scope=scope, details=details)


def _for_clients(message: str) -> str:
    """The next step over HTTP, where the terminal has a command."""
    for command, path in _PATHS.items():
        message = message.replace(f"`{command}`", f"`GET {path}`")
    return message


def handle_problems(app: FastAPI) -> None:
    app.add_exception_handler(OracleError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _unexpected)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OracleError)
    return problem_of(error, request.scope)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    known, mistakes = fields_of(request), error.errors()
    message = "; ".join(told(each, known) for each in mistakes[:5])
    if not is_openai(request.scope):
        return problem(422, "InvalidRequest", message, scope=request.scope)
    first = mistakes[0]
    code = CODES.get(first["type"], "invalid_value")
    body = error_of(400, code, redact(message), param=place_of(first) or None)
    return JSONResponse({"error": body}, status_code=400)


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # The framework names the methods of the first route with this path only.
        headers["Allow"] = ", ".join(methods_of(request.scope))
    if error.status_code == 400 and error.__cause__ is not None:
        # The framework hides why a body cannot be read, unless it is a mistake of syntax.
        message = f"the body cannot be read ({_why(error.__cause__)}); {SEND_JSON}"
        kind = "invalid_json" if is_openai(request.scope) else "InvalidRequest"
        return problem(400, kind, message, scope=request.scope)
    kind, detail = KINDS.get(error.status_code, "HttpError"), str(error.detail)
    if error.status_code in (404, 405):
        detail = _no_such_path(request, headers.get("Allow", ""))
    return problem(error.status_code, kind, detail, headers=headers, scope=request.scope)


def _why(cause: BaseException) -> str:
    match cause:
        case RecursionError():
            return "it is nested too deeply"
        case UnicodeDecodeError():
            return "it is not UTF-8"
        case _:
            # Such as a number with thousands of digits.
            return str(cause)[:100]


def _no_such_path(request: Request, allowed: str) -> str:
    path = request.url.path
    if allowed:
        return f"{named(path)} does not take {request.method}; use {allowed}"
    paths = [rule.partition(" ")[2] for rule in RULES]
    near = did_you_mean(path, paths, step="`GET /docs` lists what there is")
    return f"there is no {named(path)}{near}"


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    # A path or a message may quote a secret.
    path = redact(request.url.path)
    log.error("%s %s failed:\n%s", request.method, path, redacted_traceback(error))
    message = "something went wrong inside the server; its log says what"
    return problem(500, "InternalError", message, scope=request.scope)
