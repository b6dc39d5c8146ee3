"""Errors as JSON: `{"error": {"kind": …, "message": …}}`. Never a stack trace.

Under `/v1` they have the shape that OpenAI's clients read.
"""

from __future__ import annotations

import logging
import math
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import Scope as Connection

from oracle import errors
from oracle.api.live_runs import NotBegun
from oracle.api.openai.problems import error_of
from oracle.api.rules import methods_of
from oracle.errors import Forbidden, OracleError, TooManyRuns
from oracle.services.project.redaction import redact, redacted_traceback

log = logging.getLogger(__name__)


class Problem(BaseModel):
    """What is wrong, and what to do about it."""

    kind: str
    message: str


class Problems(BaseModel):
    error: Problem


DOCUMENTED: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Problems, "description": "Something about the request is wrong"},
    401: {"model": Problems, "description": "A token is needed, or the one sent is not valid"},
    403: {"model": Problems, "description": "The token does not allow it; another host or origin"},
    404: {"model": Problems, "description": "There is no such thing"},
    409: {"model": Problems, "description": "Another process is working on it"},
    413: {"model": Problems, "description": "The body is too large"},
    422: {"model": Problems, "description": "The request does not fit its description"},
    429: {"model": Problems, "description": "Too many requests or runs; try again later"},
    503: {"model": Problems, "description": "The database cannot be used"},
}


def problem(
    status: int,
    kind: str,
    message: str,
    *,
    scope: Connection,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    message = redact(message)
    is_openai = scope["path"].startswith("/v1/")
    error = error_of(status, kind, message) if is_openai else {"kind": kind, "message": message}
    return JSONResponse({"error": error}, status_code=status, headers=headers)


def problem_of(error: OracleError, scope: Connection) -> JSONResponse:
    headers = None
    if isinstance(error, TooManyRuns):
        headers = {"Retry-After": str(math.ceil(error.retry_after))}
    if isinstance(error, Forbidden):
        told = f'Bearer realm="oracle", error="insufficient_scope", scope="{error.scope}"'
        headers = {"WWW-Authenticate": told}
    kind = error.kind if isinstance(error, NotBegun) else type(error).__name__
    status: int = getattr(getattr(errors, kind, error), "status", 500)
    return problem(status, kind, str(error), headers=headers, scope=scope)


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
    told = "; ".join(_told(each) for each in error.errors()[:5])
    return problem(422, "InvalidRequest", told, scope=request.scope)


def _told(mistake: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in mistake["loc"] if part != "body") or "the body"
    return f"{place}: {mistake['msg']}"


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # The framework names the methods of the first route with this path only.
        headers["Allow"] = ", ".join(methods_of(request.scope))
    detail = str(error.detail)
    return problem(error.status_code, "HttpError", detail, headers=headers, scope=request.scope)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    # A path or a message may quote a secret.
    path = redact(request.url.path)
    log.error("%s %s failed:\n%s", request.method, path, redacted_traceback(error))
    message = "something went wrong inside the server; its log says what"
    return problem(500, "InternalError", message, scope=request.scope)
