"""A look into the index before any tool is offered: which sources have the words of the question.

A search in a source that has few of them brings nothing that an answer could cite. So such a source
is kept for later, while another one has most of the words in one place. And a source that alone has
most of them is offered, whatever the question was taken for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

from oracle.models.source_kind import SOURCE_KINDS
from oracle.models.tool_spec import ToolSpec
from oracle.patterns import lazy_pattern
from oracle.services.control.needs import has_words, share_of_words, words_in
from oracle.services.questions.search_words import search_words

Shares = Mapping[str, float]
"""For each local kind of source, how much of the question its best place has, from 0 to 1."""

LOCAL: Final = tuple(name for name, kind in SOURCE_KINDS.items() if kind.is_local)
PROSE: Final = ("vault", "threads")
"""Where reasons are written down."""
_PLACES: Final = 5
"""The best places of a search. Of the question's words, a place further down seldom has more."""
_LOOKING: Final = ("search", "read", "list", "map", "uses")
_WORD: Final = lazy_pattern(r"\w+")


class Place(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def text(self) -> str: ...


@runtime_checkable
class Searched(Protocol):
    """An index that can be searched by the kind of source. `left_out` names files that are not in
    it; empty if all are.
    """

    @property
    def left_out(self) -> str: ...
    async def search_kinds(
        self, query: str, kinds: Sequence[str], k: int, /
    ) -> Mapping[str, Sequence[Place]]:
        """The best places of each kind, from one look at the index."""
        ...


async def shares_of(question: str, index: Searched) -> Shares:
    """Empty if the question has no word to look for."""
    if not has_words(question):
        return {}
    found: dict[str, float] = {}
    for kind, places in (await index.search_kinds(question, LOCAL, _PLACES)).items():
        # In one place, not in all of them together: any long text has most words somewhere.
        shares = (
            share_of_words(question, words_in(question, f"{place.path}\n{place.text}"))
            for place in places
        )
        found[kind] = round(max(shares, default=0.0), 2)
    return found


def tools_to_add(
    shares: Shares, specs: Sequence[ToolSpec], granted: Collection[str], *, most: float
) -> list[str]:
    """The tools of sources that have `most` of the words, if no granted source has."""
    if _best(shares, specs, granted) >= most:
        return []
    rich = {kind for kind, share in shares.items() if share >= most}
    return [
        spec.name
        for spec in specs
        if spec.source in rich and spec.role in _LOOKING and spec.name not in granted
    ]


def tools_for_reasons(
    question: str,
    shares: Shares,
    specs: Sequence[ToolSpec],
    granted: Collection[str],
    *,
    least: float,
) -> list[str]:
    """The tools of prose that has `least` of the words, and as many as any granted source, if the
    question asks why: code says how it is, but seldom why.
    """
    if not search_words(question).asks_why:
        return []
    enough = max(least, _best(shares, specs, granted))
    rich = {kind for kind in PROSE if shares.get(kind, 0.0) >= enough}
    return [
        spec.name
        for spec in specs
        if spec.source in rich and spec.role in _LOOKING and spec.name not in granted
    ]


def tools_to_keep_for_later(
    question: str,
    shares: Shares,
    specs: Sequence[ToolSpec],
    granted: Collection[str],
    *,
    most: float,
    part: float,
) -> list[str]:
    """The granted tools of sources that have no more than this `part` of what the best source has.

    None if no granted source has `most` of the words: then the question may have other words than
    its answer. A source that the question calls by name stays.
    """
    best = _best(shares, specs, granted)
    if best < most:
        return []
    words = {word.lower() for word in _WORD.findall(question)}
    poor = {
        kind
        for kind, share in shares.items()
        if share <= part * best and words.isdisjoint(SOURCE_KINDS[kind].words)
    }
    return [
        spec.name
        for spec in specs
        if spec.name in granted and spec.source in poor and spec.role in _LOOKING
    ]


def _best(shares: Shares, specs: Sequence[ToolSpec], granted: Collection[str]) -> float:
    """How much the best of the sources has that a granted tool can search."""
    searching = (spec for spec in specs if spec.name in granted and spec.role == "search")
    return max((shares.get(spec.source or "", 0.0) for spec in searching), default=0.0)
