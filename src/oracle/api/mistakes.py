"""What is wrong with a request, in words for the person who wrote it.

The validator's own words are for programmers in Python: they name neither the value nor the step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from fastapi import Request
from pydantic import BaseModel

from oracle.errors import did_you_mean, named

SEND_JSON: Final = "send a JSON object, with the header Content-Type: application/json"
_NOT_AN_OBJECT: Final = frozenset({"model_attributes_type", "model_type", "dict_type"})

CODES: Final[Mapping[str, str]] = {
    "missing": "missing_required_parameter",
    "extra_forbidden": "unknown_parameter",
    "json_invalid": "invalid_json",
}
"""By the type of a mistake, the code that OpenAI's clients know. All others are invalid values."""


def told(mistake: Mapping[str, Any], known: Collection[str]) -> str:
    """One mistake, with the value and the next step. `known` are the fields of the body."""
    kind, place = str(mistake["type"]), place_of(mistake)
    if kind == "json_invalid":
        reason = mistake.get("ctx", {}).get("error", "")
        return f"the body is not JSON ({reason}, at character {mistake['loc'][-1]}); {SEND_JSON}"
    if kind in _NOT_AN_OBJECT and not place:
        return f"the body is not read as a JSON object; {SEND_JSON}"
    if kind == "missing":
        return f"{place} is missing; send it" if place else f"the body is empty; {SEND_JSON}"
    if kind == "extra_forbidden":
        field = str(mistake["loc"][-1])
        step = f"the fields are {', '.join(known)}" if known else "leave it out"
        return f"there is no field {named(field, 60)}{did_you_mean(field[:60], known, step=step)}"
    reason = str(mistake["msg"]).replace("Input should", "it should").replace("Value error, ", "")
    return f"{place or 'the body'} is {named(mistake.get('input'), 60)}: {_lower(reason)}"


def place_of(mistake: Mapping[str, Any]) -> str:
    """`messages.0.role`; empty for the body as a whole."""
    parts = [str(part) for part in mistake["loc"]]
    return ".".join(parts[1:] if parts[:1] == ["body"] else parts)


def fields_of(request: Request) -> list[str]:
    """The fields of the body that this route takes."""
    body = getattr(request.scope.get("route"), "body_field", None)
    model: object = getattr(getattr(body, "field_info", None), "annotation", None)
    if not isinstance(model, type) or not issubclass(model, BaseModel):
        return []
    return [str(name) for name in model.model_fields]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
