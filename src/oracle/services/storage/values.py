"""Column types that keep the same values on every kind of database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from sqlalchemy import JSON, Dialect, Float, Text, TypeDecorator
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine

from oracle.patterns import lazy_pattern
from oracle.services.storage.connections import BACKENDS

_UNSTORABLE: Final = lazy_pattern("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace what PostgreSQL cannot store: NUL, and lone surrogates."""
    return _UNSTORABLE.sub("\ufffd", text)


class AnyText(TypeDecorator[str]):
    """Text from anywhere: a model, a file, a terminal."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)


class Json(TypeDecorator[Any]):
    """JSON-shaped data, in the column type that the database has for it."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(BACKENDS[dialect.name]().json_type())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return _storable_json(value)


def _storable_json(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case Mapping():
            pairs = cast("Mapping[str, Any]", value).items()
            return {storable(key): _storable_json(item) for key, item in pairs}
        case list() | tuple():
            return [_storable_json(item) for item in cast("list[Any]", value)]
        case _:
            return value


class database_now(FunctionElement[float]):  # noqa: N801 - it is used as an SQL function
    """Seconds since 1970 by the database's clock, which all its clients share."""

    type = Float()
    inherit_cache = True


@compiles(database_now)  # pyright: ignore[reportUntypedFunctionDecorator]
def _now(_: object, compiler: SQLCompiler, **__: object) -> str:
    return BACKENDS[compiler.dialect.name]().now
