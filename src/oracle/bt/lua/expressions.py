"""A small grammar for conditions over the blackboard: `bb.turn > 3 and bb.signal.type == "stuck"`.

It reads like Lua and means the same, but no Lua runs while a tree is ticked: an expression is
parsed when the tree is loaded and becomes a Python closure.

    operators    or, and, == ~= < <= > >=, + -, * / %, not - #   (loosest first), parentheses
    value        bb.key, bb.key.field…, numbers, "strings", true, false, nil
    truth        only nil and false are false
    nil.field    is nil, so that a key may be looked into before it was set
    an error     where Lua would convert (a string to a number) or go on (a division by zero)
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any, Final, TypeAlias, cast

from oracle.bt.core.context import TickContext
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import InputError, LeafError
from oracle.patterns import lazy_pattern

LONGEST: Final = 1_000
DEEPEST: Final = 30

Evaluate: TypeAlias = Callable[[TypedBlackboard], Any]

_TOKEN: Final = lazy_pattern(
    r"""\s*(\d+\.\d+|\d+|[A-Za-z_]\w*|"[^"\\\n]*"|'[^'\\\n]*'|[=~<>]=|[<>+\-*/%\#().])""", re.ASCII
)
_NAME: Final = lazy_pattern(r"[A-Za-z_]\w*", re.ASCII)
_CONSTANTS: Final = {"true": True, "false": False, "nil": None}
_RESERVED: Final = {"and", "or", "not", *_CONSTANTS}


class ExpressionError(InputError):
    pass


class Expression:
    """A parsed expression, callable like a condition's function. `keys` are the keys it reads."""

    __slots__ = ("_evaluate", "keys", "source")

    def __init__(self, source: str) -> None:
        parser = _Parser(source)
        self.source = source
        self._evaluate = parser.parse()
        self.keys = frozenset(parser.keys)

    def __call__(self, ctx: TickContext) -> bool:
        if ctx.blackboard is None:
            raise LeafError(f"there is no blackboard to evaluate {self.source!r} on")
        value = self._evaluate(ctx.blackboard)
        return value is not None and value is not False


class _Parser:
    def __init__(self, source: str) -> None:
        self._source = source
        if len(source) > LONGEST:
            raise self._error(f"it has {len(source)} characters; use at most {LONGEST}")
        self._tokens = self._tokenized(source.rstrip())
        self._depth = 0
        self.keys: set[str] = set()

    def parse(self) -> Evaluate:
        evaluate = self._operation(0)
        if self._tokens:
            raise self._error(f"{self._tokens[-1]!r} does not belong here")
        return evaluate

    def _operation(self, level: int) -> Evaluate:
        """Parse what binds at least as tightly as the operators of this level."""
        if level == len(_BINARY):
            return self._operand()
        left = self._operation(level + 1)
        while self._tokens and self._tokens[-1] in _BINARY[level]:
            combine = _BINARY[level][self._next()]
            left = combine(left, self._operation(level + 1))
        return left

    def _operand(self) -> Evaluate:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"nested more than {DEEPEST} deep")
        token = self._next()
        if token in _UNARY:
            value = _applied(_UNARY[token], self._operand())
        elif token == "(":
            value = self._operation(0)
            self._expect(")")
        elif token == "bb":
            value = self._key()
        else:
            value = self._constant(token)
        self._depth -= 1
        return value

    def _constant(self, token: str) -> Evaluate:
        if token in _CONSTANTS:
            value: Any = _CONSTANTS[token]
        elif token[0] in "'\"":
            value = token[1:-1]
        elif token[0].isdigit():
            value = float(token) if "." in token else int(token)
        else:
            raise self._error(
                f"{token!r} is not a value; use bb.key, a number, a string, true, nil …"
            )
        return partial(_given, value)

    def _key(self) -> Evaluate:
        names: list[str] = []
        while not names or self._tokens[-1:] == ["."]:
            self._expect(".")
            names.append(self._next())
            if not _NAME.fullmatch(names[-1]) or names[-1] in _RESERVED:
                raise self._error(f"{names[-1]!r} cannot be the name of a key")
        self.keys.add(names[0])
        return _looked_up(names[0], tuple(names[1:]))

    def _tokenized(self, source: str) -> list[str]:
        """The tokens, last one first, so that taking the next one is a pop."""
        tokens: list[str] = []
        position = 0
        if "--" in source:
            raise self._error("'--' begins a comment in Lua; write - (-x), and no comments")
        while position < len(source):
            match = _TOKEN.match(source, position)
            if match is None:
                raise self._error(f"{source[position:].split()[0]!r:.40} cannot be read")
            tokens.append(match[1])
            position = match.end()
        return tokens[::-1]

    def _next(self) -> str:
        if not self._tokens:
            raise self._error("it ends too early")
        return self._tokens.pop()

    def _expect(self, token: str) -> None:
        if self._next() != token:
            raise self._error(f"{token!r} is missing")

    def _error(self, message: str) -> ExpressionError:
        return ExpressionError(f"expression {self._source!r:.80}: {message}")


def _given(value: Any, board: TypedBlackboard) -> Any:
    """A constant is this with its value: operators recognise it, and need not ask for it."""
    return value


def _looked_up(key: str, fields: tuple[str, ...]) -> Evaluate:
    if not fields:
        return methodcaller("get", key)

    def look_up(board: TypedBlackboard) -> Any:
        value = board.get(key)
        for name in fields:
            if value is None:
                return None
            if not isinstance(value, dict):
                raise LeafError(f"bb.{key} has no field {name!r}: {value!r:.60}")
            value = cast("dict[str, Any]", value).get(name)
        return value

    return look_up


def _either(left: Evaluate, right: Evaluate) -> Evaluate:
    def either(board: TypedBlackboard) -> Any:
        value = left(board)
        return right(board) if value is None or value is False else value

    return either


def _both(left: Evaluate, right: Evaluate) -> Evaluate:
    def both(board: TypedBlackboard) -> Any:
        value = left(board)
        return value if value is None or value is False else right(board)

    return both


def _applied(apply: Callable[[Any], Any], operand: Evaluate) -> Evaluate:
    return lambda board: apply(operand(board))


def _strict(apply: Callable[[Any, Any], Any]) -> Callable[[Evaluate, Evaluate], Evaluate]:
    """An operator that evaluates both of its sides."""

    def combine(left: Evaluate, right: Evaluate) -> Evaluate:
        if isinstance(right, partial):
            value = right.args[0]
            return lambda board: apply(left(board), value)
        return lambda board: apply(left(board), right(board))

    return combine


def _are_numbers(left: object, right: object) -> bool:
    return type(left) in _NUMBERS and type(right) in _NUMBERS


_NUMBERS: Final = frozenset({int, float})


def _equal(left: object, right: object) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def ordered(left: Any, right: Any) -> bool:
        if _are_numbers(left, right) or (isinstance(left, str) and isinstance(right, str)):
            return compare(left, right)
        raise LeafError(f"{left!r:.40} cannot be compared with {right!r:.40}")

    return ordered


def _computed(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def computed(left: Any, right: Any) -> Any:
        if not _are_numbers(left, right):
            raise LeafError(f"{left!r:.40} and {right!r:.40} cannot be computed with")
        try:
            return compute(left, right)
        except ZeroDivisionError:
            raise LeafError(f"{left!r} is divided by zero") from None

    return computed


def _length(value: Any) -> int:
    if isinstance(value, list | dict | str):
        return len(value)  # pyright: ignore[reportUnknownArgumentType]
    raise LeafError(f"{value!r:.40} has no length")


_BINARY: Final[tuple[dict[str, Callable[[Evaluate, Evaluate], Evaluate]], ...]] = (
    {"or": _either},
    {"and": _both},
    {
        "==": _strict(_equal),
        "~=": _strict(lambda left, right: not _equal(left, right)),
        "<": _strict(_ordered(operator.lt)),
        "<=": _strict(_ordered(operator.le)),
        ">": _strict(_ordered(operator.gt)),
        ">=": _strict(_ordered(operator.ge)),
    },
    {"+": _strict(_computed(operator.add)), "-": _strict(_computed(operator.sub))},
    {
        "*": _strict(_computed(operator.mul)),
        "/": _strict(_computed(lambda left, right: left / right)),
        "%": _strict(_computed(operator.mod)),
    },
)
_UNARY: Final[dict[str, Callable[[Any], Any]]] = {
    "not": lambda value: value is None or value is False,
    "-": lambda value: _computed(operator.sub)(0, value),
    "#": _length,
}
