"""Errors as an editor reads them: the message itself, with a code of JSON-RPC."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from acp import RequestError

from oracle.errors import InputError, NotFound, OracleError

P = ParamSpec("P")
Result = TypeVar("Result")

# The first class that fits: `NotFound` is an `InputError` too.
CODES: Final = ((NotFound, -32002), (InputError, -32602))
INTERNAL: Final = -32603


def told_to_the_editor(
    method: Callable[P, Awaitable[Result]],
) -> Callable[P, Awaitable[Result]]:
    @wraps(method)
    async def wrapped(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return await method(*args, **kwargs)
        except OracleError as problem:
            code = next((code for kind, code in CODES if isinstance(problem, kind)), INTERNAL)
            raise RequestError(code, str(problem)) from problem

    return wrapped
