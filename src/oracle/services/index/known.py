"""Whether a term is one of the project's own, for the query classifier."""

from __future__ import annotations

from oracle.services.index.catalogue import Catalogue


class KnownTerms:
    """Contains what is defined in the project, its files, and the titles of its notes."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self._catalogue.knows(term)
