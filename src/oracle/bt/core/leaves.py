"""Which Python functions a tree may name.

A tree file can name a leaf only if it was registered here by its decorator, so that a tree never
reaches arbitrary Python. The decorator hands the function back unchanged: a leaf is tested by
calling it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final, Literal, TypeAlias, TypeVar

from oracle.bt.state.schema import Key
from oracle.lazy_dataclass import dataclass

LeafKind: TypeAlias = Literal["action", "condition"]
_MARK: Final = "__oracle_leaf__"
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaf:
    """A registered function, with the blackboard keys that it reads and writes."""

    name: str
    kind: LeafKind
    fn: Callable[..., Any]
    reads: frozenset[str]
    writes: frozenset[str]


class LeafRegistry:
    """Leaves by their dotted name, `package.module.function`.

    `missing` says of modules that could not be loaded why not, and what to do. `later_keys` are
    keys that leaves began to use after trees had been written for them: a tree that does not
    declare one has it with its default, so a run recorded by an older version can be resumed.
    """

    def __init__(self) -> None:
        self._leaves: dict[str, Leaf] = {}
        self.missing: dict[str, str] = {}
        self.later_keys: dict[str, Key] = {}

    def action(
        self, *, reads: Iterable[str] = (), writes: Iterable[str] = ()
    ) -> Callable[[Function], Function]:
        """Register a function that does something: `def fn(ctx) -> RunStatus`, or `async def`."""
        return self._registrar("action", reads, writes)

    def condition(self, *, reads: Iterable[str] = ()) -> Callable[[Function], Function]:
        """Register a function that only looks: `def fn(ctx) -> bool | RunStatus`, at once."""
        return self._registrar("condition", reads, ())

    def get(self, name: str) -> Leaf | None:
        return self._leaves.get(name)

    def forget(self, module: str) -> None:
        """Remove the leaves of a module: half of a file that failed is no file."""
        self._leaves = {k: leaf for k, leaf in self._leaves.items() if leaf.fn.__module__ != module}

    def __iter__(self) -> Iterator[str]:
        return iter(self._leaves)

    def _registrar(
        self, kind: LeafKind, reads: Iterable[str], writes: Iterable[str]
    ) -> Callable[[Function], Function]:
        def register(fn: Function) -> Function:
            name, keys = f"{fn.__module__}.{fn.__qualname__}", (frozenset(reads), frozenset(writes))
            leaf = Leaf(name=name, kind=kind, fn=fn, reads=keys[0], writes=keys[1])
            self._leaves[leaf.name] = leaf
            setattr(fn, _MARK, leaf)
            return fn

        return register


LEAVES = LeafRegistry()
action = LEAVES.action
condition = LEAVES.condition


def declared_keys(fn: Callable[..., Any]) -> frozenset[str]:
    """The blackboard keys that a function or an expression says it touches."""
    leaf = leaf_of(fn)
    return leaf.reads | leaf.writes if leaf else frozenset(getattr(fn, "keys", ()))


def leaf_label(fn: Callable[..., Any]) -> str:
    """What to call it in a drawing: a leaf by its dotted name, an expression by its text."""
    leaf = leaf_of(fn)
    return leaf.name if leaf else str(getattr(fn, "source", getattr(fn, "__qualname__", fn)))


def leaf_of(fn: Callable[..., Any]) -> Leaf | None:
    """What was registered for a function; None for an expression."""
    return getattr(fn.func if isinstance(fn, partial) else fn, _MARK, None)
