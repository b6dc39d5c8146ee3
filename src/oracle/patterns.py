"""Regular expressions that are compiled when they are first used.

There are hundreds of them, a command uses a few, and compiling one takes longer than matching it.
"""

from __future__ import annotations

import re
from typing import Any, cast

_FROM_COMPILED = (
    "findall",
    "finditer",
    "flags",
    "fullmatch",
    "groupindex",
    "groups",
    "match",
    "search",
    "split",
    "sub",
    "subn",
)


class LazyPattern:
    """Behaves like `re.Pattern`. Not accepted by functions such as `re.sub`: call its methods."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _FROM_COMPILED:
            raise AttributeError(f"a regular expression has no attribute {name!r}")
        compiled = re.compile(self.pattern, self._flags)
        # The next use finds them without a detour. Two threads may both do this: the same result.
        self.__dict__.update({known: getattr(compiled, known) for known in _FROM_COMPILED})
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"lazy_pattern({self.pattern!r})"


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
