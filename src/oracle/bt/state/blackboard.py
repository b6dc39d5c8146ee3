"""The one place where a run keeps its state, in nested scopes.

A value is JSON-shaped and is replaced, never changed in place: that is what makes a snapshot cheap
and a replay exact. py_trees keeps one global board for all trees; here each run has its own, so
that thousands of runs share a process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from oracle.bt.state.schema import Json, Key
from oracle.errors import BlackboardError, did_you_mean
from oracle.plain import is_plain

AccessObserver: TypeAlias = Callable[[str, str, str], None]
"""Called with what was done ("read" or "write"), the scope's name and the key."""

_UNSET: Final = object()


class TypedBlackboard:
    """A scope of keys and values.

    A key lives in the scope that declares it and is written there, whichever scope it is reached
    through. Without a schema a scope is open: it takes every key that no scope declares. With
    `ports`, a scope is isolated: of its parent it sees only the keys that the ports name, `{own
    name: parent's name}`.
    """

    __slots__ = ("_data", "_observer", "_parent", "_ports", "_schema", "scope_name")

    def __init__(
        self,
        *,
        scope_name: str = "root",
        parent: TypedBlackboard | None = None,
        schema: Mapping[str, Key | type] | None = None,
        ports: Mapping[str, str] | None = None,
    ) -> None:
        self.scope_name = scope_name
        self._parent = parent
        self._schema = None if schema is None else _declared(schema)
        self._ports = ports
        self._data: dict[str, Json] = {}
        self._observer: AccessObserver | None = None if parent is None else parent._observer

    def get(self, key: str, default: Json = None) -> Any:
        """Return the value, else the declared default; `default` is for keys that an open scope
        lacks.
        """
        value = self._data.get(key, _UNSET)
        if value is _UNSET:
            # The short way for a key of this scope: this is called more often than anything else.
            declared = None if self._schema is None else self._schema.get(key)
            if declared is None:
                home, name = self._home_of(key)
                value = home._data.get(name, _UNSET)
                if value is _UNSET and home._schema is not None:
                    declared = home._schema.get(name)
            if value is _UNSET:
                value = default if declared is None else declared.fresh_default()
        if self._observer is not None:
            self._observer("read", self.scope_name, key)
        return value

    def set(self, key: str, value: Json) -> None:
        home, name, schema = self, key, self._schema
        declared = None if schema is None else schema.get(key)
        if declared is None:
            home, name = self._home_of(key)
            declared = home._schema.get(name) if home._schema is not None else _ANYTHING
        if declared is not None and type(value) not in declared.accepted:
            declared.check(f"{home.scope_name}.{name}", value)
        home._data[name] = value
        if self._observer is not None:
            self._observer("write", self.scope_name, key)

    def __contains__(self, key: str) -> bool:
        """Say whether the key was written or is declared somewhere in sight."""
        try:
            home, name = self._home_of(key)
        except BlackboardError:
            return False
        return name in home._data or name in (home._schema or ())

    def observe(self, observer: AccessObserver | None) -> None:
        """Report every access from now on; scopes that are opened below report to the same
        observer.
        """
        self._observer = observer

    def snapshot(self) -> dict[str, Json]:
        """Copy what this scope holds, after making sure that it survives a trip through JSON."""
        copy: dict[str, Json] = {}
        for key, value in self._data.items():
            try:
                copy[key] = json.loads(json.dumps(value, allow_nan=False))
            except (TypeError, ValueError, RecursionError) as problem:
                raise BlackboardError(
                    f"{self.scope_name}.{key} is not JSON-shaped ({problem}): {value!r:.80}"
                ) from problem
            if copy[key] != value:
                raise BlackboardError(
                    f"{self.scope_name}.{key} changes on its way through JSON: {value!r:.80}"
                )
        return copy

    def contents(self) -> dict[str, Json]:
        """What a snapshot holds, but not copied: for a reader that changes nothing."""
        return dict(self._data) if is_plain(self._data) else self.snapshot()

    def restore(self, snapshot: Mapping[str, Json]) -> None:
        """Replace what this scope holds; when a key or a value does not fit, nothing is changed."""
        if self._schema is not None:
            for key, value in snapshot.items():
                declared = self._schema.get(key)
                if declared is None:
                    raise self._undeclared(key)
                if value is not None:
                    declared.check(f"{self.scope_name}.{key}", value)
        self._data = dict(snapshot)

    def _home_of(self, key: str) -> tuple[TypedBlackboard, str]:
        """Find the scope that the key lives in and its name there; for a new key the nearest open
        scope.
        """
        board: TypedBlackboard | None = self
        name = key
        open_scope: tuple[TypedBlackboard, str] | None = None
        while board is not None:
            if name in board._data or (board._schema is not None and name in board._schema):
                return board, name
            if board._schema is None and open_scope is None:
                open_scope = board, name
            if board._ports is not None:
                if name not in board._ports:
                    break
                name = board._ports[name]
            board = board._parent
        if open_scope is None:
            raise self._undeclared(key)
        return open_scope

    def _undeclared(self, key: str) -> BlackboardError:
        known: set[str] = set()
        board: TypedBlackboard | None = self
        while board is not None:
            known |= set(board._schema or ()) | set(board._ports or ())
            board = None if board._ports is not None else board._parent
        return BlackboardError(
            f"no key {key!r} is declared in scope {self.scope_name!r}{did_you_mean(key, known)}"
        )


_ANYTHING: Final = Key()


def _declared(schema: Mapping[str, Key | type]) -> Mapping[str, Key]:
    """Keep the mapping itself if there is nothing to translate: all runs of a tree share one
    schema.
    """
    if {Key}.issuperset(map(type, schema.values())):
        return cast("Mapping[str, Key]", schema)
    return {name: key if isinstance(key, Key) else Key(key) for name, key in schema.items()}
