"""A small grammar for conditions over the blackboard: `bb.turn > 3 and bb.last_signal.type == "stuck"`.

It reads like Lua and means the same, but no Lua runs while a tree is ticked: an expression is parsed when the
tree is loaded and becomes a Python closure.

    expression   or, and, not, == ~= < <= > >=, + - * / %, unary - and #, parentheses
    value        bb.key, bb.key.field…, numbers, "strings", true, false, nil
    truth        only nil and false are false
    nil.field    is nil, so that a key may be looked into before it was set
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from oracle.bt.core.context import TickContext
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import InputError, LeafError

LONGEST: Final = 1_000
DEEPEST: Final = 30

Evaluate: TypeAlias = Callable[[TypedBlackboard], Any]

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<number>\d+\.\d+|\d+)|(?P<name>[A-Za-z_]\w*)
    |(?P<string>"[^"\\\n]*"|'[^'\\\n]*')|(?P<symbol>==|~=|<=|>=|[<>+\-*/%\#().]))""",
    re.VERBOSE | re.ASCII,
)
_WORDS: Final = frozenset({"and", "or", "not", "true", "false", "nil"})
_CONSTANTS: Final = {"true": True, "false": False, "nil": None}


class ExpressionError(InputError):
    pass


class Expression:
    """A parsed expression, callable like a condition's function. `keys` are the keys that it reads."""

    __slots__ = ("_evaluate", "keys", "source")

    def __init__(self, source: str) -> None:
        parser = _Parser(source)
        self.source = source
        self._evaluate = parser.parse()
        self.keys = frozenset(parser.keys)

    def __call__(self, ctx: TickContext) -> bool:
        if ctx.blackboard is None:
            raise LeafError(f"there is no blackboard to evaluate {self.source!r} on")
        return _truth(self._evaluate(ctx.blackboard))


def _truth(value: object) -> bool:
    return value is not None and value is not False


class _Parser:
    """One method a level, from loosest to tightest."""

    def __init__(self, source: str) -> None:
        if len(source) > LONGEST:
            raise ExpressionError(f"an expression of {len(source)} characters; use at most {LONGEST}")
        self._source = source
        self._tokens = self._tokenize()
        self._depth = 0
        self.keys: set[str] = set()

    def parse(self) -> Evaluate:
        evaluate = self._or()
        if self._peek():
            raise self._error(f"{self._peek()!r} does not belong here")
        return evaluate

    def _or(self) -> Evaluate:
        left = self._and()
        while self._accept("or"):
            left = _either(left, self._and())
        return left

    def _and(self) -> Evaluate:
        left = self._comparison()
        while self._accept("and"):
            left = _both(left, self._comparison())
        return left

    def _comparison(self) -> Evaluate:
        left = self._sum()
        while self._peek() in _COMPARISONS:
            symbol = self._next()
            left = _binary(_COMPARISONS[symbol], left, self._sum())
        return left

    def _sum(self) -> Evaluate:
        left = self._product()
        while self._peek() in ("+", "-"):
            symbol = self._next()
            left = _binary(_ARITHMETIC[symbol], left, self._product())
        return left

    def _product(self) -> Evaluate:
        left = self._unary()
        while self._peek() in ("*", "/", "%"):
            symbol = self._next()
            left = _binary(_ARITHMETIC[symbol], left, self._unary())
        return left

    def _unary(self) -> Evaluate:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"nested more than {DEEPEST} deep")
        try:
            for symbol, apply in _UNARY.items():
                if self._accept(symbol):
                    return _applied(apply, self._unary())
            return self._value()
        finally:
            self._depth -= 1

    def _value(self) -> Evaluate:
        token = self._next()
        if token == "(":
            inner = self._or()
            self._expect(")")
            return inner
        if token == "bb":
            return self._key()
        if token in _CONSTANTS:
            return _constant(_CONSTANTS[token])
        if token[:1] in ("'", '"'):
            return _constant(token[1:-1])
        if token[:1].isdigit():
            return _constant(float(token) if "." in token else int(token))
        if not token:
            raise self._error("it ends too early")
        raise self._error(f"{token!r} is not known; a value is bb.key, a number, a string or true, false, nil")

    def _key(self) -> Evaluate:
        self._expect(".")
        key = self._name()
        self.keys.add(key)
        fields: list[str] = []
        while self._accept("."):
            fields.append(self._name())
        return _looked_up(key, tuple(fields))

    def _name(self) -> str:
        token = self._next()
        if not re.fullmatch(r"[A-Za-z_]\w*", token) or token in _WORDS:
            raise self._error(f"{token!r} is no name of a key")
        return token

    def _tokenize(self) -> list[str]:
        tokens: list[str] = []
        position = 0
        source = self._source.rstrip()
        while position < len(source):
            match = _TOKEN.match(source, position)
            if match is None:
                raise self._error(f"{source[position:].split()[0]!r:.40} cannot be read")
            tokens.append(match[0].strip())
            position = match.end()
        tokens.reverse()
        return tokens

    def _peek(self) -> str:
        return self._tokens[-1] if self._tokens else ""

    def _next(self) -> str:
        return self._tokens.pop() if self._tokens else ""

    def _accept(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._tokens.pop()
        return True

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            raise self._error(f"{token!r} is missing before {self._peek() or 'the end'!r}")

    def _error(self, message: str) -> ExpressionError:
        return ExpressionError(f"expression {self._source!r:.80}: {message}")


def _constant(value: Any) -> Evaluate:
    return lambda board: value


def _looked_up(key: str, fields: tuple[str, ...]) -> Evaluate:
    if not fields:
        return lambda board: board.get(key)

    def look_up(board: TypedBlackboard) -> Any:
        value = board.get(key)
        for name in fields:
            if value is None:
                return None
            if not isinstance(value, dict):
                raise LeafError(f"bb.{key} has no field {name!r}: {value!r:.60}")
            value = value.get(name)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        return value  # pyright: ignore[reportUnknownVariableType]

    return look_up


def _either(left: Evaluate, right: Evaluate) -> Evaluate:
    def either(board: TypedBlackboard) -> Any:
        value = left(board)
        return value if _truth(value) else right(board)

    return either


def _both(left: Evaluate, right: Evaluate) -> Evaluate:
    def both(board: TypedBlackboard) -> Any:
        value = left(board)
        return right(board) if _truth(value) else value

    return both


def _binary(apply: Callable[[Any, Any], Any], left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda board: apply(left(board), right(board))


def _applied(apply: Callable[[Any], Any], operand: Evaluate) -> Evaluate:
    return lambda board: apply(operand(board))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(left: object, right: object) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def ordered(left: Any, right: Any) -> bool:
        numbers = _is_number(left) and _is_number(right)
        if numbers or (isinstance(left, str) and isinstance(right, str)):
            return compare(left, right)
        raise LeafError(f"{left!r:.40} cannot be compared with {right!r:.40}")

    return ordered


def _computed(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def computed(left: Any, right: Any) -> Any:
        if not (_is_number(left) and _is_number(right)):
            raise LeafError(f"{left!r:.40} and {right!r:.40} cannot be computed with")
        try:
            return compute(left, right)
        except ZeroDivisionError:
            raise LeafError(f"{left!r} is divided by zero") from None

    return computed


def _negated(value: Any) -> Any:
    return _ARITHMETIC["-"](0, value)


def _length(value: Any) -> int:
    if isinstance(value, list | dict | str):
        return len(value)  # pyright: ignore[reportUnknownArgumentType]
    raise LeafError(f"{value!r:.40} has no length")


_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": _equal,
    "~=": lambda left, right: not _equal(left, right),
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
}
_ARITHMETIC: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": _computed(operator.add),
    "-": _computed(operator.sub),
    "*": _computed(operator.mul),
    "/": _computed(operator.truediv),
    "%": _computed(operator.mod),
}
_UNARY: Final[dict[str, Callable[[Any], Any]]] = {
    "not": lambda value: not _truth(value),
    "-": _negated,
    "#": _length,
}
