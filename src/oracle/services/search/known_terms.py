"""Which words name something in the project."""

from __future__ import annotations

from collections.abc import Callable, Container

from oracle.models.query_classification import OWN_NAME
from oracle.services.project.names import folded


class KnownTerms:
    """Contains what is defined in the project, its files, the titles of its notes, and its name."""

    def __init__(self, names: Container[str], files_with: Callable[[str], int]) -> None:
        self._names = names
        self._files_with = files_with

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self.places_of(term) is not None

    def places_of(self, term: str) -> int | None:
        """The number of files that have the term, up to `MOST_PLACES`; None if it is not known.

        The project's own name has `OWN_NAME`, however many files have it.
        """
        if folded(term) in self._names:
            return OWN_NAME
        # Half a letter (a lone surrogate) cannot be looked up, and is not a name.
        try:
            return self._files_with(term) or None
        except UnicodeEncodeError:
            return None
