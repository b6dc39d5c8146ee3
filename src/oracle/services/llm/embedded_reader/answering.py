"""The answer: the best place first, quoted; then others, each with a line; then what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.services.llm.embedded_reader.choosing import Passage
from oracle.services.llm.embedded_reader.looking import Aim, found_in
from oracle.services.llm.embedded_reader.quotations import summary_of
from oracle.services.llm.embedded_reader.saying import (
    Response,
    code,
    codes,
    quoted,
    signal,
    with_no_model,
)
from oracle.services.llm.embedded_reader.situation import Situation

_QUOTED_PLACES: Final = 2
_LISTED_PLACES: Final = 4
_LISTED_OF_ALL: Final = 20
_ENOUGH: Final = 0.6
_LEAST: Final = 0.25


def answer(situation: Situation, aim: Aim, found: Sequence[Passage]) -> Response:
    """What was found, and a signal that claims no more than the quoted lines cover."""
    if not found:
        return nothing_found(situation, aim)
    chosen = _chosen(aim, found)
    shown = chosen[: 1 + _LISTED_OF_ALL] if aim.wants_all else chosen
    missing = _missing(aim, shown)
    text = "\n\n".join(
        part
        for part in (
            _every_place(shown) if aim.wants_all else _best_places(shown),
            _what_is_missing(missing),
            _what_failed(situation),
        )
        if part
    )
    return Response(
        text=with_no_model(text, (exchange.answer for exchange in situation.history)),
        signal=_signal(situation, aim, shown, missing),
    )


def nothing_found(situation: Situation, aim: Aim) -> Response:
    searched = list(dict.fromkeys(call.name for call in situation.calls))
    told = f"I found nothing for {codes(aim.words.all)}." if aim.words.all else _NO_WORDS
    if searched:
        told += f" I tried {codes(searched)}."
    text = "\n\n".join(part for part in (told, _what_failed(situation)) if part)
    return Response(
        text=with_no_model(text, (exchange.answer for exchange in situation.history)),
        signal=signal("partial_answer", 0.3, missing=f"anything about {_named(aim)}"),
    )


_NO_WORDS: Final = (
    "I search by words, and this question has none that I could search for. Name a function, a "
    "file, or what it is about."
)


def _named(aim: Aim) -> str:
    return ", ".join(aim.words.all) or "the question"


def _chosen(aim: Aim, found: Sequence[Passage]) -> list[Passage]:
    best = found[0].score
    good = [passage for passage in found if passage.score >= max(_LEAST * best, 0.05)]
    if aim.wants_all or aim.wants_uses:
        return good[:_LISTED_OF_ALL]
    return good[: _QUOTED_PLACES + _LISTED_PLACES]


def _best_places(shown: Sequence[Passage]) -> str:
    first, *others = shown
    parts = [f"The best match is {code(first.where)}:", quoted(first.lines, first.source.path)]
    for passage in others[: _QUOTED_PLACES - 1]:
        parts += [f"Then {code(passage.where)}:", quoted(passage.lines, passage.source.path)]
    rest = others[_QUOTED_PLACES - 1 :]
    if rest:
        parts.append("Also:\n\n" + "\n".join(_item(passage) for passage in rest))
    return "\n\n".join(parts)


def _every_place(shown: Sequence[Passage]) -> str:
    files = len({passage.source.path for passage in shown})
    count = "1 place" if len(shown) == 1 else f"{len(shown)} places in {files} files"
    ordered = sorted(shown, key=lambda p: (p.source.path, p.source.first + p.best))
    return f"I found {count}:\n\n" + "\n".join(_item(passage) for passage in ordered)


def _item(passage: Passage) -> str:
    return f"- {code(passage.best_where)}: {code(passage.best_line)}"


def _missing(aim: Aim, shown: Sequence[Passage]) -> list[str]:
    covered = {word for passage in shown for word in passage.words}
    return [word for word in aim.words.all if word not in covered]


def _what_is_missing(missing: Sequence[str]) -> str:
    return f"In what I read there is nothing about {codes(missing)}." if missing else ""


def _what_failed(situation: Situation) -> str:
    failed = {call.name: summary_of(call.content) for call in situation.failed}
    return "\n".join(f"{code(name)} failed: {code(why, 300)}" for name, why in failed.items())


def _signal(
    situation: Situation, aim: Aim, shown: Sequence[Passage], missing: Sequence[str]
) -> str:
    coverage = 1 - len(missing) / max(1, len(aim.words.all))
    best = max((len(passage.words) for passage in shown), default=0) / max(1, len(aim.words.all))
    confidence = min(0.9, 0.3 + 0.3 * coverage + 0.3 * best)
    if coverage < _ENOUGH or not found_in(situation):
        return signal("partial_answer", confidence, missing=", ".join(missing) or "evidence")
    return signal("context_sufficient", confidence, sources_found=len(shown))
