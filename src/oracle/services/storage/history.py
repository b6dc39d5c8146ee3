"""How much of a conversation goes into a prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oracle.lazy_dataclass import dataclass
from oracle.models.session import Exchange


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """The newest exchanges, oldest of them first, and how many older ones did not fit."""

    exchanges: tuple[Exchange, ...]
    left_out: int

    @property
    def notice(self) -> str:
        """The line that replaces what was left out; empty if nothing was."""
        return _notice(self.left_out)


def within_budget(
    path: Sequence[Exchange], budget: int, count_tokens: Callable[[str], int]
) -> History:
    """As many of the newest exchanges as fit into `budget` tokens, together with the notice.

    An exchange is kept whole or not at all. None is kept that is older than one left out. The
    notice is given even if the budget is too small for it: nothing is left out silently.
    """
    sizes = [count_tokens(exchange.question) + count_tokens(exchange.answer) for exchange in path]
    total = sum(sizes)
    left_out = 0
    while left_out < len(path) and total + count_tokens(_notice(left_out)) > budget:
        total -= sizes[left_out]
        left_out += 1
    return History(exchanges=tuple(path[left_out:]), left_out=left_out)


def _notice(left_out: int) -> str:
    if left_out == 0:
        return ""
    what = "1 earlier exchange" if left_out == 1 else f"{left_out} earlier exchanges"
    return f"[{what} left out: no room]"
