"""Where records go."""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

from oracle.services.journal.record import Record


class Sink(Protocol):
    def append(self, record: Record) -> None:
        """Take a record; never blocks. A sink that has failed raises what it failed with."""
        ...

    def keep(self, text: str) -> str:
        """Store a text once, whoever else keeps the same, and answer the name of its content."""
        ...

    async def flush(self) -> None:
        """Return when all that was appended before is safe."""
        ...


def name_of(text: str) -> str:
    return sha256(text.encode(errors="replace")).hexdigest()


class MemorySink:
    """Keeps the records of one run, by reference: values are replaced, never changed in place."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.contents: dict[str, str] = {}

    def append(self, record: Record) -> None:
        self.records.append(record)

    def keep(self, text: str) -> str:
        name = name_of(text)
        self.contents[name] = text
        return name

    async def flush(self) -> None:
        return
