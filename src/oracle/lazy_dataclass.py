"""Dataclasses whose methods are made when they are first used.

The standard decorator compiles six functions for each class, which takes a millisecond. A command
imports hundreds of classes and creates objects of a few. So here a constructor is compiled after
the first few objects, and the other methods are shared functions that need no compiling.

Use `dataclass` exactly like the standard one; type checkers see that one. `dataclasses.fields`,
`replace` and `asdict` work as usual. Not supported are `InitVar` and the options that nobody here
uses, such as `order`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, kw_only=False, slots=False):
        def decorate(plain):
            return _decorated(plain, frozen=frozen, kw_only=kw_only, slots=slots)

        return decorate if cls is None else decorate(cls)


def _decorated(plain: type, *, frozen: bool, kw_only: bool, slots: bool) -> type:
    is_documented = plain.__doc__ is not None
    if not is_documented:
        # Otherwise the standard decorator writes a signature here, which takes as long as the rest.
        plain.__doc__ = plain.__name__
    # Never `frozen` for the standard decorator, which would compile two functions for that.
    make = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)
    made = cast("Any", make(plain))
    if not is_documented:
        made.__doc__ = None
    fields = dataclasses.fields(made)
    methods = {"__repr__": _repr, "__init__": _first_init(made, fields, frozen=frozen)}
    if "__eq__" not in made.__dict__:
        methods["__eq__"] = _eq(_values([each.name for each in fields if each.compare]))
    if frozen:
        methods |= _frozen_methods(made, fields)
        if slots:
            methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
    for name, method in methods.items():
        # What the class defines itself stays.
        if name not in made.__dict__:
            setattr(made, name, method)
    # Python sets it to None in a class that defines `__eq__` itself.
    if made.__dict__.get("__hash__") is None:
        hashed = [each.name for each in fields if _is_hashed(each)]
        made.__hash__ = _hash(_values(hashed)) if frozen else None
    return made


def _is_hashed(field: Field[Any]) -> bool:
    return field.compare if field.hash is None else field.hash


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Reads the fields of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda this: tuple(getattr(this, name) for name in names)


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[..., Any]:
    def __eq__(self: Any, other: Any) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[..., Any]:
    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (
        f"{each.name}={getattr(self, each.name)!r}"
        for each in dataclasses.fields(self)
        if each.repr
    )
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


# Copying and pickling would set the attributes one by one, which a frozen class refuses.
def _getstate(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _frozen_methods(owner: type, fields: tuple[Field[Any], ...]) -> dict[str, Callable[..., Any]]:
    names = frozenset(each.name for each in fields)

    def __setattr__(self: Any, name: str, value: object) -> None:  # noqa: N807
        if type(self) is owner or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(owner, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is owner or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(owner, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


# -- the constructor -------------------------------------------------------------------------------

_NOT_GIVEN: Final = object()
_UNCOMPILED: Final = 4
"""Objects that are made without a compiled constructor. Many classes never have more."""


def _first_init(owner: Any, fields: tuple[Field[Any], ...], *, frozen: bool) -> Callable[..., None]:
    left = _UNCOMPILED

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        nonlocal left
        left -= 1
        values = _values_by_name(fields, args, kwargs) if left >= 0 else None
        if values is None:
            # Two threads may both do this: the same result.
            owner.__init__ = init = _compiled_init(owner, fields, frozen=frozen)
            init(self, *args, **kwargs)
            return
        assign = object.__setattr__ if frozen else setattr
        for name, value in values.items():
            assign(self, name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return __init__


def _values_by_name(
    fields: tuple[Field[Any], ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any] | None:
    """The value of each field, as a constructor would set it. None if the arguments are wrong: the
    compiled constructor says how.
    """
    taken = [each.name for each in fields if each.init and not each.kw_only]
    given = dict(zip(taken, args, strict=False)) | kwargs
    if len(given) < len(args) + len(kwargs):
        return None
    values: dict[str, Any] = {}
    for each in fields:
        if each.init and each.name in given:
            values[each.name] = given.pop(each.name)
        elif each.default is not MISSING:
            values[each.name] = each.default
        elif each.default_factory is not MISSING:
            values[each.name] = each.default_factory()
        elif each.init:
            return None
    return None if given else values


def _compiled_init(
    owner: type, fields: tuple[Field[Any], ...], *, frozen: bool
) -> Callable[..., None]:
    known: dict[str, Any] = {"_NOT_GIVEN": _NOT_GIVEN, "_set": object.__setattr__}
    parameters = ["self"]
    body: list[str] = []
    # Stable: the fields keep their order, and those that are given by name only come last.
    for field in sorted(fields, key=lambda each: each.kw_only is True):
        if field.init and field.kw_only and "*" not in parameters:
            parameters.append("*")
        _add_field(field, parameters, body, known, frozen=frozen)
    if hasattr(owner, "__post_init__"):
        body.append("self.__post_init__()")
    lines = "\n ".join(body or ["pass"])
    exec(f"def __init__({', '.join(parameters)}):\n {lines}", known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{owner.__qualname__}.__init__"
    init.__module__ = owner.__module__
    return init


def _add_field(
    field: Field[Any],
    parameters: list[str],
    body: list[str],
    known: dict[str, Any],
    *,
    frozen: bool,
) -> None:
    name = value = field.name
    default = f"_default_{name}"
    if field.default_factory is not MISSING:
        known[default] = field.default_factory
        value = f"{default}() if {name} is _NOT_GIVEN else {name}" if field.init else f"{default}()"
        parameter = f"{name}=_NOT_GIVEN"
    elif field.default is not MISSING:
        known[default] = field.default
        value = name if field.init else default
        parameter = f"{name}={default}"
    elif field.init:
        parameter = name
    else:
        return  # somebody else sets it, such as `__post_init__`
    if field.init:
        parameters.append(parameter)
    body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
