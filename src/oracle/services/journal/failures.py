"""Exceptions on record: a replay raises one that the same `except` catches, in the same words."""

from __future__ import annotations

import builtins
from typing import Any

from oracle import errors


def as_body(request: Any, problem: Exception) -> dict[str, Any]:
    """Its class and those it is made of, nearest first, so that a known one is found."""
    lineage = [cls.__name__ for cls in type(problem).__mro__]
    return {"request": request, "error": lineage[0], "lineage": lineage, "message": str(problem)}


def as_exception(body: dict[str, Any]) -> Exception:
    known = next(cls for cls in map(_known, body["lineage"]) if cls is not None)
    again = type(body["error"], (_Told, known), {})
    problem = again.__new__(again, body["message"])
    problem.told = body["message"]
    return problem


class _Told(Exception):  # noqa: N818 - it lends its voice to another
    """Says what was recorded, however its class puts its words together."""

    told: str = ""

    def __str__(self) -> str:
        return self.told


def _known(name: str) -> type[Exception] | None:
    found = getattr(errors, name, None) or getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None
