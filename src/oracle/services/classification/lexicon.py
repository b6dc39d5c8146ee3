"""The tags of words and phrases, read from `lexicon.txt` and `technologies.txt`."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services import classification
from oracle.services.classification.tokenizer import expand


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """`tags` are those of each word and phrase. `longest` maps the first word of a phrase to the
    number of words in the longest phrase that begins with it.
    """

    tags: dict[str, tuple[str, ...]]
    function_words: frozenset[str]
    longest: dict[str, int]
    cjk: re.Pattern[str]

    def of(self, phrase: str) -> tuple[str, ...]:
        return self.tags.get(phrase, ())

    def phrase_at(self, words: list[str], start: int) -> list[str]:
        """The longest known phrase at `start`, or the word at `start`."""
        for length in range(self.longest.get(words[start], 1), 1, -1):
            phrase = words[start : start + length]
            if " ".join(phrase) in self.tags:
                return phrase
        return [words[start]]

    def in_cjk(self, run: str) -> list[str]:
        """The entries in a run of Chinese or Japanese characters, which has no spaces."""
        return self.cjk.findall(run)


@cache
def lexicon() -> Lexicon:
    tags: dict[str, tuple[str, ...]] = {}
    function_words: set[str] = set()
    longest: dict[str, int] = {}
    for tag, entry in (*_entries("technologies.txt", "tech"), *_entries("lexicon.txt", "")):
        # `_` in an entry is a space. Contractions are expanded, as in the query.
        words = [word for part in entry.split("_") for word in expand(part)]
        phrase = entry if words == [entry] else " ".join(words)
        if tag == "function":
            function_words.add(phrase)
        elif tag not in tags.get(phrase, ()):
            tags[phrase] = (*tags.get(phrase, ()), tag)
            longest[words[0]] = max(longest.get(words[0], 1), len(words))
    # Longest first: a regular expression takes the first alternative that matches.
    cjk = [phrase for phrase in tags if not phrase.isascii() and any(map(_is_cjk, phrase))]
    cjk.sort(key=len, reverse=True)
    return Lexicon(
        tags=tags,
        function_words=frozenset(function_words),
        longest=longest,
        cjk=lazy_pattern("|".join(map(re.escape, cjk))),
    )


@lru_cache(maxsize=8192)
def inflected(word: str) -> tuple[str, ...]:
    """Tags of an inflected form: `redis's` has those of `redis`. `jotting` and `jotted` are forms
    of the verb `jot`, but not orders, so they have tags of their own.
    """
    known = lexicon()
    if word.endswith("'s"):
        return known.of(word[:-2])
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        # `adding` → `add`, `writing` → `write`, `jotting` → `jot`.
        bases = (stem, f"{stem}e", stem[:-1])
        if stem != word and len(stem) > 2 and any("write" in known.of(base) for base in bases):
            return (f"write_{ending}",)
    return ()


def _is_cjk(character: str) -> bool:
    # Not a regular expression: one with so large ranges takes as long to compile as all of this.
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff"


def _entries(file: str, tag: str) -> list[tuple[str, str]]:
    """Pairs of tag and entry. A line `[tag]` sets the tag of the lines after it."""
    found: list[tuple[str, str]] = []
    for line in files(classification).joinpath(file).read_text("utf-8").splitlines():
        if line.startswith("["):
            tag = line.strip("[]")
        elif not line.startswith("#"):
            found.extend((tag, entry) for entry in line.split())
    return found
