"""The records of an outline: what a file defines, and where its comments are."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A definition with its lines, from 1, both included."""

    name: str
    kind: str
    start: int
    end: int
    parent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Outline:
    """`remarks` are the lines of comments and docstrings, both included."""

    symbols: Sequence[Symbol] = ()
    remarks: Sequence[tuple[int, int]] = ()


def nested(symbols: list[Symbol]) -> list[Symbol]:
    """In the order of the file, each with the name of the definition around it."""
    placed: list[Symbol] = []
    around: list[Symbol] = []
    for symbol in sorted(symbols, key=lambda each: (each.start, -each.end)):
        while around and around[-1].end < symbol.start:
            around.pop()
        inside = around[-1].name if around and around[-1].end >= symbol.end else None
        # Most definitions are at the top level, and need no copy.
        if inside and not symbol.parent:
            symbol = Symbol(
                name=symbol.name,
                kind=symbol.kind,
                start=symbol.start,
                end=symbol.end,
                parent=inside,
            )
        placed.append(symbol)
        if _may_hold(symbol):
            around.append(symbol)
    return placed


def _may_hold(symbol: Symbol) -> bool:
    """Whether what follows can be inside it. What a constructor sets belongs to its class."""
    if symbol.kind == "function":
        return symbol.end > symbol.start and symbol.name != "constructor"
    return symbol.kind not in ("constant", "declaration")
