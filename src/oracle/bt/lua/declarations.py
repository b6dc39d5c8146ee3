"""What a tree file declares: trees and nodes, as data, before anything is built from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeGuard, cast

from oracle.bt.lua.sandbox import Call, LuaValue, Table, run_tree_file
from oracle.bt.state.schema import Json, Key, key_from_name
from oracle.errors import BlackboardError, TreeFileError, did_you_mean
from oracle.lazy_dataclass import dataclass

_TREE_OPTIONS: Final = ("description", "blackboard", "root", "finish")


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeDeclaration:
    """`BT.kind("text", { option = …, children… })`."""

    kind: str
    line: int
    text: str | None
    options: Mapping[str, Json]
    children: tuple[NodeDeclaration, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeDeclaration:
    name: str
    file: str
    line: int
    description: str
    schema: Mapping[str, Key] | None
    root: NodeDeclaration
    finish: NodeDeclaration | None


# Editing one file loads all of them again. Lua has no input but the text, so the others
# would declare the same as before.
@lru_cache(maxsize=64)
def declared_trees(source: str, file: str) -> tuple[TreeDeclaration, ...]:
    calls = run_tree_file(source, file)
    if not calls:
        raise TreeFileError("no tree is declared; write BT.tree(name, { root = … })", file=file)
    return tuple(_File(file).tree(call) for call in calls)


class _File:
    """Checks the shape of calls; every complaint carries the place."""

    def __init__(self, file: str) -> None:
        self._file = file

    def tree(self, call: Call) -> TreeDeclaration:
        match call.arguments:
            case (str(name), Table(items=(), fields=fields)) if name:
                pass
            case _:
                raise self._error(call, "a tree is BT.tree(name, { root = … })")
        for option in fields:
            if option not in _TREE_OPTIONS:
                raise self._error(
                    call, f"a tree has no {option!r}{did_you_mean(option, _TREE_OPTIONS)}"
                )
        description = fields.get("description") or ""
        if not isinstance(description, str):
            raise self._error(call, "description must be a string")
        return TreeDeclaration(
            name=name,
            file=self._file,
            line=call.line,
            description=description,
            schema=self._schema(call, fields.get("blackboard")),
            root=self._branch(call, "root", fields.get("root")),
            finish=self._branch(call, "finish", fields["finish"]) if "finish" in fields else None,
        )

    def node(self, call: Call) -> NodeDeclaration:
        if call.kind == "leaf":
            return self._leaf(call)
        if call.kind == "expect":
            return self._expect(call)
        text, rest = None, call.arguments
        if rest and isinstance(rest[0], str):
            text, rest = rest[0], rest[1:]
        match rest:
            case ():
                items, fields = (), {}
            case (Call() as child,):
                items, fields = (child,), {}
            case (Table(items=items, fields=fields),):
                pass
            case _:
                raise self._error(
                    call,
                    f"BT.{call.kind} takes a name and one table; put the children into {{ … }}",
                )
        options = {name: self._plain(call, name, value) for name, value in fields.items()}
        if call.kind == "guard" and len(items) == 2 and _is_test(items[0]):
            if not options.keys().isdisjoint({"fn", "expression", "args"}):
                raise self._error(call, "the test of this guard is given twice; keep one of them")
            options |= self._test(items[0])
            items = items[1:]
        return NodeDeclaration(
            kind=call.kind,
            line=call.line,
            text=text,
            options=options,
            children=tuple(self._child(call, item) for item in items),
        )

    def _leaf(self, call: Call) -> NodeDeclaration:
        """`module.leaf`, `module.leaf { argument = … }` or `module.leaf("name", { … })`."""
        address, rest = str(call.arguments[0]), call.arguments[1:]
        name = address.rpartition(".")[2].replace("_", " ")
        if rest and isinstance(rest[0], str):
            name, rest = rest[0], rest[1:]
        options: dict[str, Json] = {"fn": address}
        match rest:
            case ():
                pass
            case (Table(items=(), fields=fields),):
                options["args"] = {key: self._plain(call, key, fields[key]) for key in fields}
            case _:
                raise self._error(call, f"{address} takes a name and a table of arguments")
        return NodeDeclaration(kind="leaf", line=call.line, text=name, options=options, children=())

    def _expect(self, call: Call) -> NodeDeclaration:
        """`BT.expect("name", "expression")`: short for a condition with an expression."""
        match call.arguments:
            case (str(name), str(expression)):
                return NodeDeclaration(
                    kind="condition",
                    line=call.line,
                    text=name,
                    options={"expression": expression},
                    children=(),
                )
            case _:
                raise self._error(call, 'BT.expect takes two strings: ("name", "bb.turn > 3")')

    def _test(self, test: str | Call) -> dict[str, Json]:
        """The first of a guard's two items: an expression, or a leaf that looks."""
        return {"expression": test} if isinstance(test, str) else dict(self._leaf(test).options)

    def _branch(self, call: Call, option: str, value: LuaValue) -> NodeDeclaration:
        if not isinstance(value, Call):
            raise self._error(call, f"{option} must be a node, such as BT.sequence({{ … }})")
        return self.node(value)

    def _child(self, call: Call, item: LuaValue) -> NodeDeclaration:
        if not isinstance(item, Call):
            raise self._error(call, f"a child of BT.{call.kind} is {_shown(item)}; use BT.… nodes")
        return self.node(item)

    def _plain(self, call: Call, name: str, value: LuaValue) -> Json:
        """Options are data: a node there is a child that lost its place."""
        if isinstance(value, Call):
            raise self._error(call, f"{name!r} holds a node; put it into the list without a name")
        if not isinstance(value, Table):
            return value
        if value.items and value.fields:
            raise self._error(call, f"{name!r} mixes a list with named fields")
        if value.items:
            return [self._plain(call, name, item) for item in value.items]
        return {key: self._plain(call, name, item) for key, item in value.fields.items()}

    def _schema(self, call: Call, value: LuaValue) -> Mapping[str, Key] | None:
        if value is None:
            return None
        if not isinstance(value, Table) or value.items:
            raise self._error(call, 'blackboard must be a table such as { turn = "integer" }')
        schema: dict[str, Key] = {}
        for name, key in value.fields.items():
            group, keys = (name, key.fields) if _is_group(key) else ("", {name: key})
            for own, declared in keys.items():
                if own in schema:
                    raise self._error(call, f"key {own!r} is declared twice")
                schema[own] = self._key(call, own, declared, group)
        return schema

    def _key(self, call: Call, name: str, value: LuaValue, group: str) -> Key:
        declared = self._plain(call, name, value)
        match declared:
            case bool() | int() | float():
                return Key(type(declared), declared, group=group)
            case str(type_name):
                default = None
            case {"type": str(type_name), **rest} if not rest.keys() - {"default"}:
                default = declared.get("default")
            case _:
                raise self._error(
                    call,
                    f'key {name!r}: write "integer", 0 or {{ type = "integer", default = 0 }}',
                )
        if default == {} and type_name.startswith("list"):
            default = []  # in Lua an empty table is both a list and an object
        try:
            return key_from_name(type_name, cast("Json", default), group)
        except BlackboardError as problem:
            raise self._error(call, f"key {name!r}: {problem}") from None

    def _error(self, call: Call, message: str) -> TreeFileError:
        return TreeFileError(message, file=self._file, line=call.line)


def _is_group(value: LuaValue) -> TypeGuard[Table]:
    """Whether a table declares several keys, not one by its type and default."""
    if not isinstance(value, Table) or not value.fields:
        return False
    return value.fields.keys().isdisjoint({"type", "default"})


def _is_test(item: LuaValue) -> TypeGuard[str | Call]:
    return isinstance(item, str) or (isinstance(item, Call) and item.kind == "leaf")


def _shown(value: LuaValue) -> str:
    return "a table" if isinstance(value, Table) else repr(value)
