"""Generated examples: questions from `data/patterns.txt`, and variations of given questions.

They cover the regular forms of questions. The labelled sets cover the irregular ones.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from importlib.resources import files
from itertools import cycle

from oracle import evaluation
from oracle.evaluation.labelled import Labelled
from oracle.models.query_classification import QueryType
from oracle.services.classification.lexicon import lexicon

_ALTERNATIVES = re.compile(r"\(([^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")
_QUESTION = re.compile(
    r"(?i)(?:what|where|who|which|why|how|when|is|are|do|does|did|can|could|was|have|should)\b"
)
_BEFORE = (
    *("thanks, ", "hey, ", "ok ", "ok so ", "hi! ", "great. ", "got it. ", "hmm, ", "sorry, "),
    *("cool, but ", "quick question: ", "thanks - but ", "perfect, thank you! ", "ah I see. "),
    *("one more thing: ", "no worries. "),
)
_AFTER = (" thanks", " please", ", cheers")
_ENDS = ("?", "", ".", "!", "??", "...")

Lines = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """`lines` by heading. A heading is a question type or a part of a conversation."""

    slots: Lines
    lines: Lines

    def fill(self, line: str, chance: random.Random) -> str:
        while match := _ALTERNATIVES.search(line):
            line = (
                line[: match.start()]
                + chance.choice(match.group(1).split("|"))
                + line[match.end() :]
            )
        return " ".join(
            _SLOT.sub(lambda slot: chance.choice(self.slots[slot.group(1)]), line).split()
        )

    def draw(self, heading: str, chance: random.Random) -> str:
        return self.fill(chance.choice(self.lines[heading]).lstrip("* "), chance)


def read_patterns() -> Patterns:
    slots = {"tech": sorted(phrase for phrase, tags in lexicon().tags.items() if "tech" in tags)}
    lines: Lines = {}
    heading = ""
    for line in files(evaluation).joinpath("data", "patterns.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            heading = line.strip("[]")
        elif line and not line.startswith("#"):
            if heading.startswith("slot "):
                slots.setdefault(heading.removeprefix("slot "), []).extend(line.split("; "))
            else:
                lines.setdefault(heading, []).extend(
                    line.split("; ") if heading.startswith("offer") else [line]
                )
    return Patterns(slots=slots, lines=lines)


def filled(*, each: int, seed: int) -> list[Labelled]:
    """`each` single questions per type. A line that starts with `*` is a broad question."""
    # Seeded, because training must give the same weights each time.
    chance = random.Random(seed)
    patterns = read_patterns()
    return [
        Labelled(
            query=_typed(patterns.fill(line.lstrip("* "), chance), chance),
            query_type=query_type,
            broad=line.startswith("*"),
        )
        for query_type in QueryType
        for line, _ in zip(cycle(patterns.lines[query_type]), range(each), strict=False)
    ]


def filled_conversations(*, count: int, seed: int) -> list[Labelled]:
    chance = random.Random(seed)
    patterns = read_patterns()
    return [_conversation(patterns, chance) for _ in range(count)]


def _conversation(patterns: Patterns, chance: random.Random) -> Labelled:
    topic = chance.choices(list(QueryType), weights=(4, 4, 4, 1, 1))[0]
    query_type = chance.choice(list(QueryType))
    asked = patterns.draw(topic, chance)
    answer = patterns.draw(f"answer {topic}", chance)
    match chance.choices(("same", "other", "offer", "shift"), weights=(4, 5, 4, 1))[0]:
        case "same" if topic in (QueryType.CODE, QueryType.DOCUMENTATION, QueryType.RESEARCH):
            query_type, last = topic, patterns.draw("follow same", chance)
        case "offer":
            offered = chance.choice(
                [kind for kind in QueryType if kind != QueryType.CONVERSATIONAL]
            )
            offer = patterns.draw(f"offer {offered}", chance)
            answer = f"{answer} {patterns.fill('{opener}', chance)} {offer}?"
            agreed = chance.random() < 0.75
            query_type = offered if agreed else QueryType.CONVERSATIONAL
            last = patterns.fill("{accept}" if agreed else "{decline}", chance)
        case "shift":
            last = patterns.draw(query_type, chance)
        case _:
            last = patterns.draw(f"follow {query_type}", chance)
    history = ({"role": "user", "content": asked}, {"role": "assistant", "content": answer})
    return Labelled(query=_typed(last, chance), query_type=query_type, history=history)


def _typed(line: str, chance: random.Random) -> str:
    if chance.random() < 0.3:
        line = line[0].upper() + line[1:]
    if chance.random() < 0.25 and line[-1] not in "?.!":
        line += "?" if _QUESTION.match(line) else "."
    return line


def disturbed(row: Labelled, chance: random.Random) -> str:
    """A question as another person might type it: with other words around it, another case, a typo.

    Nothing is put around a conversational remark, because that could change its type.
    """
    query = row.query
    match chance.randrange(3 if row.query_type == QueryType.CONVERSATIONAL else 6):
        case 0:
            return query.lower()
        case 1:
            return query.upper() if chance.random() < 0.2 else query[:1].upper() + query[1:]
        case 2:
            return _with_typo(query, chance)
        case 3:
            return chance.choice(_BEFORE) + query
        case 4:
            return query + chance.choice(_AFTER)
        case _:
            return query.rstrip("?.! ") + chance.choice(_ENDS)


def _with_typo(query: str, chance: random.Random) -> str:
    if len(query) < 8:
        return query
    at = chance.randrange(1, len(query) - 2)
    if chance.random() < 0.5:
        return query[:at] + query[at + 1] + query[at] + query[at + 2 :]
    return query[:at] + query[at + 1 :]
