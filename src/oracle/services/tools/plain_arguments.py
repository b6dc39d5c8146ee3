"""The arguments of our own tools: texts, whole numbers, and yes or no, with limits.

They are described and read without pydantic, whose import takes longer than most answers of a tool.
It is still the one that judges: whatever is not plainly right is read by a pydantic model of the
same arguments (`model_arguments`), which converts it or says what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar


class PlainArguments:
    """The base of classes whose fields are made by `argument`. Decorate them with
    `@dataclass(frozen=True, kw_only=True)`.
    """


P = TypeVar("P", bound=PlainArguments)

# By the text of the annotation: with `from __future__ import annotations` that is what a class has.
KINDS: Final[Mapping[str, tuple[type, bool]]] = {
    "str": (str, False),
    "str | None": (str, True),
    "int": (int, False),
    "int | None": (int, True),
    "bool": (bool, False),
}
_JSON_NAMES: Final = {str: "string", int: "integer", bool: "boolean"}
_SCHEMA_NAMES: Final = {
    "le": "maximum",
    "max_length": "maxLength",
    "ge": "minimum",
    "min_length": "minLength",
}


class PlainArgument(NamedTuple):
    """What is known of one argument. `limits` are named as pydantic names them."""

    name: str
    kind: type
    is_optional: bool
    default: Any
    description: str
    limits: Mapping[str, int]
    choices: tuple[str, ...]

    @property
    def is_required(self) -> bool:
        return self.default is MISSING

    def accepts(self, value: object) -> bool:
        """Whether the value is right as it is. If not, pydantic may still be able to convert it."""
        if value is None:
            return self.is_optional
        if type(value) is not self.kind or (self.choices and value not in self.choices):
            return False
        size: Any = len(value) if isinstance(value, str) else value
        limits = self.limits
        least = limits.get("min_length", limits.get("ge"))
        most = limits.get("max_length", limits.get("le"))
        return (least is None or size >= least) and (most is None or size <= most)


def argument(
    *, default: Any = MISSING, description: str, choices: tuple[str, ...] = (), **limits: int
) -> Any:
    """One argument: for a text `min_length` and `max_length` or `choices`, for a number `ge` and
    `le`.
    """
    about = {"description": description, "choices": choices, "limits": limits}
    if default is MISSING:
        return field(metadata=about)
    return field(default=default, metadata=about)


@lru_cache(maxsize=64)
def arguments_of(cls: type[PlainArguments]) -> Mapping[str, PlainArgument]:
    found: dict[str, PlainArgument] = {}
    for each in fields(cls):  # pyright: ignore[reportArgumentType]
        kind, is_optional = KINDS[str(each.type)]
        about = each.metadata
        found[each.name] = PlainArgument(
            each.name,
            kind,
            is_optional,
            each.default,
            about["description"],
            about["limits"],
            about["choices"],
        )
    return found


def plainly_read(cls: type[P], given: Mapping[str, object]) -> P | None:
    """The arguments as an object; None if a value is not right as it is, or one is missing."""
    known = arguments_of(cls)
    if any(name not in known or not known[name].accepts(given[name]) for name in given):
        return None
    if any(each.is_required and name not in given for name, each in known.items()):
        return None
    return cls(**given)


def plain_schema(cls: type[PlainArguments]) -> dict[str, Any]:
    """The JSON Schema for the model, exactly as it would be made from pydantic's."""
    known = arguments_of(cls)
    required = [name for name, each in known.items() if each.is_required]
    return {
        "additionalProperties": False,
        "properties": {name: _property(each) for name, each in known.items()},
        **({"required": required} if required else {}),
        "type": "object",
    }


def _property(each: PlainArgument) -> dict[str, Any]:
    limits = {
        json_name: each.limits[name]
        for name, json_name in _SCHEMA_NAMES.items()
        if name in each.limits
    }
    described: dict[str, Any] = {"description": each.description}
    choices = {"enum": [*each.choices]} if each.choices else {}
    typed = {**choices, **limits, "type": _JSON_NAMES[each.kind]}
    if each.is_optional:
        return typed | described
    default = {} if each.is_required else {"default": each.default}
    return default | described | typed
