"""How much each field and each kind of file counts when files are ranked. Chosen by measuring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from math import log
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.search.records import Kind, Role


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each field and each kind of file counts. Notes have other weights than code."""

    fields: Mapping[str, float]
    """For the question's own words, by field of a passage."""
    kin_fields: Mapping[str, float]
    """The same for words of the same meaning and for joined neighbours."""
    kin: float = 0.5
    """A word of the same meaning, compared with the word itself."""
    pairs: float = 0.6
    """Two neighbouring words that are one name in the code."""
    defined: float = 0.0
    """Added for a passage that defines a name which the question spells out."""
    defining: float = 0.0
    """Added for a file that defines it, if few do. More than all else together puts it first."""
    area: float = 0.0
    """Added for the terms of "area: text" in the path."""
    phrases: Mapping[int, float] = field(default_factory=lambda: {2: 0.5, 3: 3.0})
    """By length: words that a text has in the order of the question. Three count much more."""
    further: tuple[float, ...] = (0.5, 0.35, 0.25, 0.15, 0.1)
    """The shares of a file's second-best passage and the next ones."""
    roles: Mapping[Role, float] = field(default_factory=dict[Role, float])
    """Factors for files that are not source, unless the question asks for their role."""
    mentioned: float = 0.5
    """The power of that factor if the question only mentions the role."""
    card: float = 0.5
    """The file's card, compared with its passages."""
    windows: float = 0.0
    """Two neighbouring passages by their plain words, compared with the best passages."""
    window_place: float = 0.5
    """The path, compared with the text of a window."""
    neighbour: float = 0.8
    """The share of the second passage of a window."""
    coverage: float = 0.0
    """Added, as a share of its score, for a file of which one passage has all words asked for."""
    decisions: tuple[float, ...] = (1.0, 1.0, 1.0)
    """Factors by `FileCard.decides`, for questions about decisions."""


# Words of the question count most in comments, words of the same meaning in the path.
CODE: Final = Weights(
    fields={"body": 1.0, "names": 0.4, "place": 0.8, "remarks": 1.2},
    kin_fields={"body": 1.0, "names": 0.4, "place": 1.6},
    defined=1.0,
    defining=8.0,
    area=3.0,
    roles={Role.TEST: 0.3, Role.DOCUMENT: 0.4, Role.SETTINGS: 0.7, Role.VENDORED: 0.5},
    windows=0.2,
)
# In a large project some file repeats one word of the question. What counts there is a place that
# has most of them. In a small one this costs more than it brings.
LARGE_CODE: Final = replace(
    CODE,
    card=0.7,
    further=(0.3, 0.2, 0.1, 0.0, 0.0),
    windows=0.8,
    window_place=0.7,
    coverage=2.0,
)
_SMALL: Final = 8_000
_LARGE: Final = 30_000
"""Passages of a project: about a thousand files, and about four thousand."""
# A note is found by what it says. Its headings and path count little here: they are on its card.
NOTES: Final = Weights(
    fields={"body": 1.0, "names": 0.3, "place": 0.3},
    kin_fields={"body": 1.0},
    phrases={2: 0.8, 3: 3.0},
    further=(0.25, 0.12, 0.06),
    card=0.3,
    decisions=(1.0, 2.0, 5.0),
)


def weights_for(kind: Kind, passages: int) -> Weights:
    """For an index with so many passages. Between small and large the weights change by degrees."""
    if kind != "code":
        return NOTES
    share = log(max(passages, 1) / _SMALL) / log(_LARGE / _SMALL)
    return _code_between(round(min(max(share, 0.0), 1.0), 2))


# A project grows slowly, so one or two entries serve all of its questions.
@lru_cache(maxsize=8)
def _code_between(share: float) -> Weights:
    def mixed(one: float, other: float) -> float:
        return one + share * (other - one)

    return replace(
        CODE,
        card=mixed(CODE.card, LARGE_CODE.card),
        further=tuple(map(mixed, CODE.further, LARGE_CODE.further)),
        windows=mixed(CODE.windows, LARGE_CODE.windows),
        window_place=mixed(CODE.window_place, LARGE_CODE.window_place),
        coverage=mixed(CODE.coverage, LARGE_CODE.coverage),
    )
