"""What an address of a database means. The one place that parses it.

The check of a project's settings (`services/settings/guarded.py`) asks here too: an address that
one parser reads as a file of the project, and another as a file outside of it, would get past it.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from oracle.errors import InputError
from oracle.services.storage.connections import ADDRESS_FORMS, BACKENDS


def address_of(where: URL | str | Path, root: Path | None, *, named: str) -> URL:
    """The URL with the driver that we use. A string without `://` is a path.

    A relative path starts at `root`, or without one at the working directory.
    """
    if isinstance(where, Path) or (isinstance(where, str) and "://" not in where):
        where = URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):
        raise InputError(f"{named} is not a URL; {ADDRESS_FORMS}") from None
    backend = BACKENDS.get(url.get_backend_name())
    address = None if backend is None else backend().address(url, root)
    if address is None:
        raise InputError(f"{named} is not a database that oracle can use; {ADDRESS_FORMS}")
    return address


def file_of(given: str, root: Path) -> Path | None:
    """The file that would be opened; None if the address has options, or is that of a server.

    Raises `InputError` if it is not an address that can be used.
    """
    url = address_of(given, root, named="the database's address")
    is_file = url.get_backend_name() == "sqlite"
    # With options, SQLite may read the path as a URI of its own.
    if not is_file or url.query or url.host or str(url.database).startswith("file:"):
        return None
    return Path(str(url.database))
