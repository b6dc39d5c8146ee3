"""Errors in the shape that OpenAI's clients read."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse


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
