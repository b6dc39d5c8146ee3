"""Reads the simple parameters of commands without pydantic.

typer validates every value with pydantic, whose import takes longer than the rest of a small
command. Text needs no validation, because the shell passes text. Neither does a choice that is one
of the parameter's choices, or a default that already has the type of the parameter. Every other
value is left to typer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

if TYPE_CHECKING:
    build_runtime_param: Any
    TyperParameter: Any

    @dataclass(frozen=True)
    class RuntimeParam:
        parameter_info: Any
        annotation: Any

    KNOWN_TYPER = True
else:
    try:
        from typer._coercion import RuntimeParam, build_runtime_param
        from typer.core import _TyperParameter as TyperParameter

        KNOWN_TYPER = True
    except ImportError:
        # A version of typer that reads parameters in another way. It is used as it is.
        RuntimeParam, KNOWN_TYPER = object, False


def read_plainly() -> None:
    """Make all commands of this process read simple values without pydantic."""
    if KNOWN_TYPER:
        TyperParameter.get_runtime_param = _plain_parameter


def _plain_parameter(parameter: Any) -> _PlainParameter:
    descriptor = parameter.type_descriptor
    return _PlainParameter(
        parameter_info=descriptor.parameter_info,
        annotation=descriptor.annotation,
        descriptor=descriptor,
    )


@dataclass(frozen=True)
class _PlainParameter(RuntimeParam):
    descriptor: Any

    def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
        if self.parameter_info.parser is None:
            if self.annotation is str and _is_text(value):
                return value
            if self.annotation == list[str] and all(map(_is_text, value)):
                return list(value)
            if _is_default(value, self.annotation) or _is_choice(value, self.annotation):
                return value
        return build_runtime_param(self.descriptor)._coerce_value(value, param=param, ctx=ctx)


def _is_text(value: object) -> bool:
    """Whether pydantic would accept it: it refuses bytes that are not UTF-8."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_default(value: object, annotation: Any) -> bool:
    simple = annotation in (bool, int, float) or (
        isinstance(annotation, type) and issubclass(annotation, Enum)
    )
    return simple and type(value) is annotation


def _is_choice(value: object, annotation: Any) -> bool:
    return (
        isinstance(value, str)
        and get_origin(annotation) is Literal
        and value in get_args(annotation)
    )
