"""A map of the project for a question: the files that matter, with what they define.

A file matters if the question finds it, or if files that matter use what it defines. This is
PageRank along references, and it starts at the files that the question finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log2
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.prompting.tokens import estimate_tokens
from oracle.services.search.catalogue import Catalogue
from oracle.services.search.entries import FileCard
from oracle.services.search.intake import distinctive
from oracle.services.search.passages import Passages
from oracle.services.search.question import read_question
from oracle.services.search.ranking import rank
from oracle.services.search.records import FileOnMap, Role
from oracle.services.search.symbols import Symbol
from oracle.services.search.terms import terms_of_word
from oracle.services.search.weights import CODE

_MOST_OWNERS: Final = 3
"""A name that more files define, such as `to_json`, does not show which of them is used."""
_ROUNDS: Final = 12
"""By then what is left to flow is 0.7 to the 12th, about one percent."""
_DAMPING: Final = 0.7
"""The share of a file's rank that flows on to the files it uses."""
_QUESTION_SHARE: Final = 0.85
"""The share of the start that belongs to what the question finds. The rest is for all files."""
_MOST_SYMBOLS: Final = 12
_MOST_FILES: Final = 400


def draw_map(
    question: str, token_budget: int, catalogue: Catalogue, passages: Passages, *, under: str = ""
) -> list[FileOnMap]:
    """At most `token_budget` tokens, by our estimate. Empty if not even one file fits."""
    cards = {card.id: card for card in catalogue.all_cards() if card.role != Role.THREAD}
    uses = _uses(catalogue, cards)
    graph, popularity = _graph(catalogue, uses)
    start = _start(question, cards, catalogue, passages)
    order = _ranked(graph, start)
    asked = read_question(question)
    worth = _Worth(popularity=popularity, terms=frozenset({*asked.terms, *asked.kin}))
    if under:
        order = [each for each in order if f"{cards[each].path}/".startswith(f"{under}/")]
    drawn: list[FileOnMap] = []
    left = token_budget
    for number in order[:_MOST_FILES]:
        file = _drawn(cards[number], catalogue.outline(number), worth)
        cost = estimate_tokens(file.text) + 1
        if cost > left:
            break
        drawn.append(file)
        left -= cost
    return drawn


def _uses(catalogue: Catalogue, cards: Mapping[int, FileCard]) -> dict[int, list[str]]:
    return {number: names for number, names in catalogue.all_uses() if number in cards}


def _graph(
    catalogue: Catalogue, uses: Mapping[int, Sequence[str]]
) -> tuple[dict[int, dict[int, float]], Counter[str]]:
    """Edges from files that use a name to files that define it; how many files use each name."""
    owners: dict[str, set[int]] = {}
    for number, name, _ in catalogue.all_symbols():
        if number in uses and distinctive(name) and not name.startswith("__"):
            owners.setdefault(name, set()).add(number)
    popularity: Counter[str] = Counter()
    graph: dict[int, dict[int, float]] = {}
    for user, names in uses.items():
        edges = graph.setdefault(user, {})
        for name in names:
            defining = owners.get(name, set[int]())
            popularity[name] += bool(defining - {user})
            if 0 < len(defining) <= _MOST_OWNERS:
                for owner in defining:
                    if owner != user:
                        edges[owner] = edges.get(owner, 0.0) + 1 / len(defining)
    return graph, popularity


def _start(
    question: str, cards: Mapping[int, FileCard], catalogue: Catalogue, passages: Passages
) -> dict[int, float]:
    """Where rank starts: mostly at what the question finds, a little everywhere."""
    base = {number: CODE.roles.get(card.role, 1.0) for number, card in cards.items()}
    total = sum(base.values()) or 1.0
    # Squared, so that the best hits lead clearly.
    found = {
        each.card.id: each.score**2 for each in rank(question, "code", catalogue, passages)[:30]
    }
    weight = sum(found.values())
    share = _QUESTION_SHARE if weight else 0.0
    return {
        number: (1 - share) * value / total
        + (share * found.get(number, 0.0) / weight if weight else 0)
        for number, value in base.items()
    }


def _ranked(graph: Mapping[int, Mapping[int, float]], start: Mapping[int, float]) -> list[int]:
    ranks = dict(start)
    totals = {user: sum(edges.values()) for user, edges in graph.items()}
    for _ in range(_ROUNDS):
        following = {number: (1 - _DAMPING) * value for number, value in start.items()}
        for user, edges in graph.items():
            if edges:
                # Split among the used files, so that a file which uses much is not worth more.
                share = _DAMPING * ranks[user] / totals[user]
                for owner, weight in edges.items():
                    following[owner] += share * weight
        ranks = following
    return sorted(ranks, key=lambda number: (-ranks[number], number))


@dataclass(frozen=True, kw_only=True)
class _Worth:
    """How much a symbol deserves a line: by the question's words in its name, and by its uses."""

    popularity: Counter[str]
    terms: frozenset[str]

    def __call__(self, symbol: Symbol) -> tuple[float, bool]:
        asked = sum(term in self.terms for term in terms_of_word(symbol.name))
        return asked + log2(1 + self.popularity[symbol.name]), symbol.parent is None

    def is_shown(self, symbol: Symbol) -> bool:
        is_used = self.popularity[symbol.name] > 0
        return not symbol.name.startswith("__") and (symbol.kind != "constant" or is_used)


def _drawn(card: FileCard, symbols: Sequence[Symbol], worth: _Worth) -> FileOnMap:
    best = sorted(filter(worth.is_shown, symbols), key=worth, reverse=True)
    shown = sorted(best[:_MOST_SYMBOLS], key=lambda each: each.start)
    text = "\n".join([card.path, *map(_line, shown)])
    return FileOnMap(path=card.path, lines=[symbol.start for symbol in shown], text=text)


def _line(symbol: Symbol) -> str:
    inside = "  " if symbol.parent else ""
    return f"  {symbol.start}: {inside}{symbol.kind} {symbol.name}"
