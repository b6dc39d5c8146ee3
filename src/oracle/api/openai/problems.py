"""Errors in the shape that OpenAI's clients read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from oracle.errors import OracleError, SpendLimitReached
from oracle.services.project.redaction import redact

QUOTA: Final = "insufficient_quota"
_CODES: Final[Mapping[int, str]] = {
    404: "unknown_url",
    405: "method_not_allowed",
    401: "invalid_api_key",
    403: "insufficient_permissions",
    413: "request_too_large",
    429: "rate_limit_exceeded",
}


class OpenAIError(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIErrors(BaseModel):
    """What is wrong, as OpenAI's clients read it."""

    error: OpenAIError


def error_of(status: int, kind: str, message: str, *, param: str | None = None) -> dict[str, Any]:
    """`param` is the field of the request that the error is about."""
    if kind == SpendLimitReached.__name__:
        # The words for a budget that is used up: clients do not take it for a passing limit.
        return {"message": message, "type": QUOTA, "param": param, "code": QUOTA}
    types = {429: "rate_limit_error"}
    type_ = types.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"message": message, "type": type_, "param": param, "code": _CODES.get(status, kind)}


def error_in_a_stream(problem: OracleError) -> dict[str, Any]:
    """Such as a server that stops before the answer is there."""
    return error_of(problem.status, type(problem).__name__, redact(str(problem)))


class OpenAIProblem(Exception):  # noqa: N818 - it is an outcome, not a bug
    def __init__(self, message: str, *, param: str, code: str, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.code = code
        self.status = status


def handle_openai_problems(app: FastAPI) -> None:
    app.add_exception_handler(OpenAIProblem, _as_response)


async def _as_response(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OpenAIProblem)
    body = {
        "message": str(error),
        "type": "invalid_request_error",
        "param": error.param,
        "code": error.code,
    }
    return JSONResponse({"error": body}, status_code=error.status)
