"""Which keys a blackboard scope declares, and what each of them may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Final, TypeAlias

from oracle.errors import BlackboardError, did_you_mean
from oracle.lazy_dataclass import dataclass

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

TYPE_NAMES: Final[Mapping[str, type]] = MappingProxyType(
    {
        "string": str,
        "integer": int,
        "number": float,
        "boolean": bool,
        "list": list,
        "object": dict,
        "any": object,
    }
)
_ACCEPTED: Final[Mapping[type, frozenset[type]]] = MappingProxyType(
    {
        str: frozenset({str}),
        int: frozenset({int}),
        float: frozenset({float, int}),
        bool: frozenset({bool}),
        list: frozenset({list}),
        dict: frozenset({dict}),
        object: frozenset({type(None), bool, int, float, str, list, dict}),
    }
)
_NAME_OF: Final = {held: name for name, held in TYPE_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Key:
    """A declared key. Without a default it starts as None; only a nullable one is set to it."""

    type: type = object
    default: Json = None
    nullable: bool = False
    group: str = field(default="", compare=False)
    """The heading that a tree file puts it under, for readers."""
    accepted: frozenset[type] = field(init=False, repr=False, compare=False)
    """The exact types that need no second look."""

    def __post_init__(self) -> None:
        if self.type not in _ACCEPTED:
            raise BlackboardError(
                f"{self.type!r} is not a type of a key; use one of {_type_list()}"
            )
        object.__setattr__(self, "accepted", _ACCEPTED[self.type])
        if self.default is not None:
            self.check("the default", self.default)

    def fresh_default(self) -> Json:
        """A new list or object, so that a careless leaf cannot change it for all runs."""
        # Not `copy.copy`, which looks for the way to copy: this is asked at nearly each read.
        default = self.default
        if isinstance(default, list):
            return [*default]
        return {**default} if isinstance(default, dict) else default

    def check(self, what: str, value: object) -> None:
        """Look at the outermost type only: a deep look at each write would make long runs
        quadratic.
        """
        if type(value) in _ACCEPTED[self.type] or (value is None and self.nullable):
            return
        wanted = _NAME_OF[self.type] + ("?" if self.nullable else "")
        raise BlackboardError(
            f"{what} must hold {wanted}, not {type(value).__name__}: {value!r:.80}"
        )


def key_from_name(type_name: str, default: Json = None, group: str = "") -> Key:
    """Read a type as trees write it: `"integer"`, or `"integer?"` where nil may be written."""
    base = type_name.removesuffix("?")
    if base not in TYPE_NAMES:
        hint = did_you_mean(base, TYPE_NAMES) or f"; use one of {_type_list()}"
        raise BlackboardError(f"no type {type_name!r}{hint}")
    return Key(TYPE_NAMES[base], default, nullable=type_name.endswith("?"), group=group)


def _type_list() -> str:
    return ", ".join(TYPE_NAMES)
