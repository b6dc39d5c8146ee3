"""Finds a streamed response that says the same thing without end.

Two looks at the text, both in linear time:

- The end of the text, character by character: a word, a line or a short round of lines that comes
  again and again with nothing in between.
- All of it, word by word: each run of eight words, with how often it has come. This finds long
  rounds, lines in another order, lines with a number before them, and lines that grow.

The second look is costly in time and memory, and nearly all texts need none. So only every eighth
run is counted at first (`_Sample`); all are, from the beginning of the text, once one of those has
come too often.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from oracle.patterns import lazy_pattern

_WATCHED: Final = 2_000
"""Characters at the end of a text in which a repetition is looked for."""
_STEP: Final = 128
"""Characters between two looks: each looks at all that is watched, so it must not be each piece."""
_STEP_IN_WORDS: Final = 512
"""The same for the second look while it only samples. Less than `_Kind.characters` by more than a
run that is counted is apart from the next one: so what it finds, it still finds at the same place.
"""
_NEEDLE: Final = 32
_PIECE: Final = 160
# How often a stretch must repeat before it is no longer normal text: from this length on, so often.
# A row of dashes or of zeros is normal, so a short stretch must fill a few lines.
_TIMES: Final = ((200, 4), (60, 8), (20, 20), (8, 40))
_SHORT_STRETCHES: Final = 1_200

_RUN: Final = 8
"""Words. A shorter run comes again in any text."""
_MOST_RUNS: Final = 100_000
"""How many runs are remembered, so that the memory is bounded."""
_KEPT: Final = 12_000
"""Characters at the end of a text that are compared with what was read, if they repeat."""

_FRESH: Final = 3
"""A new run makes up for so many known ones. So one new word in a long round does not hide it."""
_WIDEST_WORD: Final = 20
"""Characters that a word counts for at the most, with what is between it and the word before."""
_LONGEST_WORD: Final = 60

# Names and words of scripts that part words by spaces; single characters of all other scripts.
_WORD: Final = lazy_pattern(r"[a-zß-ÿĀ-ԯ\d_]+|[^\W\d_]")


class RunawayText:
    """Feed it a response as it arrives."""

    __slots__ = (
        "_at",
        "_ends",
        "_new",
        "_rounds",
        "_said",
        "_samples",
        "_stretch",
        "_unsampled",
        "_watched",
        "_word",
    )

    def __init__(self) -> None:
        # The strings of the caller, who keeps them too: a copy would double the memory of a text.
        self._said: list[str] = []
        self._watched = ""
        self._new = ""
        self._word = ""
        self._unsampled = ""
        self._at = 0
        self._stretch = 0
        # Where the pieces end that were only sampled so far.
        self._ends: list[int] = []
        self._samples = tuple(_Sample(kind) for kind in _KINDS)
        self._rounds: tuple[_Rounds, ...] = ()

    @property
    def repeated(self) -> str:
        """A little more than one round of what repeats: a text that was read has it only if it
        repeats as well.
        """
        longest = min(self._stretch + _PIECE, _KEPT) + len(self._new)
        said: list[str] = []
        for text in reversed(self._said):
            if longest <= 0:
                break
            said.append(text)
            longest -= len(text)
        text = "".join(reversed(said)).removesuffix(self._new)
        return text[-min(self._stretch + _PIECE, _KEPT) :]

    def feed(self, text: str) -> bool:
        """Return whether the text so far ends in something that repeats too often."""
        self._said.append(text)
        self._new += text
        if len(self._new) < _STEP:
            return False
        new, self._new = self._new, ""
        self._watched = (self._watched + new)[-_WATCHED:]
        self._stretch = _stretch_at_the_end(self._watched) or self._stretch_in_words(new)
        return self._stretch > 0

    def _stretch_in_words(self, new: str) -> int:
        if not self._rounds:
            self._unsampled += new
            if len(self._unsampled) < _STEP_IN_WORDS:
                return 0
            new, self._unsampled = self._unsampled, ""
        text = self._word + new.lower()
        end = _end_of_words(text)
        begin, piece, self._word = self._at, text[:end], text[end:]
        self._at += end
        if self._rounds:
            return self._counted(begin, piece)
        self._ends.append(self._at)
        words = _WORD.findall(piece)
        if not any(sample.is_suspect_after(words) for sample in self._samples):
            return 0
        self._rounds = tuple(_Rounds(kind) for kind in _KINDS)
        said = "".join(self._said).lower()
        return [self._counted(at, said[at:end]) for at, end in pairwise([0, *self._ends])][-1]

    def _counted(self, begin: int, text: str) -> int:
        found = 0
        for word in _WORD.finditer(text):
            stretches = [seen.after(word[0], begin + word.start()) for seen in self._rounds]
            found = max(stretches)
        return found


class _Kind(NamedTuple):
    """Text is known if its runs have come `times` times before. So many `characters` of known text
    are too many.
    """

    times: int
    characters: int
    with_numbers: bool


# A number makes a line another one, unless very many lines differ in nothing else.
_KINDS: Final = (
    _Kind(times=3, characters=1_200, with_numbers=True),
    _Kind(times=20, characters=4_000, with_numbers=False),
)


class _Sample:
    """Counts every eighth run of words of a text, nearly all of it without a loop in Python.

    Text that repeats has long stretches of known runs. Eight runs in a row hold one that was
    counted from the first time it came, so nothing that `_Rounds` would find is missed.
    """

    __slots__ = ("_kind", "_recent", "_seen")

    def __init__(self, kind: _Kind) -> None:
        self._kind = kind
        self._recent: list[str] = []
        # By their hashes, which take less memory: two runs with the same one only cost a full look.
        self._seen: dict[int, int] = {}

    def is_suspect_after(self, words: Sequence[str]) -> bool:
        """Whether a run has come so often, with these words, that all runs must be counted."""
        if not self._kind.with_numbers:
            words = [word for word in words if not word.isdigit()]
        return self._is_suspect(words)

    def _is_suspect(self, words: Sequence[str]) -> bool:
        row = [*self._recent, *words]
        runs = [*map(hash, zip(*(row[at:] for at in range(_RUN)), strict=False))]
        different = set(runs)
        if len(different) < len(runs):
            # What comes twice among them is counted in two steps, unless it is very short.
            half = len(words) // 2
            if half < _RUN:
                return True
            return self._is_suspect(words[:half]) or self._is_suspect(words[half:])
        self._recent = row[1 - _RUN :]
        seen = self._seen
        again = seen.keys() & different
        for run in again:
            seen[run] += 1
        if len(seen) < _MOST_RUNS:
            seen.update((run, 1) for run in runs[::_RUN] if run not in again)
        return any(seen[run] > self._kind.times for run in again)


class _Rounds:
    """Counts the runs of words of a text."""

    __slots__ = ("_at", "_kind", "_known", "_recent", "_seen")

    def __init__(self, kind: _Kind) -> None:
        self._kind = kind
        self._recent: deque[str] = deque(maxlen=_RUN)
        self._seen: dict[tuple[str, ...], tuple[int, int]] = {}
        self._known = 0
        self._at = 0

    def after(self, word: str, at: int) -> int:
        """The characters since this run came last, if too much known text has come; else 0."""
        if word.isdigit() and not self._kind.with_numbers:
            return 0
        self._recent.append(word)
        run = tuple(self._recent)
        times, last = self._seen.get(run, (0, at))
        if times or len(self._seen) < _MOST_RUNS:
            self._seen[run] = (times + 1, at)
        width = min(at - self._at, _WIDEST_WORD)
        self._at = at
        is_known = times >= self._kind.times
        self._known = max(0, self._known + (width if is_known else -_FRESH * width))
        return at - last if is_known and self._known >= self._kind.characters else 0


def _end_of_words(text: str) -> int:
    """Where the last word begins that may go on: the next piece of text decides."""
    end = len(text)
    while (
        end > 0
        and len(text) - end < _LONGEST_WORD
        and (text[end - 1].isalnum() or text[end - 1] == "_")
    ):
        end -= 1
    return end


def _stretch_at_the_end(text: str) -> int:
    """The length of the last stretch, if it equals the one before it, and so on; else 0."""
    needle = text[-_NEEDLE:]
    before = text.rfind(needle, 0, -1)
    if before < 0:
        return 0
    stretch = len(text) - len(needle) - before
    times = next((times for least, times in _TIMES if stretch >= least), 0)
    length = stretch * times if times else _SHORT_STRETCHES
    # Shifted by one stretch, a text that repeats is the same text.
    if length > len(text) or text[-length:-stretch] != text[len(text) - length + stretch :]:
        return 0
    return stretch
