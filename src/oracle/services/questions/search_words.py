"""Turn a question into search words: names, quoted strings, paths and plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.identifiers import parts_of
from oracle.services.project.identifiers import without_ending as stem
from oracle.services.questions.kinship import kin_in
from oracle.services.questions.languages import (
    CJK,
    Language,
    in_english,
    language_of,
    stop_words_of,
)
from oracle.services.questions.word_lists import (
    ENDINGS_OF_FILES,
    GENERIC,
    LAST_RESORT,
    STOP_WORDS,
    SYNONYMS,
    without_ways_of_asking,
)

# A question is cut before these patterns see it, which bounds their time.
_QUOTED: Final = lazy_pattern(
    r"`([^`\n]{2,120})`|\"([^\"\n]{2,120})\"|(?<!\w)'([^'\n]{2,120})'(?!\w)"
)
_PATH: Final = lazy_pattern(r"(?<![\w/.])(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]{1,5}(?![\w(])")
_FOLDER: Final = lazy_pattern(r"(?<![\w/.:])[\w.-]+(?:/[\w.-]+)+/?")
# `a.py:12`, `a.py:10-40` and `a.py:12:5`: the numbers are not words.
_PLACE: Final = lazy_pattern(
    r"(?P<path>[\w./-]{1,300}\.[A-Za-z]{1,5}):\d{1,7}(?:[-:]\d{0,7})?(?!\w)"
)
_WORD: Final = lazy_pattern(r"[^\W_]\w*(?:[.:]{1,2}\w+)*|__?\w+")
# What looks like an identifier: `a_b`, `aB`, `AbC`, `a.b`, `ABC`, `Abc`.
_NAME: Final = lazy_pattern(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w[.:]\w|^[A-Z]{2,}$|^[A-Z]\w*[a-z]$")
_PAIRS_IN: Final = lazy_pattern(r"[^\W\d_]{3,}")
_REFERS_BACK: Final = lazy_pattern(
    r"\b(?:it|its|that|this|these|those|they|them|there|he|she|same|other|another|above)\b", re.I
)
_POINTS: Final = lazy_pattern(
    r"\b(?:this|these)\b(?! (?:project|repo|repository|code ?base|package|library|app|folder)\b)"
    r"|\b(?:the|above|following) (?:diff|patch|changes?|log|output|error|traceback|input|stdin)\b",
    re.I,
)
_GOES_ON: Final = lazy_pattern(r"\s*(?:and|also|but|so|what about|how about|or|then)\b", re.I)
# "where is the X defined?", "what does X do?": a plain word in the place of a name.
_DEFINED: Final = lazy_pattern(
    r"(?:\bwhere(?:'s| is| are| do we)|\bwhat(?:'s| is| are| does| do)|\bfind|\bshow(?: me)?)"
    r"\s+(?P<article>the |a |an )?(?:(?:class|function|method|type|constant|module|command)\s+)?"
    r"(?P<name>[A-Za-z]\w{2,})\s*(?:class|function|method|type|constant)?"
    r"\s*(?:defined|implemented|declared|located|do|live|lives|for)?\s*(?:[?.!]|$)",
    re.I,
)
_WHAT: Final = lazy_pattern(
    r"\s*(?:what(?:'s| is| are)|how (?:do|can|should) (?:i|we|you)|how to|why|explain|describe)\b",
    re.I,
)
# "what is the default timeout", "how long …", "which port …": a value is the answer.
_VALUE: Final = lazy_pattern(
    r"\bdefaults?\b|\bhow (?:long|big|large|much|often|many)\b|\b(?:limit|maximum|minimum"
    r"|timeout)\b"
    r"|\b(?:which|what) (?:port|size|value|number|address|url|path|file name|name|format"
    r"|encoding)\b"
    r"|默认|デフォルト|\bstandardmäßig\b|\bpar défaut\b|\bpor defecto\b|\bpredeterminad",
    re.I,
)
# "which files …" asks for all of them; "which class …" asks for one, though it ends with an s.
# "it runs every week" and "now all jobs fail" only tell something.
_EVERY: Final = lazy_pattern(
    r"\b(?:list|everywhere|which (?!\w*(?:is|has|was|does|class|process)\b)\w+s)\b"
    r"|(?:^|[?.!:,-]\s*)(?:and |also )?(?:all|every)\b(?! at once| of a sudden)"
    r"|\b(?:show|find|give|name|tell|get|print|enumerate|see|need|want|know|explain|describe"
    r"|what|which|where|who|how (?:many|do|does|are)|collect|count)\b[^.?!:,;]{0,40}\b"
    r"(?:all|every)\b(?! (?:time|second|minute|hour|day|night|week|month|year|other|\d))",
    re.I,
)
# "where is X used" asks for uses; "what is X used for" and "X is used to …" ask for its purpose.
_USES: Final = lazy_pattern(
    r"\b(?:callers?|usages?|references to"
    r"|(?:who|what|which \w+|places? that) (?:calls?|uses?|imports?)"
    r"|(?:is|are|gets?|place) (?:[\w.`]+ ){0,5}?(?:called|used|invoked|imported|referenced)"
    r"(?! (?:for|to)\b))\b",
    re.I,
)
# "In which order are they called?" and "what is it called?" ask for an order and for a name.
_NO_USES: Final = lazy_pattern(
    r"\b(?:which|what) order\b|^\W*what(?:'s| is| are) (?:[\w.`]+ ){1,6}called\W*$", re.I
)
_MOST: Final = 10
_MOST_NAMED: Final = 50
_LONGEST: Final = 4000
"""Characters of a question that are looked at."""
_FEW: Final = 4
"""A shorter question without telling words refers to what was said before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchWords:
    """`names` are identifiers, `phrases` quoted strings, `paths` files and folders, `plain` the
    other words, each in the order of the question. `guesses` are plain words that may be names,
    `pairs` are plain words side by side. An answer need not have the `optional` ones: words of
    another language than English, and further English words for them. `kin` are words that may mean
    the same, by plain word or by two words side by side.
    """

    names: Sequence[str] = ()
    phrases: Sequence[str] = ()
    paths: Sequence[str] = ()
    plain: Sequence[str] = ()
    guesses: Sequence[str] = ()
    pairs: Sequence[tuple[str, str]] = ()
    asks_why: bool = False
    asks_what: bool = False
    asks_what_was_decided: bool = False
    asks_for_a_value: bool = False
    optional: frozenset[str] = frozenset()
    kin: Sequence[tuple[str, tuple[str, ...]]] = ()
    language: Language = "en"

    @property
    def all(self) -> list[str]:
        named = _once(self.names, self.phrases, self.paths)[:_MOST_NAMED]
        # What is named is looked for, however long the list is; plain words fill up what is left.
        return _once(named, self.plain)[: max(_MOST, len(named))]

    @property
    def query(self) -> str:
        """For a search tool. In code, neighbouring words are often one name: `retry_policy`."""
        joined = ["_".join(pair) for pair in self.pairs[:3]]
        return " ".join([*self.all, *joined])[:900]

    def weight_of(self, word: str) -> float:
        """Names, quoted strings and paths count most: the question is about them."""
        if word in self.names or word in self.phrases or word in self.paths:
            return 2.0
        return 0.35 if is_generic(word) or word in self.optional else 1.0

    def joined(self, other: SearchWords) -> SearchWords:
        """These words, followed by those of an earlier question."""
        return SearchWords(
            names=_once(self.names, other.names),
            phrases=_once(self.phrases, other.phrases),
            paths=_once(self.paths, other.paths),
            plain=_once(self.plain, other.plain),
            guesses=_once(self.guesses, other.guesses),
            pairs=[*self.pairs, *other.pairs],
            asks_why=self.asks_why,
            asks_what=self.asks_what,
            asks_what_was_decided=self.asks_what_was_decided,
            asks_for_a_value=self.asks_for_a_value,
            optional=self.optional | other.optional,
            kin=[*dict([*other.kin, *self.kin]).items()],
            language=self.language,
        )


def search_words(question: str) -> SearchWords:
    return _search_words(question[:_LONGEST])


# A run looks at its question half a dozen times. A server has a thousand of them at once.
@lru_cache(maxsize=1024)
def _search_words(question: str) -> SearchWords:
    # Each kind is cut out before the next is looked for: a path in quotes must not be found twice.
    text = _PLACE.sub(_only_path, without_ways_of_asking(question))
    phrases = [found[found.lastindex or 0] for found in _QUOTED.finditer(text)]
    rest = _QUOTED.sub(" ", text)
    paths = [found[0] for found in _FOLDER.finditer(rest) if _is_path(found[0])]
    rest = _blanked(rest, paths)
    files = [found[0] for found in _PATH.finditer(rest) if _is_file(found[0])]
    rest = _blanked(rest, files)
    paths = [*paths, *files, *(phrase for phrase in phrases if _is_file(phrase))]
    language = language_of(text)
    stop = STOP_WORDS | stop_words_of(language)
    said = [found[0] for found in _WORD.finditer(rest)]
    words = [word for word in said if word.lower() not in stop]
    if not words and not phrases and not paths and len(said) > _FEW:
        # "call one implementation before all others" has only stop words, but asks for something.
        words = [word for word in said if word.lower() in LAST_RESORT]
    starts = _first_words(text)
    names = [word for word in words if _is_name(word, is_first=word in starts)]
    if language == "de":
        # In German every noun has a capital.
        names = [name for name in names if not (name[1:].islower() and name.isalpha())]
    names = [*(p for p in phrases if re.fullmatch(r"[\w.:]+(?:\(\))?", p)), *names]
    names = [name.strip("().:") for name in names if name not in paths]
    plain = [word for word in words if word not in names and (len(word) > 1 or word.isdigit())]
    plain, optional = _translated(plain, language)
    return SearchWords(
        names=_once(names),
        phrases=_once([p for p in phrases if p.strip("().:") not in names and p not in paths]),
        paths=_once([path.strip("/") for path in paths]),
        plain=_once([word.lower() for word in plain]),
        guesses=_once(_guesses(text, plain)),
        pairs=_pairs(rest, plain),
        asks_what=bool(_WHAT.match(text)),
        asks_why=bool(re.search(r"\bwhy\b|\breasons?\b", text, re.I)),
        asks_what_was_decided=bool(re.search(r"\b(?:decid|decision|agree)", text, re.I)),
        asks_for_a_value=bool(_VALUE.search(text)),
        optional=optional,
        kin=_kin(rest if language == "en" else " ".join(plain), plain, names),
        language=language,
    )


def _kin(
    text: str, plain: Sequence[str], names: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """The kin of plain words, and of two words side by side: "at most" has only stop words."""
    said = [word for word in _WORD.findall(text) if word not in names]
    kept = {word.lower() for word in plain}
    return [(word, kin) for word, kin in kin_in(said).items() if " " in word or word in kept]


def _translated(plain: Sequence[str], language: Language) -> tuple[list[str], frozenset[str]]:
    """The words with English ones in place of those that the glossary knows, and the optional ones.

    Identifiers and loan words stay as they are. A word with letters that English does not have
    stays too, since the project may be written in that language.
    """
    if language == "en":
        return list(plain), frozenset()
    found: list[str] = []
    optional: set[str] = set()
    for word in plain:
        english = in_english(word, language)
        found += [*english, word] if CJK.search(word) or not word.isascii() else english or [word]
        optional.update(english[1:])
        if not word.isascii():
            optional.add(word.lower())
    return found, frozenset(optional)


def goes_on(question: str, words: SearchWords) -> bool:
    """Whether a question needs the words of the one before it."""
    if words.names or words.phrases or words.paths:
        return bool(_GOES_ON.match(question)) and len(words.all) < 2
    # "Where is login defined?" has its subject; "what is the timeout?" may be that of another one.
    called = _DEFINED.search(question) if words.guesses else None
    few = len(words.all) <= 1 and (called is None or called["article"] is not None)
    return few or bool(_REFERS_BACK.search(question) and len(words.all) <= 4)


def points_at_a_text(question: str) -> bool:
    """Whether it is about a text that should go with it: "is this safe?", "explain the diff"."""
    return _POINTS.search(question) is not None


def asks_for_all(question: str) -> bool:
    """Whether it asks for everything of a kind: `list every …`, `which files …`."""
    return bool(_EVERY.search(question))


def asks_for_uses(question: str) -> bool:
    """Whether it asks where something is used: `callers of …`, `where is … used`."""
    return bool(_USES.search(question)) and not _NO_USES.search(question)


def other_words(words: SearchWords) -> list[str]:
    """Words to try next: parts of names, stems and synonyms, without those tried before."""
    tried = {word.lower() for word in words.all}
    found: list[str] = []
    for word in words.all:
        parts = parts_of(word)
        found += [part for part in parts if len(part) > 2 and part not in STOP_WORDS]
        found += SYNONYMS.get(word.lower(), ()) or SYNONYMS.get(stem(word.lower()), ())
        found += [short_stem(part) for part in parts]
    return [word for word in _once(found) if word not in tried and len(word) > 2][:_MOST]


def short_stem(word: str) -> str:
    """A shorter stem than usual, so that related words match as well."""
    for ending in ("ation", "ition", "ment", "ness", "able", "tion", "ing", "ers", "or", "er"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return stem(word)


def _is_path(text: str) -> bool:
    """`src/store` and `docs/a.md` are paths; `and/or` and `client/server` are not."""
    return (
        _is_file(text) or text.count("/") >= 2 or bool(re.match(r"(?:src|docs|tests?|lib)/", text))
    )


def _only_path(found: re.Match[str]) -> str:
    """The number after the name of a host is a port, which may be asked about."""
    return found["path"] if _is_file(found["path"]) else found[0]


def _is_file(text: str) -> bool:
    name, dot, ending = text.rpartition(".")
    return bool(dot and name) and " " not in text and ending.lower() in ENDINGS_OF_FILES


def _is_name(word: str, *, is_first: bool) -> bool:
    """Whether it looks like an identifier. At the start of a sentence a capital is not enough."""
    if is_first and not re.search(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w[.:]\w", word):
        return False
    return bool(_NAME.search(word))


def _first_words(text: str) -> set[str]:
    return {found[1] for found in re.finditer(r"(?:^|[.?!:]\s+|\n)\W*([\w.]+)", text)}


def _guesses(text: str, plain: Sequence[str]) -> list[str]:
    """Plain words in the place of a name, as written and with a capital as a class has it."""
    named = [found["name"] for found in _DEFINED.finditer(text)]
    known = [name for name in named if name in plain and not is_generic(name)]
    return [form for name in known for form in (name, name[:1].upper() + name[1:])]


def specific_words(words: SearchWords) -> list[str]:
    """The words that an answer should have; all words if each of them is generic."""
    needed = [word for word in words.all if word not in words.optional]
    return [word for word in needed if not is_generic(word)] or needed or words.all


def bare_name(name: str) -> str:
    """The last part of `Class.method` or `module::function`, which is how lines mention it."""
    return re.split(r"[.:]+", name)[-1]


def is_generic(word: str) -> bool:
    return word.lower() in GENERIC


def _pairs(text: str, plain: Sequence[str]) -> list[tuple[str, str]]:
    """Plain words side by side: `signal parser`, `exit codes`."""
    kept = {word.lower() for word in plain}
    found: list[tuple[str, str]] = []
    for part in re.split(r"[^\w\s-]", text):
        words = [word.lower() for word in _PAIRS_IN.findall(part)]
        found += [pair for pair in pairwise(words) if kept.issuperset(pair)]
    return list(dict.fromkeys(found))


def _blanked(text: str, paths: Sequence[str]) -> str:
    for path in paths:
        text = text.replace(path, " ")
    return text


def _once(*lists: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for words in lists:
        for word in words:
            if word:
                found[word] = None
    return list(found)
