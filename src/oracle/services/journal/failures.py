"""Exceptions in the record: a replay raises one with the same text, for the same `except`."""

from __future__ import annotations

import builtins
from typing import Any

from oracle import errors


def as_body(request: Any, problem: Exception) -> dict[str, Any]:
    """The body of a `failure`, with the exception's class and its base classes."""
    lineage = [cls.__name__ for cls in type(problem).__mro__]
    return {"request": request, "error": lineage[0], "lineage": lineage, "message": str(problem)}


def as_exception(body: dict[str, Any]) -> Exception:
    # The class itself may belong to a library that is not imported here. Its nearest base class
    # that is ours or a builtin is enough for every `except` that a leaf may have.
    known = next(cls for cls in map(_known, body["lineage"]) if cls is not None)
    again = type(body["error"], (_Replayed, known), {})
    # Not called: `__init__` of some classes takes arguments that are not in the record.
    problem = again.__new__(again, body["message"])
    problem.message = body["message"]
    return problem


class _Replayed(Exception):  # noqa: N818 - only ever a base of the class that was recorded
    """Its text is the recorded one, however its class composes a message."""

    message: str = ""

    def __str__(self) -> str:
        return self.message


def _known(name: str) -> type[Exception] | None:
    found = getattr(errors, name, None) or getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None
