"""Tells whether a text, which may go on, begins with a run of our own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from oracle.services.signals.own_words import (
    WORD,
    Match,
    OwnText,
    bare,
    followed,
    may_be_followed,
)

LEAST_WORDS: Final = 8
LEAST_CHARACTERS: Final = 40
CUT_WORDS: Final = 5
"""A text that is cut may consist of fewer words of ours."""
_LONGEST_WORD: Final = 40


class Verdict(NamedTuple):
    """`wait`: more text must decide. `ours`: up to `end`, and `matches` say where it may go on.

    `cut`: the text ends among words of ours. `other`: not ours, and its first word ends at `end`.
    """

    kind: Literal["wait", "ours", "cut", "other"]
    end: int = 0
    matches: Sequence[Match] = ()


WAIT: Final = Verdict("wait")


def at_start(own: OwnText, data: str, *, is_final: bool, was_cut: bool) -> Verdict:
    """For the start of a line or of a sentence: does it begin with words of ours?"""
    words: list[str] = []
    first_end = 0
    for token in WORD.finditer(data):
        raw = token[0]
        first_end = first_end or token.end()
        if raw[0] == "<" or raw.startswith("```") or (raw[0] == "`" and not words):
            return Verdict("other", token.start() if not words else first_end)
        if len(raw) >= _LONGEST_WORD:
            return Verdict("other", first_end)
        if token.end() == len(data) and not is_final:
            # More text must decide about a last word, which may go on.
            may_be_ours = not bare(raw) or own.may_start(words, bare(raw))
            return WAIT if may_be_ours else Verdict("other", first_end)
        if word := bare(raw):
            if not words and not own.may_start_with(word) and not (was_cut and is_final):
                return Verdict("other", first_end)
            words.append(word)
            matches = own.matches(words)
            if matches is None and was_cut and token.end() == len(data):
                # The last word is not whole; those before it decide.
                break
            if matches is None:
                return Verdict("other", first_end)
            if len(words) >= LEAST_WORDS and token.end() >= LEAST_CHARACTERS:
                return Verdict("ours", token.end(), matches)
    if not is_final:
        return WAIT
    is_cut = was_cut and len(words) >= CUT_WORDS
    return Verdict("cut" if is_cut else "other", len(data))


def after_three(matches: Sequence[Match], data: str, *, is_final: bool) -> Verdict:
    """For what follows three words of ours in the middle of a line."""
    count = 3
    first_end = 0
    for token in WORD.finditer(data):
        raw, word = token[0], bare(token[0])
        if "\n" in data[: token.start()] or raw[0] == "<" or raw.startswith("```"):
            break
        first_end = first_end or token.end()
        if token.end() == len(data) and not is_final:
            if not word or may_be_followed(matches, word):
                return WAIT
            break
        matches = followed(matches, word) if word else matches
        if not matches or len(raw) >= _LONGEST_WORD:
            break
        count += bool(word)
        if count >= LEAST_WORDS:
            return Verdict("ours", token.end(), matches)
    else:
        if not is_final and "\n" not in data:
            return WAIT
    return Verdict("other", first_end)


def while_ours(
    matches: Sequence[Match], data: str, *, is_final: bool
) -> tuple[int, Sequence[Match], bool]:
    """How far the words are ours, where they may go on, and whether another one ended them."""
    end = 0
    for token in WORD.finditer(data):
        is_last = token.end() == len(data)
        word = bare(token[0])
        may_go_on = not word or may_be_followed(matches, word)
        if is_last and not is_final and may_go_on:
            break
        longer = followed(matches, word) if word else matches
        if not longer or token[0].startswith(("```", "~~~")):
            is_cut = is_last and may_be_followed(matches, word)
            return len(data) if is_cut else end, matches, True
        matches, end = longer, token.end()
    return end, matches, False
