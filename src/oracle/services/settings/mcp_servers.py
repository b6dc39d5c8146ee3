"""`[mcp.servers.NAME]`: other servers whose tools the model may be offered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from oracle.errors import did_you_mean
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.regular_file import read_regular
from oracle.services.settings.value_types import Address, Number, TextList, Unfit, VariableName

if TYPE_CHECKING:
    from oracle.models.query_classification import QueryType

SECONDS: Final = 20.0
LONGEST_SECONDS: Final = 600
MOST_SERVERS: Final = 20
# Without `_`, so that no two servers can have tools of the same whole name.
_NAME: Final = lazy_pattern(r"[a-z][a-z0-9-]{0,19}")
_EXAMPLE: Final = '[mcp.servers.jira], and below it command = ["jira-mcp"]'
_LARGEST_FILE: Final = 5_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class McpServer:
    """A program to start (`command`) or an address (`url`).

    `for_` are the types of question, or kinds of source, that its reading tools are offered for.
    `env` are the variables that the program gets; `token_variable` has a token for the address.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    for_: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    token_variable: str = ""
    timeout: float = SECONDS

    def __str__(self) -> str:
        return f"{self.name}: {' '.join(self.command) or self.url}"

    @property
    def query_types(self) -> frozenset[QueryType]:
        known = types_by_name()
        if not self.for_:
            return frozenset(each for types in known.values() for each in types)
        return frozenset(each for name in self.for_ for each in known[name])

    def digest(self, root: Path | None) -> str:
        """Of all that it says, and of the project's own files that its command names."""
        files = [] if root is None else [_content(root / part) for part in self.command]
        # How long it may take does not change what it is.
        meaning = replace(self, timeout=SECONDS)
        return hashlib.sha256(repr((meaning, files)).encode()).hexdigest()


def _content(path: Path) -> str:
    try:
        return hashlib.sha256(read_regular(path, _LARGEST_FILE)).hexdigest()
    except (OSError, ValueError):
        return ""


def types_by_name() -> Mapping[str, frozenset[QueryType]]:
    """Types of question, and kinds of source with the types that need them."""
    from oracle.models.query_classification import QueryType
    from oracle.models.source_kind import SOURCE_KINDS

    asked = [each for each in QueryType if each not in ("conversational", "action")]
    types = {each.value: frozenset({each}) for each in asked}
    return {name: kind.query_types for name, kind in SOURCE_KINDS.items()} | types


def merged(below: Sequence[McpServer], own: Sequence[McpServer]) -> tuple[McpServer, ...]:
    """Those of a project are added to those of the user. One of the same name is replaced."""
    return tuple({server.name: server for server in (*below, *own)}.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class Servers:
    """The kind of value of `mcp.servers`: a table for each server."""

    words: str = f"a table for each server: {_EXAMPLE}"

    def check(self, raw: object) -> object:
        if raw in ([], ()):
            return ()
        if not isinstance(raw, dict):
            raise Unfit(f"is not a table; write {self.words}")
        tables = cast("dict[str, object]", raw)
        if len(tables) > MOST_SERVERS:
            raise Unfit(f"has {len(tables)} servers; use at most {MOST_SERVERS}")
        return tuple(_server(name, table) for name, table in tables.items())

    def from_text(self, text: str) -> object:
        return text


def _server(name: str, table: object) -> McpServer:
    if not _NAME.fullmatch(name):
        raise Unfit(f"has the name {name[:40]!r}; use 1 to 20 of a-z, 0-9 and -")
    if not isinstance(table, dict):
        raise Unfit(f"has {name!r}, which is not a table; write {_EXAMPLE}")
    values: dict[str, Any] = {}
    for key, raw in cast("dict[str, object]", table).items():
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS) or f"; use one of: {', '.join(_KEYS)}"
            raise Unfit(f"has no {name}.{key[:40]}{hint}")
        try:
            values["for_" if key == "for" else key] = _KEYS[key](raw)
        except Unfit as problem:
            raise Unfit(f": {name}.{key} {problem}") from None
    if ("command" in values) == ("url" in values):
        raise Unfit(f": {name} needs a command or a url, and not both; write {_EXAMPLE}")
    if "token_variable" in values and "command" in values:
        raise Unfit(f": {name}.token_variable is for a url; a command gets variables with env")
    return McpServer(name=name, **values)


def _texts(raw: object) -> object:
    return TextList(words='a list of texts, such as ["search"]').check(raw)


def _command(raw: object) -> object:
    found = TextList(words='a program and its arguments, such as ["npx", "jira-mcp"]').check(raw)
    if not found:
        raise Unfit("is empty; name a program")
    return found


def _variables(raw: object) -> object:
    found = cast("tuple[str, ...]", _texts(raw))
    return tuple(str(VariableName().check(each)) for each in found)


def _questions(raw: object) -> object:
    found = cast("tuple[str, ...]", _texts(raw))
    known = types_by_name()
    for each in found:
        if each not in known:
            hint = did_you_mean(each, known) or f"; there are {', '.join(sorted(known))}"
            raise Unfit(f"has {each[:40]!r}{hint}")
    return found


_KEYS: Final[Mapping[str, Callable[[object], object]]] = {
    "command": _command,
    "url": Address().check,
    "for": _questions,
    "reads": _texts,
    "writes": _texts,
    "env": _variables,
    "token_variable": VariableName().check,
    "timeout": Number(least=1, most=LONGEST_SECONDS).check,
}
