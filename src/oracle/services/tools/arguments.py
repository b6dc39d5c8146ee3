"""The arguments of a call as a model writes them, checked before anything else sees them.

Only plain JSON that every part of a run can keep gets through: the journal, both kinds of database,
the events, `--json` and the provider. The rest is kept as text, with the reason why it is not run.
"""

from __future__ import annotations

import json
from asyncio import CancelledError
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from math import isfinite
from typing import Any, Final, NoReturn, cast

from oracle.errors import ModelBrokeOff, ToolProblem, named, with_article
from oracle.patterns import lazy_pattern
from oracle.plain import LARGEST_INTEGER
from oracle.services.background import is_being_cancelled

DEEPEST: Final = 6
"""How deep lists and objects may be nested in arguments. Ours are flat."""
_LONGEST_SHOWN: Final = 2_000
_HALF: Final = lazy_pattern("[\ud800-\udfff]")
_UNSAFE: Final = lazy_pattern("[\0\ud800-\udfff]")


def checked_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """The call as data that can be recorded. If it cannot be run, `not_run` says why."""
    checked = {"id": _text(call.get("id", "")), "name": _text(call.get("name", ""))}
    given = call.get("arguments")
    try:
        arguments: object = {} if given is None else read_arguments(given)
    except ToolProblem as problem:
        return {**checked, "arguments": _text(given), "not_run": str(problem)}
    return {**checked, "arguments": arguments}


async def with_checked_calls(parts: AsyncIterator[Any]) -> AsyncGenerator[Any]:
    """A response with its calls checked: what a model writes as arguments need not be JSON."""
    try:
        async for part in parts:
            yield {"tool_call": checked_call(part["tool_call"])} if "tool_call" in part else part
    except CancelledError:
        if is_being_cancelled():
            raise
        raise ModelBrokeOff("the model cancelled its own response; ask again") from None
    finally:
        if isinstance(parts, AsyncGenerator):
            await parts.aclose()


def read_arguments(given: object) -> dict[str, object]:
    """The arguments as an object. `ToolProblem` says what is wrong with any others."""
    value = parsed(given) if isinstance(given, str) else given
    if not isinstance(value, Mapping):
        raise ToolProblem(f"its arguments are {_named(value)}; write one JSON object")
    arguments = dict(cast("Mapping[str, object]", value))
    _check(arguments, "", DEEPEST)
    return arguments


def parsed(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_twins)
    # `RecursionError`: the model may write very deep brackets.
    except (ValueError, RecursionError) as problem:
        why = " ".join(str(problem).split())[:200]
        raise ToolProblem(
            f'its arguments are not JSON ({why}); write one JSON object, such as {{"query": "…"}}'
        ) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Of two values for one name nobody knows which was meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{named(twin)} is given twice")
    return found


def _check(value: object, path: str, depth: int) -> None:
    fault = _fault(value, depth)
    if fault is not None:
        raise ToolProblem(f"{path or 'the object'} is {_named(value)}: {fault}")
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            if not isinstance(key, str) or _UNSAFE.search(key):
                raise ToolProblem(f"{_named(key)} is not the name of an argument; write plain text")
            _check(item, f"{path}.{key}" if path else key, depth - 1)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(cast("list[object]", value)):
            _check(item, f"{path}[{number}]", depth - 1)


def _fault(value: object, depth: int) -> str | None:
    match value:
        case None | bool():
            return None
        case str():
            if "\0" in value:
                return "it holds a NUL byte; leave it out"
            half = not value.isascii() and _HALF.search(value)
            return "it holds half of a character; write whole characters" if half else None
        case int():
            is_large = abs(value) > LARGEST_INTEGER
            return "it is too large; write a number of at most 18 digits" if is_large else None
        case float():
            return None if isfinite(value) else "it is not a number; write one"
        case Mapping() | list() | tuple():
            return None if depth > 0 else f"it is nested deeper than {DEEPEST} levels; write less"
        case _:
            return "JSON has no such value"


def _named(value: object) -> str:
    """Values that a model nests very deep, or numbers with thousands of digits, have no `repr`."""
    try:
        return named(value, 80)
    except (ValueError, RecursionError):
        return f"{with_article(type(value).__name__)} that is too large to show"


def _text(given: object) -> str:
    """What a model wrote, as text that can be recorded and shown."""
    try:
        text = given if isinstance(given, str) else json.dumps(given, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = _named(given)
    return _UNSAFE.sub("\ufffd", text)[:_LONGEST_SHOWN]
