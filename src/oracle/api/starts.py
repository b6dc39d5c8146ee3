"""The line of the questions that wait for their turn to begin.

To begin a run costs far more than to send one more chunk of it. If hundreds of questions come at
once and all begin at once, none of them gets anywhere, and the runs that are under way stand still.
So a few begin at a time, first come, first served.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

MOST_AT_ONCE: Final = 8
"""Enough for their writes to share a commit, and few enough to leave a turn to the others."""


class Starts:
    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._most = self._free = most
        self._line: deque[asyncio.Future[bool]] = deque()

    @property
    def has_room(self) -> bool:
        """Whether the next one need not wait."""
        return self._free > 0

    def place(self) -> Place:
        """Taken at once, not when it is waited for: so the order is that of the questions."""
        if self._free:
            self._free -= 1
            return Place(self, None, ahead=0)
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        ahead = self._most + len(self._line)
        self._line.append(turn)
        return Place(self, turn, ahead=ahead)

    def next(self) -> None:
        """One has begun, or ended."""
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(True)
                return
        self._free += 1


class Place:
    """A place in the line. `ahead` are those that began or came before it and are not under way
    yet; 0 if it need not wait.
    """

    def __init__(self, starts: Starts, turn: asyncio.Future[bool] | None, *, ahead: int) -> None:
        self.ahead = ahead
        self._starts = starts
        self._turn = turn
        self._is_left = False

    async def turn(self) -> bool:
        """Wait for it. False if the line was left before."""
        return self._turn is None or await self._turn

    def leave(self) -> None:
        """It has begun, has ended, or will never begin. Further calls do nothing."""
        if self._is_left:
            return
        self._is_left = True
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(False)
        else:
            self._starts.next()
