"""Arguments that pydantic describes and checks: those of a project's own tools.

The plain arguments of our tools come here too when they are not plainly right.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from oracle.errors import BadArguments, did_you_mean, named
from oracle.services.tools.answer import one_line
from oracle.services.tools.plain_arguments import PlainArguments, arguments_of

A = TypeVar("A")


class Arguments(BaseModel):
    """The arguments that a model writes to call a tool. An undeclared name is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def checked(cls: type[A], given: Mapping[str, object]) -> A:
    """Raises `BadArguments`, which says what is wrong and what would be right."""
    model = model_of(cls)
    try:
        read = model.model_validate(given)
    except ValidationError as problem:
        details = problem.errors(include_url=False, include_context=False)
        faults = (_fault(detail, list(model.model_fields)) for detail in details[:5])
        raise BadArguments("; ".join(faults)) from None
    return read if isinstance(read, cls) else cls(**dict(read))


@lru_cache(maxsize=64)
def model_of(cls: type) -> type[Arguments]:
    """The class itself, or a model with the same arguments as a plain class."""
    if issubclass(cls, Arguments):
        return cls
    assert issubclass(cls, PlainArguments), f"{cls} is not a class of arguments"
    declared: dict[str, Any] = {}
    for name, each in arguments_of(cls).items():
        options: dict[str, Any] = {"description": each.description, **each.limits}
        if not each.is_required:
            options["default"] = each.default
        limited: Any = Field(**options)
        kind: Any = Literal[each.choices] if each.choices else each.kind
        declared[name] = (kind | None if each.is_optional else kind, limited)
    return create_model(cls.__name__, __base__=Arguments, **declared)


def _fault(detail: ErrorDetails, known: list[str]) -> str:
    name = ".".join(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        return f"it has no argument {named(name)}{did_you_mean(name[:100], known)}"
    if detail["type"] == "missing":
        return f"the argument {name!r} is missing"
    return f"{name} is {named(detail['input'], 80)}: {one_line(detail['msg'])}"


def model_schema(cls: type) -> dict[str, Any]:
    """Without titles, which repeat the names, and without `null`, which means the same as leaving
    out. Both only cost tokens. Where a value is required it cannot be left out, so `null` stays.
    """
    schema = model_of(cls).model_json_schema()
    kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
    slim = _plain(kept)
    return {**slim, "properties": slim.get("properties", {})}


def _plain(part: dict[str, Any], *, is_required: bool = True) -> dict[str, Any]:
    """One schema and those inside of it, without titles, and without `null` if it is optional."""
    required = part.get("required", ())
    made = {key: _inner(key, value, required) for key, value in part.items() if key != "title"}
    if made.get("default", 0) is None:
        del made["default"]
    options = [
        option for option in made.pop("anyOf", []) if is_required or option.get("type") != "null"
    ]
    if len(options) == 1:
        return {**options[0], **made}
    return {**made, "anyOf": options} if options else made


def _inner(key: str, value: Any, required: Collection[str]) -> Any:
    """Schemas are by name, in a list, or alone. Values such as a default are no schemas."""
    if key == "properties":
        return {name: _plain(part, is_required=name in required) for name, part in value.items()}
    if key == "$defs":
        return {name: _plain(part) for name, part in value.items()}
    if key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        return [_plain(part) for part in value]
    is_schema = key in ("items", "additionalProperties") and value not in (True, False)
    return _plain(value) if is_schema else value
