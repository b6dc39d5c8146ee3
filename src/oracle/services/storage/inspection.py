"""A look at a database that changes nothing: is it there, and which schema does it have?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import URL, create_engine
from sqlalchemy.pool import NullPool

from oracle.errors import InputError
from oracle.services.storage.faults import told_as_store_errors
from oracle.services.storage.migrations import version_of

CONNECT_SECONDS: Final = 5


def schema_of(url: URL) -> int | None:
    """How many migrations it has taken; None where there is no file yet. Raises `StoreError`."""
    if url.get_backend_name() == "sqlite":
        if not Path(str(url.database)).exists():
            return None
        file = Path(str(url.database)).absolute().as_uri()
        return _version(url, URL.create("sqlite", database=file, query={"mode": "ro", "uri": "1"}))
    patient = url.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})
    return _version(url, patient)


def _version(url: URL, through: URL) -> int:
    with told_as_store_errors(url):
        try:
            engine = create_engine(through, poolclass=NullPool)
        except ModuleNotFoundError as problem:
            raise InputError(
                f"PostgreSQL needs the package {problem.name}; "
                "run: pip install 'bt-oracle[postgres]'"
            ) from problem
        with engine.connect() as connection:
            return version_of(connection)
