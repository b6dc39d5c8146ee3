"""Builds nodes from declarations. A node class's own constructor says which options there are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Any, Final, get_type_hints

from oracle.bt import nodes
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.leaves import Leaf, LeafRegistry
from oracle.bt.core.node import Label, Node
from oracle.bt.lua.declarations import NodeDeclaration, TreeDeclaration
from oracle.bt.lua.expressions import Expression, ExpressionError
from oracle.bt.state.schema import Json, Key
from oracle.errors import StructureError, TreeFileError, did_you_mean

_CHECKED: Final[dict[object, tuple[str, tuple[type, ...]]]] = {
    bool: ("true or false", (bool,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    float | str: ("a number, or the name of a key", (int, float, str)),
    str: ("a string", (str,)),
    int | str: ("a whole number or a string", (int, str)),
    Mapping[str, str] | None: ("a table of names", (dict,)),
}
# The annotations of leaves may be texts.
_CHECKED.update({type_.__name__: _CHECKED[type_] for type_ in (bool, int, float, str)})
MOST_NODES: Final = 10_000
DEEPEST: Final = 100
# Each copy of a subtree has the same leaves, and an expression has no state.
_signature = cache(inspect.signature)
_parsed = lru_cache(maxsize=1024)(Expression)
_LEAF_OPTIONS: Final = ("fn", "expression", "args")


class TreeBuilder:
    """Builds definitions out of the trees of one library."""

    def __init__(self, trees: Mapping[str, TreeDeclaration], leaves: LeafRegistry) -> None:
        self.trees = trees
        self._leaves = leaves
        self._stack: list[str] = []
        self._nodes = 0
        self._depth = 0
        self.used_as_subtree: set[str] = set()

    def definition(self, name: str, *, stands_alone: bool = True) -> TreeDefinition:
        """Build a tree. One that does not work alone uses keys of other trees, so its keys are not
        checked.
        """
        tree = self.trees[name]
        self._stack = [name]
        self._nodes = self._depth = 0
        root = self._node(tree, tree.root)
        finish = None if tree.finish is None else self._node(tree, tree.finish)
        try:
            return TreeDefinition(
                name,
                root,
                finish=finish,
                schema=self._schema(tree, root, finish) if stands_alone else None,
                description=tree.description,
            )
        except StructureError as problem:
            raise TreeFileError(str(problem), file=tree.file, line=tree.line) from None

    def _schema(self, tree: TreeDeclaration, *branches: Node | None) -> Mapping[str, Key] | None:
        """The declared keys, and those of `later_keys` that the leaves of this tree need too."""
        if tree.schema is None:
            return None
        used = frozenset[str]().union(*(_keys_used(branch) for branch in branches if branch))
        later = {k: key for k, key in self._leaves.later_keys.items() if k in used}
        return {**later, **tree.schema}

    def _node(self, tree: TreeDeclaration, declared: NodeDeclaration) -> Node:
        kind = self._leaf_kind(tree, declared) or Node.kinds.get(declared.kind)
        if kind is None:
            hint = did_you_mean(declared.kind, Node.kinds)
            raise _error(tree, declared, f"no node {declared.kind!r}{hint}")
        options: dict[str, Any] = dict(declared.options)
        if declared.text is not None:
            if kind.positional in options:
                raise _error(tree, declared, f"{kind.positional!r} is given twice")
            options[kind.positional] = declared.text
        children = self._children(tree, declared)
        if kind is nodes.Subtree:
            children += self._expand(tree, declared, options)
        elif "fn" in _parameters(kind):
            options["fn"] = self._function(tree, declared, kind, options)
        elif "restart" in options:
            if not isinstance(options["restart"], str):
                raise _error(tree, declared, 'restart must be an expression, such as "bb.news"')
            options["restart"] = self._expression(tree, declared, options["restart"])
        _check_options(tree, declared, kind, options)
        try:
            kind.check_count(len(children))
            node = kind(*children, **options)
        except StructureError as problem:
            raise _error(tree, declared, str(problem)) from None
        node.place = (tree.file, declared.line)
        return node

    def _children(self, tree: TreeDeclaration, declared: NodeDeclaration) -> list[Node]:
        """Build the children. The total is bounded, because subtrees of subtrees multiply."""
        self._nodes += 1
        self._depth += 1
        if self._nodes > MOST_NODES or self._depth > DEEPEST:
            limits = f"{MOST_NODES} nodes or {DEEPEST} levels"
            raise _error(tree, declared, f"more than {limits}, with all subtrees")
        children = [self._node(tree, child) for child in declared.children]
        self._depth -= 1
        return children

    def _expand(
        self, tree: TreeDeclaration, declared: NodeDeclaration, options: dict[str, Any]
    ) -> list[Node]:
        """Put a fresh copy of the named tree below the node, and its keys into the options."""
        name = options.get("tree")
        if "schema" in options:
            raise _error(tree, declared, "a subtree's keys are declared where the tree is")
        if not isinstance(name, str) or name not in self.trees:
            raise _error(tree, declared, f"no tree {name!r}{did_you_mean(str(name), self.trees)}")
        if name in self._stack:
            raise _error(
                tree, declared, f"subtrees in a circle: {' → '.join([*self._stack, name])}"
            )
        inner = self.trees[name]
        if inner.finish is not None:
            raise _error(tree, declared, f"{name!r} has a finish branch, so it cannot be a subtree")
        ports = options.get("ports")
        if isinstance(ports, dict) and not all(isinstance(p, str) for p in ports.values()):  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            raise _error(
                tree, declared, 'ports must be a table of names, such as { inner = "outer" }'
            )
        self.used_as_subtree.add(name)
        options["schema"] = inner.schema
        self._stack.append(name)
        self._depth += 1
        root = self._node(inner, inner.root)
        self._depth -= 1
        self._stack.pop()
        return [root]

    def _function(
        self,
        tree: TreeDeclaration,
        declared: NodeDeclaration,
        kind: type[Node],
        options: dict[str, Any],
    ) -> Callable[..., Any]:
        name, expression, arguments = (options.pop(option, None) for option in _LEAF_OPTIONS)
        wanted = "action" if kind.kind == "action" else "condition"
        if isinstance(expression, str) and name is None and wanted == "condition":
            return self._expression(tree, declared, expression)
        if not isinstance(name, str) or expression is not None:
            choice = "fn" if wanted == "action" else "either fn or expression"
            raise _error(tree, declared, f"{kind.kind} takes {choice}, as a string")
        leaf = self._registered(tree, declared, name)
        if leaf.kind != wanted:
            raise _error(tree, declared, f"{name!r} is registered as {leaf.kind}, not as {wanted}")
        return _with_arguments(tree, declared, leaf, arguments)

    def _leaf_kind(self, tree: TreeDeclaration, declared: NodeDeclaration) -> type[Node] | None:
        """A leaf that is named by itself is an action or a condition, as it was registered."""
        if declared.kind != "leaf":
            return None
        return Node.kinds[self._registered(tree, declared, str(declared.options["fn"])).kind]

    def _registered(self, tree: TreeDeclaration, declared: NodeDeclaration, name: str) -> Leaf:
        leaf = self._leaves.get(name)
        if leaf is None:
            raise _error(tree, declared, f"no leaf {name!r} is registered{self._leaf_hint(name)}")
        return leaf

    def _expression(
        self, tree: TreeDeclaration, declared: NodeDeclaration, source: str
    ) -> Expression:
        try:
            return _parsed(source)
        except ExpressionError as problem:
            raise _error(tree, declared, str(problem)) from None

    def _leaf_hint(self, name: str) -> str:
        """Some misspell a part of the dotted name, others get only its end right."""
        if reason := self._leaves.missing.get(name.rpartition(".")[0]):
            return f": {reason}"
        last = name.rpartition(".")[2]
        known = [leaf for leaf in self._leaves if leaf.endswith(f".{last}")]
        if known:
            return f"; did you mean {known[0]!r}?"
        return did_you_mean(name, self._leaves) or (
            "; decorate it with @action or @condition, and import its module (--leaves)"
        )


def _with_arguments(
    tree: TreeDeclaration, declared: NodeDeclaration, leaf: Leaf, arguments: Json
) -> Callable[..., Any]:
    if arguments is not None and not isinstance(arguments, dict):
        raise _error(tree, declared, "args must be a table of names and values")
    try:
        (signature := _signature(leaf.fn)).bind(None, **(arguments or {}))
    except TypeError as problem:
        raise _error(tree, declared, f"{leaf.name!r}: {problem}") from None
    for name, value in (arguments or {}).items():
        # A leaf that takes any name with `**` says nothing about the types.
        own = getattr(signature.parameters.get(name), "annotation", None)
        _check_type(tree, declared, f"{leaf.name!r}: {name}", own, value)
    return partial(leaf.fn, **arguments) if arguments else leaf.fn


def _keys_used(node: Node) -> frozenset[str]:
    return node.keys().union(*map(_keys_used, node.children))


def _check_options(
    tree: TreeDeclaration, declared: NodeDeclaration, kind: type[Node], options: Mapping[str, Any]
) -> None:
    parameters = _parameters(kind)
    for name, value in options.items():
        if name not in parameters:
            hint = did_you_mean(name, parameters) or f"; it has {', '.join(sorted(parameters))}"
            raise _error(tree, declared, f"{declared.kind} has no option {name!r}{hint}")
        _check_type(tree, declared, f"{declared.kind}: {name}", parameters[name], value)
    for name in _required(kind):
        if name not in options:
            raise _error(tree, declared, f"{declared.kind} needs the option {name!r}")


def _check_type(
    tree: TreeDeclaration, declared: NodeDeclaration, what: str, type_: object, value: object
) -> None:
    wanted, types = _CHECKED.get(type_, ("", ()))
    if wanted and (isinstance(value, bool) != (bool in types) or not isinstance(value, types)):
        raise _error(tree, declared, f"{what} must be {wanted}, not {value!r:.80}")


@cache
def _parameters(kind: type[Node]) -> Mapping[str, object]:
    """The options of a kind with their types, and what every node takes."""
    types = get_type_hints(kind.__init__)
    return {name: types.get(name) for name, _ in _own(kind)} | get_type_hints(Label)


@cache
def _required(kind: type[Node]) -> tuple[str, ...]:
    return tuple(name for name, own in _own(kind) if own.default is own.empty)


def _own(kind: type[Node]) -> list[tuple[str, inspect.Parameter]]:
    parameters = inspect.signature(kind).parameters.items()
    return [(name, own) for name, own in parameters if own.kind is own.KEYWORD_ONLY]


def _error(tree: TreeDeclaration, declared: NodeDeclaration, message: str) -> TreeFileError:
    return TreeFileError(message, file=tree.file, line=declared.line)
