"""The same request as another person would type it: wrapped, shouted, with a slip of the finger."""

from __future__ import annotations

import random

from oracle.evaluation.labelled import Labelled
from oracle.models.query_classification import QueryType

_BEFORE = (
    *("thanks, ", "hey, ", "ok ", "ok so ", "hi! ", "great. ", "got it. ", "hmm, ", "sorry, "),
    *("cool, but ", "quick question: ", "thanks - but ", "perfect, thank you! ", "ah I see. "),
    *("one more thing: ", "no worries. "),
)
_AFTER = (" thanks", " please", ", cheers")
_ENDS = ("?", "", ".", "!", "??", "...")


def disturbed(row: Labelled, chance: random.Random) -> str:
    """A remark stays a remark only while nothing is put around it."""
    query = row.query
    match chance.randrange(3 if row.query_type == QueryType.CONVERSATIONAL else 6):
        case 0:
            return query.lower()
        case 1:
            return query.upper() if chance.random() < 0.2 else query[:1].upper() + query[1:]
        case 2:
            return _slip(query, chance)
        case 3:
            return chance.choice(_BEFORE) + query
        case 4:
            return query + chance.choice(_AFTER)
        case _:
            return query.rstrip("?.! ") + chance.choice(_ENDS)


def _slip(query: str, chance: random.Random) -> str:
    if len(query) < 8:
        return query
    at = chance.randrange(1, len(query) - 2)
    if chance.random() < 0.5:
        return query[:at] + query[at + 1] + query[at] + query[at + 2 :]
    return query[:at] + query[at + 1 :]
