"""Where records go."""

from __future__ import annotations

from typing import Protocol

from oracle.services.journal.record import Record


class Sink(Protocol):
    def append(self, record: Record) -> None:
        """Take a record; never blocks. A sink that has failed raises what it failed with."""
        ...

    async def flush(self) -> None:
        """Return when all that was appended before is safe."""
        ...


class MemorySink:
    """Keeps the records of one run, by reference: values are replaced, never changed in place."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def append(self, record: Record) -> None:
        self.records.append(record)

    async def flush(self) -> None:
        return
