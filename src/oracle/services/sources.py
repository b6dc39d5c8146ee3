"""What the agent asks of a project before a question begins."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol


class Sources(Protocol):
    def at_hand(self) -> AbstractAsyncContextManager[None]:
        """Up to date with the files, for the length of a question. It never fails."""
        ...

    async def known(self, terms: Sequence[str]) -> Sequence[str] | None:
        """Those of the terms that name something in the project; None where nobody can tell."""
        ...
