"""Another tree, in its own scope."""

from collections.abc import Mapping
from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import RUNNING, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.state.schema import Key


class Subtree(Decorator, kind="subtree"):
    """Play another tree's root as its child.

    | child   | subtree                                                         |
    | ------- | --------------------------------------------------------------- |
    | SUCCESS, FAILURE, SKIPPED | the same; the scope is closed                 |
    | RUNNING | RUNNING; the scope stays open                                   |
    | halted  | the scope is closed                                             |

    The keys that the tree declares live in a scope that is opened anew each time it starts. It also
    sees the keys around it, unless `ports` names the only ones that it may see: `{inner name: outer
    name}`.
    """

    __slots__ = ("_schema", "ports", "tree")
    positional = "tree"

    def __init__(
        self,
        child: Node,
        *,
        tree: str,
        schema: Mapping[str, Key] | None = None,
        ports: Mapping[str, str] | None = None,
        **label: Unpack[Label],
    ) -> None:
        super().__init__(child, **{"name": tree, **label})
        self.tree = tree
        self._schema: Mapping[str, Key] = schema or {}
        self.ports = ports

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        if not self._schema and self.ports is None:
            run.statuses[child.index] = status = child.tick(run)
            return status
        context = run.context
        outer = context.blackboard
        context.blackboard = run.scopes.get(self.index) or self.open_scope(run, outer)
        try:
            run.statuses[child.index] = status = child.tick(run)
        finally:
            context.blackboard = outer
        if status is not RUNNING:
            del run.scopes[self.index]
        return status

    def halt(self, run: RunState) -> None:
        super().halt(run)
        run.scopes.pop(self.index, None)

    def keys(self) -> frozenset[str]:
        return frozenset((self.ports or {}).values())

    def declares(self) -> Mapping[str, Key]:
        return self._schema

    def keys_below(self, visible: Mapping[str, Key] | None) -> Mapping[str, Key] | None:
        if self.ports is not None:
            outer = {name: (visible or {}).get(port, Key()) for name, port in self.ports.items()}
            return {**outer, **self._schema}
        return None if visible is None else {**visible, **self._schema}

    def open_scope(self, run: RunState, outer: TypedBlackboard | None) -> TypedBlackboard:
        scope = TypedBlackboard(
            scope_name=self.path, parent=outer, schema=self._schema, ports=self.ports
        )
        run.scopes[self.index] = scope
        return scope
