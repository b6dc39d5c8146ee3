"""What an address of a database means. The one place that parses it.

The check of a project's settings (`services/settings/guarded.py`) asks here too: an address that
one parser reads as a file of the project, and another as a file outside of it, would get past it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import parse_qsl, quote, unquote, urlencode

from oracle.errors import InputError
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern

_ADDRESS: Final = lazy_pattern(
    r"(?P<kind>\w+)(?:\+\w+)?://"
    r"(?:(?P<user>[^:/?#]*)(?::(?P<password>[^@]*))?@)?"
    r"(?P<host>\[[^\]/?]+\]|[^:/?]*)(?::(?P<port>\d*))?"
    r"(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?"
)


@dataclass(frozen=True, kw_only=True)
class Address:
    """The parts of `kind://user:password@host:port/database?query`, decoded."""

    kind: str
    database: str | None = None
    user: str | None = None
    password: str | None = None
    host: str | None = None
    port: int | None = None
    query: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None if it is not an address. A driver in it (`kind+driver`) is left out."""
        found = _ADDRESS.fullmatch(text)
        if found is None:
            return None
        return cls(
            kind=found["kind"],
            database=found["database"],
            user=_unquoted(found["user"]),
            password=_unquoted(found["password"]),
            host=found["host"].strip("[]") or None,
            port=int(found["port"]) if found["port"] else None,
            query=tuple(parse_qsl(found["query"] or "", keep_blank_values=True)),
        )

    def option(self, name: str) -> str | None:
        return dict(self.query).get(name)

    def set(self, **parts: Any) -> Address:
        return replace(self, **parts)

    def with_password(self) -> str:
        """As text that can be parsed again. Never to be shown."""
        return self._text(None if self.password is None else quote(self.password, safe=""))

    def __repr__(self) -> str:
        return self._text(None if self.password is None else "***")

    def _text(self, password: str | None) -> str:
        who = "" if self.user is None else quote(self.user, safe="")
        who += "" if password is None else f":{password}"
        host = self.host or ""
        where = f"[{host}]" if ":" in host else host
        port = "" if self.port is None else f":{self.port}"
        path = "" if self.database is None else f"/{self.database}"
        query = f"?{urlencode(self.query, quote_via=quote)}" if self.query else ""
        return f"{self.kind}://{who}{'@' if who else ''}{where}{port}{path}{query}"


def _unquoted(part: str | None) -> str | None:
    return None if part is None else unquote(part)


def address_of(where: Address | str | Path, root: Path | None, *, named: str) -> Address:
    """The address of a kind that we know. A string without `://` is a path.

    A relative path starts at `root`, or without one at the working directory.
    """
    from oracle.services.storage.connections import ADDRESS_FORMS, BACKENDS

    if isinstance(where, Path) or (isinstance(where, str) and "://" not in where):
        where = Address(kind="sqlite", database=str(where))
    given = Address.parse(where) if isinstance(where, str) else where
    if given is None:
        raise InputError(f"{named} is not a URL; {ADDRESS_FORMS}")
    backend = BACKENDS.get(given.kind)
    address = None if backend is None else backend().address(given, root)
    if address is None:
        raise InputError(f"{named} is not a database that oracle can use; {ADDRESS_FORMS}")
    return address


def file_of(given: str, root: Path) -> Path | None:
    """The file that would be opened; None if the address has options, or is that of a server.

    Raises `InputError` if it is not an address that can be used.
    """
    address = address_of(given, root, named="the database's address")
    # With options, SQLite may read the path as a URI of its own.
    if address.kind != "sqlite" or address.query or address.host:
        return None
    if str(address.database).startswith("file:"):
        return None
    return Path(str(address.database))
