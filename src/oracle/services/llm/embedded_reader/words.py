"""What a question is searched by: its names, its quoted strings and paths, its telling words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oracle.services.tools.words import stem

_QUOTED: Final = re.compile(
    r"`([^`\n]{2,120})`|\"([^\"\n]{2,120})\"|(?<!\w)'([^'\n]{2,120})'(?!\w)"
)
_PATH: Final = re.compile(r"(?<![\w/.])(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]{1,5}(?![\w(])")
_FOLDER: Final = re.compile(r"(?<![\w/.:])[\w.-]+(?:/[\w.-]+)+/?")
_WORD: Final = re.compile(r"[^\W_]\w*(?:[.:]{1,2}\w+)*|__?\w+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_NAME: Final = re.compile(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w[.:]\w|^[A-Z]{2,}$|^[A-Z]\w*[a-z]$")
_ENDINGS_OF_FILES: Final = frozenset(
    """
    py pyi js ts jsx tsx rs go java kt c h cc cpp hpp rb lua sh sql md rst txt toml yaml yml json
    cfg ini html css lock xml csv env
    """.split()
)
_SMALL: Final = frozenset(
    """
    a about above after again all also am an and another any anyone anything are around as ask at
    be because been before behind being below between both but by can cannot come comes could did
    do does doing done down each either else ever every everything explain few find first for
    from gave get gets getting give gives given go goes going good got had happen happened happens
    has have having hello her here hey hi him his how however i if in instead into is it its itself
    just keep know last let lets like list look looking looks made make makes many may maybe me
    mean means might mine more most much must my need needs no nor not now of off ok okay on once
    one ones only or other others our out over own part parts per place places please project
    possible quite rather really repo repository same say says see seen shall she should show
    shown shows since so some somehow something soon still such sure take taken takes talk tell
    than thank thanks that the their them then there these they thing things this those through to
    together too under until up upon us use used uses using very via want was way ways we well were
    what whatever when where whether which while who whole whom whose why will with within without
    work works working would yes yet you your codebase code exactly actually currently describe
    summarize summarise wondering overview detail details purpose responsible live lives located
    called call calls defined define definition implemented implementation whats wheres hows
    im id ive dont doesnt isnt didnt there's what's it's difference
    """.split()
)
_REFERS_BACK: Final = re.compile(
    r"\b(?:it|its|that|this|these|those|they|them|there|he|she|same|other|another|above)\b", re.I
)
_GOES_ON: Final = re.compile(r"\s*(?:and|also|but|so|what about|how about|or|then)\b", re.I)
_DEFINED: Final = re.compile(
    r"(?:\bwhere(?:'s| is| are)?|\bwhat(?:'s| is| are| does| do)|\bfind|\bshow(?: me)?|\bexplain)"
    r"\s+(?:the |a |an )?(?:(?:class|function|method|type|constant|module|command)\s+)?"
    r"[`'\"]?(?P<name>[A-Za-z_]\w{2,})",
    re.I,
)
_MOST: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchWords:
    """`names` are identifiers, `phrases` what was quoted, `paths` files and folders, `plain` the
    rest, all in the order of the question. `guesses` are plain words that may be names as well.
    """

    names: Sequence[str] = ()
    phrases: Sequence[str] = ()
    paths: Sequence[str] = ()
    plain: Sequence[str] = ()
    guesses: Sequence[str] = ()

    @property
    def all(self) -> list[str]:
        return list(dict.fromkeys([*self.names, *self.phrases, *self.paths, *self.plain]))[:_MOST]

    @property
    def query(self) -> str:
        return " ".join(self.all)[:900]

    def joined(self, other: SearchWords) -> SearchWords:
        """These first, then those of an earlier question."""
        return SearchWords(
            names=_once(self.names, other.names),
            phrases=_once(self.phrases, other.phrases),
            paths=_once(self.paths, other.paths),
            plain=_once(self.plain, other.plain),
            guesses=_once(self.guesses, other.guesses),
        )


def search_words(question: str) -> SearchWords:
    text = question[:4000]
    phrases = [next(filter(None, found)) for found in _QUOTED.findall(text)]
    rest = _QUOTED.sub(" ", text)
    paths = [path for path in _FOLDER.findall(rest) if _is_path(path)]
    rest = _blanked(rest, paths)
    files = [path for path in _PATH.findall(rest) if _is_file(path)]
    rest = _blanked(rest, files)
    paths = [*paths, *files, *(phrase for phrase in phrases if _is_file(phrase))]
    words = [word for word in _WORD.findall(rest) if word.lower() not in _SMALL]
    starts = _first_words(text)
    names = [word for word in words if _is_name(word, is_first=word in starts)]
    names = [*(p for p in phrases if re.fullmatch(r"[\w.:]+(?:\(\))?", p)), *names]
    names = [name.strip("().:") for name in names if name not in paths]
    plain = [word for word in words if word not in names and len(word) > 1]
    return SearchWords(
        names=_once(names),
        phrases=_once([p for p in phrases if p.strip("().:") not in names and p not in paths]),
        paths=_once([path.strip("/") for path in paths]),
        plain=_once([word.lower() for word in plain]),
        guesses=_once(_guesses(text, plain)),
    )


def goes_on(question: str, words: SearchWords) -> bool:
    """Whether a question leans on the one before it."""
    if words.names or words.phrases or words.paths:
        return bool(_GOES_ON.match(question)) and len(words.all) < 2
    few = len(words.all) <= 1
    return few or bool(_REFERS_BACK.search(question) and len(words.all) <= 4)


def other_words(words: SearchWords) -> list[str]:
    """Parts of names, stems, and words that mean about the same; none that was tried."""
    tried = {word.lower() for word in words.all}
    found: list[str] = []
    for word in words.all:
        parts = [part.lower() for part in _PART.findall(word)]
        found += [part for part in parts if len(part) > 2 and part not in _SMALL]
        found += _KIN.get(word.lower(), ()) or _KIN.get(stem(word.lower()), ())
        found += [short_stem(part) for part in parts]
    return [word for word in _once(found) if word not in tried and len(word) > 2][:_MOST]


def short_stem(word: str) -> str:
    """A stem that is shorter than the usual one, so that relatives of the word match as well."""
    for ending in ("ation", "ition", "ment", "ness", "able", "tion", "ing", "ers", "or", "er"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return stem(word)


def _is_path(text: str) -> bool:
    """`src/store` and `docs/a.md` are paths; `and/or` and `client/server` hardly."""
    return (
        _is_file(text) or text.count("/") >= 2 or bool(re.match(r"(?:src|docs|tests?|lib)/", text))
    )


def _is_file(text: str) -> bool:
    name, dot, ending = text.rpartition(".")
    return bool(dot and name) and " " not in text and ending.lower() in _ENDINGS_OF_FILES


def _is_name(word: str, *, is_first: bool) -> bool:
    """An identifier by its looks; a capital alone says nothing where a sentence begins."""
    if is_first and not re.search(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w[.:]\w", word):
        return False
    return bool(_NAME.search(word))


def _first_words(text: str) -> set[str]:
    return {found[1] for found in re.finditer(r"(?:^|[.?!:]\s+|\n)\W*([\w.]+)", text)}


def _guesses(text: str, plain: Sequence[str]) -> list[str]:
    named = [found["name"] for found in _DEFINED.finditer(text)]
    return [name for name in named if name in plain]


def _blanked(text: str, paths: Sequence[str]) -> str:
    for path in paths:
        text = text.replace(path, " ")
    return text


def _once(*lists: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(word for words in lists for word in words if word))


_GROUPS: Final = """
delete remove drop purge | create make new open | error exception failure problem | fetch get load
read | store save persist write database | config configuration settings options | auth login
authentication authorization session | start begin init launch boot | stop end finish halt close |
test spec check | retry retries attempt backoff | cache caching memoize | log logging logger |
limit limits budget maximum quota | timeout deadline seconds | parse parser parsing | convert
transform encode decode | send post emit publish | route routing endpoint url | user account |
message messages chunk | schedule queue worker job task | install setup | version release changelog
| search find lookup query | permission grant allow access | secret key credential redact | encrypt
cipher hash | render draw format display print
"""
_KIN: Final[dict[str, tuple[str, ...]]] = {
    word: tuple(other for other in group.split() if other != word)
    for group in _GROUPS.replace("\n", " ").split("|")
    for word in group.split()
}
