"""Whether a term is one of the project's own, for the query classifier."""

from __future__ import annotations

from collections.abc import Callable


class KnownTerms:
    """Contains what is defined in the project, its files, and the titles of its notes."""

    def __init__(self, knows: Callable[[str], bool]) -> None:
        self._knows = knows

    def __contains__(self, term: object) -> bool:
        """What cannot be written down, a half of a letter, is no name."""
        try:
            return isinstance(term, str) and self._knows(term)
        except UnicodeEncodeError:
            return False
