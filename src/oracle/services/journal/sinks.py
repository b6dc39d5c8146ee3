"""Where records are written: the protocol, and a sink in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import Protocol

from oracle.services.journal.record import Record, as_json


class Sink(Protocol):
    def append(self, record: Record) -> None:
        """Take a record; never blocks. A sink that has failed raises what it failed with."""
        ...

    def keep(self, text: str) -> str:
        """Store a text once, however many runs keep it. Returns the name of its content."""
        ...

    def check(self) -> None:
        """Raises what it has failed with, if it has."""
        ...

    async def flush(self) -> None:
        """Returns when all that was appended before is safe."""
        ...

    async def before_write(self) -> None:
        """Returns when a resumed run cannot do again what is about to be done; else raises."""
        ...

    def on_failure(self, stop: Callable[[Exception], object]) -> None:
        """Call `stop` in this event loop as soon as the records cannot be written."""
        ...


@lru_cache(maxsize=512)
def name_of(text: str) -> str:
    """Trees and prompts are the same for all runs of a process, so they are named once."""
    return sha256(text.encode(errors="replace")).hexdigest()


class MemorySink:
    """Keeps the records of one run, by reference: values are replaced, never changed in place.

    Streamed parts are kept as text, which takes less memory than many small objects.
    """

    def __init__(self) -> None:
        self._records: list[Record] = []
        self.contents: dict[str, str] = {}

    @property
    def records(self) -> list[Record]:
        return [_unpacked(record) for record in self._records]

    def append(self, record: Record) -> None:
        self._records.append(_packed(record) if record.kind == "parts" else record)

    def keep(self, text: str) -> str:
        name = name_of(text)
        self.contents[name] = text
        return name

    def check(self) -> None:
        """Memory does not fail."""

    async def flush(self) -> None:
        return

    async def before_write(self) -> None:
        await self.flush()

    def on_failure(self, stop: Callable[[Exception], object]) -> None:
        """Memory does not fail."""


def _packed(record: Record) -> Record:
    text = as_json(record.body)
    return replace(record, body=text)


def _unpacked(record: Record) -> Record:
    return replace(record, body=json.loads(record.body)) if record.kind == "parts" else record
