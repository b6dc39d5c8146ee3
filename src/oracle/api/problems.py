"""Errors as JSON, all in one shape: `{"error": {"kind": …, "message": …}}`. Never a stack trace."""

from __future__ import annotations

import logging
import math
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from oracle import errors
from oracle.api.live_runs import NotBegun
from oracle.errors import OracleError, TooManyRuns
from oracle.services.project.redaction import redact

log = logging.getLogger(__name__)


class Problem(BaseModel):
    """What is wrong, and what to do about it."""

    kind: str
    message: str


class Problems(BaseModel):
    error: Problem


DOCUMENTED: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Problems, "description": "Something about the request is wrong"},
    403: {"model": Problems, "description": "Another host or origin"},
    404: {"model": Problems, "description": "There is no such thing"},
    409: {"model": Problems, "description": "Another process is working on it"},
    413: {"model": Problems, "description": "The body is too large"},
    422: {"model": Problems, "description": "The request does not fit its description"},
    429: {"model": Problems, "description": "Too many runs; try again later"},
    503: {"model": Problems, "description": "The database cannot be used"},
}


def problem(
    status: int, kind: str, message: str, *, headers: dict[str, str] | None = None
) -> JSONResponse:
    body = {"error": {"kind": kind, "message": redact(message)}}
    return JSONResponse(body, status_code=status, headers=headers)


def handle_problems(app: FastAPI) -> None:
    app.add_exception_handler(OracleError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _unexpected)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OracleError)
    headers = None
    if isinstance(error, TooManyRuns):
        headers = {"Retry-After": str(math.ceil(error.retry_after))}
    kind = error.kind if isinstance(error, NotBegun) else type(error).__name__
    status: int = getattr(getattr(errors, kind, error), "status", 500)
    return problem(status, kind, str(error), headers=headers)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    told = "; ".join(_told(each) for each in error.errors()[:5])
    return problem(422, "InvalidRequest", told)


def _told(mistake: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in mistake["loc"] if part != "body") or "the body"
    return f"{place}: {mistake['msg']}"


async def _of_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers) if error.headers else None
    return problem(error.status_code, "HttpError", str(error.detail), headers=headers)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(
        500, "InternalError", "something went wrong inside the server; its log says what"
    )
