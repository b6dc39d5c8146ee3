"""Exceptions on record: a replay raises one of the same name with the same words."""

from __future__ import annotations

from typing import Any

from oracle import errors
from oracle.errors import Failure


def as_body(request: Any, problem: Exception) -> dict[str, Any]:
    return {"request": request, "error": type(problem).__name__, "message": str(problem)}


def as_exception(body: dict[str, Any]) -> Exception:
    known = getattr(errors, body["error"], None)
    if isinstance(known, type) and issubclass(known, Failure):
        return known(body["message"])
    return type(body["error"], (Exception,), {})(body["message"])
