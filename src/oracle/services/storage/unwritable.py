"""Where a question is recorded if the project cannot be written, such as a mounted source in CI.

A full disk is not this case: there, what is on record may matter, and the error says so.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from oracle.services.project.root import is_writable
from oracle.services.storage.addresses import Address
from oracle.services.storage.damage import ELSEWHERE
from oracle.services.storage.database import FILE_NAME, as_url, url_for_writing
from oracle.settings import Settings


@contextmanager
def place_for_records(settings: Settings) -> Generator[tuple[Address, str]]:
    """The address of the database, and a warning if it is gone after the block; else ""."""
    root = settings.root
    if root is None or settings.database.url is not None or is_writable(root):
        yield url_for_writing(settings), ""
        return
    with TemporaryDirectory(prefix="oracle-", ignore_cleanup_errors=True) as folder:
        told = f"{root} cannot be written, so neither the run nor the conversation is stored; "
        yield as_url(Path(folder) / FILE_NAME), told + f"to store them, {ELSEWHERE}"
