"""What every node is: a part of an immutable definition that many runs share.

A node keeps nothing between ticks on itself. What it remembers lies in the run, at the node's
index. The node that ticks a child records its status, so that a node kind cannot forget to:

    statuses[child.index] = status = child.tick(run)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, TypedDict, Unpack

from oracle.bt.core.leaves import leaf_label
from oracle.bt.state.base import RUNNING, RunStatus
from oracle.errors import OracleError, StructureError, TreeFileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.bt.core.run import RunState
    from oracle.bt.state.schema import Key

UNBOUND: Final = -1


class Label(TypedDict, total=False):
    """What every kind of node takes."""

    name: str
    description: str


class Node:
    """You override `tick`, and `halt` if the node holds more than children and its memory.

    A class with `kind="…"` can be named in trees by that kind. Its keyword-only parameters are the
    options that trees may give; their annotations are checked when a tree is loaded.
    """

    __slots__ = ("children", "description", "end", "index", "name", "path", "place", "segment")

    kinds: ClassVar[dict[str, type[Node]]] = {}
    kind: ClassVar[str] = ""
    least_children: ClassVar[int] = 0
    most_children: ClassVar[int | None] = 0
    positional: ClassVar[str] = "name"
    """The option that a tree's `BT.kind("…")` sets with its string."""

    def __init_subclass__(cls, *, kind: str = "", **rest: object) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        if kind:
            Node.kinds[kind] = cls

    def __init__(self, *children: Node, **label: Unpack[Label]) -> None:
        self.children: tuple[Node, ...] = ()
        self.name = label.get("name")
        self.description = label.get("description", "")
        self.segment: str | None = None
        self.index = UNBOUND
        self.end = UNBOUND
        self.path = ""
        self.place: tuple[str, int] | None = None
        self.adopt(children)

    @classmethod
    def check_count(cls, children: int) -> None:
        least, most = cls.least_children, cls.most_children
        if children < least or (most is not None and children > most):
            wanted = f"{least} or more" if most is None else str(least)
            noun = "child" if wanted == "1" else "children"
            raise StructureError(f"{cls.kind} takes {wanted} {noun}, not {children}")

    def tick(self, run: RunState) -> RunStatus:
        raise NotImplementedError(f"{type(self).__name__} does not say what a tick does")

    def halt(self, run: RunState) -> None:
        """Stop the children, then forget. Nodes that are not running do not change, so that halting
        twice is harmless.
        """
        for child in self.children:
            if run.has_something_at(child):
                child.halt(run)
        if run.statuses[self.index] is RUNNING:
            run.memory[self.index] = None
            run.statuses[self.index] = None

    def adopt(self, children: tuple[Node, ...]) -> None:
        """Take these as the only children."""
        self.check_count(len(children))
        self.children = children

    def bind(self, ancestors: Sequence[Node]) -> None:
        """Look once at what is above, when the tree is built."""

    def link(self, nodes: Sequence[Node]) -> None:
        """Look once for other nodes of the tree, when all of them are bound."""

    def keys(self) -> frozenset[str]:
        """The blackboard keys that this node itself reads or writes."""
        return frozenset()

    def keys_below(self, visible: Mapping[str, Key] | None) -> Mapping[str, Key] | None:
        """The keys that its children can see if it sees `visible`; None means all keys."""
        return visible

    def options(self) -> dict[str, object]:
        """What a tree can set in addition to name, description and children: the public slots of
        the class.
        """
        shown: dict[str, object] = {}
        for name in type(self).__slots__:
            value = None if name[0] == "_" else getattr(self, name)
            if value is not None:
                shown[name] = leaf_label(value) if callable(value) else value
            if isinstance(value, partial):
                shown["args"] = value.keywords
        return shown

    def declares(self) -> Mapping[str, Key]:
        """The keys that live in a scope of this node's own."""
        return {}

    def complaint(self, message: str, kind: type[TreeFileError] = TreeFileError) -> OracleError:
        """Say what is wrong with this node, at its place in a tree file if it has one."""
        if self.place is not None:
            return kind(message, file=self.place[0], line=self.place[1])
        return StructureError(f"{self.path or self.name or self.kind}: {message}")

    def __repr__(self) -> str:
        return f"<{self.kind or type(self).__name__} {self.path or self.name or '(unbound)'}>"


class Composite(Node):
    """Has one child or more and decides which of them to tick."""

    __slots__ = ()
    least_children = 1
    most_children = None


class Decorator(Node):
    """Has one child, and changes when it is ticked or which status it returns."""

    __slots__ = ("child",)
    least_children = 1
    most_children = 1

    def adopt(self, children: tuple[Node, ...]) -> None:
        super().adopt(children)
        self.child = children[0]
