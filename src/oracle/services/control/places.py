"""How much the places that an answer cites have to do with the question.

An answer may repeat the question's words and cite places that have nothing to do with it. So the
places are looked at: the lines that are cited, with what is near them, as the tools returned them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from oracle.services.citations import find_citations
from oracle.services.control.needs import share_of_words, words_in

NEAR: Final = 10
"""Lines before and after a cited one that belong to it: a function's name, or its paragraph."""
_MOST: Final = 400
"""Stretches that are looked at. More are not found in a usual run."""

Data = Mapping[str, Any]


def cited_stretches(answer: str, evidence: Sequence[Data]) -> list[str]:
    """The cited lines with those near them and the name of their source, as far as the evidence has
    them; of what has no lines all of it.
    """
    stretches: list[str] = []
    for citation in find_citations(answer):
        for source in evidence:
            names = (source.get("path"), source.get("url"), source.get("title"))
            if citation.name not in names and citation.text != source.get("where"):
                continue
            rows, start = _rows(source)
            if not start or not citation.first:
                stretches.append(_named(source, rows))
                continue
            first, last = citation.first - start, (citation.last or citation.first) - start
            if first < len(rows) and last >= 0:
                stretches.append(_named(source, rows[max(0, first - NEAR) : last + 1 + NEAR]))
    return stretches[:_MOST]


def cites_beside_the_question(
    question: str, answer: str, evidence: Sequence[Data], *, part: float, known: float = 0.0
) -> bool:
    """Whether every place that it cites has less than this part of the question's words that the
    best place has: of those found, or `known`, the share of the best one in the index. False if it
    cites nothing that was found.
    """
    cited = cited_stretches(answer, evidence)
    if not cited:
        return False
    best = max(_share(question, text) for text in cited)
    if best < part * known:
        return True
    return any(best < part * _share(question, text) for text in _all_stretches(evidence))


def share_cited(question: str, answer: str, evidence: Sequence[Data]) -> float:
    """How many of the question's words the cited places have, all together, from 0 to 1."""
    return _share(question, "\n".join(cited_stretches(answer, evidence)))


def _share(question: str, text: str) -> float:
    return share_of_words(question, words_in(question, text))


def _all_stretches(evidence: Sequence[Data]) -> Iterator[str]:
    count = 0
    for source in evidence:
        rows, _ = _rows(source)
        for at in range(0, max(1, len(rows) - NEAR), NEAR):
            yield _named(source, rows[at : at + 2 * NEAR + 1])
            count += 1
            if count >= _MOST:
                return


def _rows(source: Data) -> tuple[list[str], int]:
    return str(source.get("text", "")).splitlines(), int(source.get("start") or 0)


def _named(source: Data, rows: Sequence[str]) -> str:
    name = source.get("path") or source.get("title") or source.get("where") or ""
    return "\n".join((str(name), *rows))
