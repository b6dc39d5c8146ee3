"""The second stage: what each token does in its clause.

A reading holds the query twice: as words, and as a sketch, where content words are replaced by what
they are (`tech`, `note`, `decide`…) and function words stay. `where do we write the note?` and
`write a note` share their words; their sketches differ: `where do we write:subject the note ?` and
`write:start a note`.
"""

from __future__ import annotations

from dataclasses import dataclass

from oracle.services.classification.lexicon import Lexicon, inflected, lexicon
from oracle.services.classification.text import Token, clean, tokenize

STOPS = frozenset({"|", "?", ","})
FLUFF = frozenset({"thanks", "greet", "bye", "ack", "mood", "polite", "but", "|", ",", "<emoji>"})
IDENTIFIERS = frozenset(
    {"call", "snake", "camel", "pascal", "scoped", "env", "quoted_code", "flag"}
    | {"line_ref", "code_file", "path"}
)
_VERBS = ("write", "read")
_SUBJECTS = frozenset(
    {"i", "we", "they", "he", "she", "it", "you", "who", "people", "one", "does", "do", "did", "to"}
)
_DETERMINERS = frozenset(
    {"a", "an", "the", "this", "that", "these", "those", "my", "your", "our", "his", "her", "its"}
    | {"their", "some", "any", "no", "each", "every", "which", "what", "new", "last"}
)
_PASSED_OVER = FLUFF - STOPS | {"then", "now", "so", "just", "also"}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reading:
    """`core` is the sketch without the greetings, thanks and politeness around it.

    Readings are equal only to themselves, so that what follows from one can be remembered.
    """

    tokens: list[Token]
    sketch: list[str]
    tags: set[str]
    core: list[str]

    @property
    def is_wrapped(self) -> bool:
        return self.core[:1] != self.sketch[:1]


def read(query: str) -> Reading:
    return read_tokens(tokenize(clean(query)))


def read_tokens(tokens: list[Token]) -> Reading:
    sketcher = _Sketcher(lexicon())
    sketcher.draw(tokens)
    sketch = sketcher.symbols
    return Reading(tokens=tokens, sketch=sketch, tags=sketcher.tags, core=_core(sketch))


class _Sketcher:
    def __init__(self, known: Lexicon) -> None:
        self._known = known
        self.symbols: list[str] = []
        self.tags: set[str] = set()

    def draw(self, tokens: list[Token]) -> None:
        words = [token.word for token in tokens]
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.kind == "word":
                phrase = self._known.phrase_at(words, index)
                self._add_words(token, phrase)
                index += len(phrase)
            else:
                self._add_sign(token)
                index += 1

    def _add_sign(self, token: Token) -> None:
        if token.kind == "cjk":
            for found in self._known.in_cjk(token.raw):
                self._add_tagged(self._known.of(found))
        elif token.kind in IDENTIFIERS and self._is_technology(token):
            self._add_tagged(("tech",))
        else:
            self.symbols.append(token.word)

    def _add_words(self, token: Token, words: list[str]) -> None:
        tags = self._known.of(" ".join(words)) or inflected(words[0])
        if "you_do" not in tags and self._known.function_words.issuperset(words):
            self.tags.update(tag for tag in tags if tag[0] != "=")
            self.symbols.extend(words)
        elif tags:
            self._add_tagged(tags)
        else:
            self.symbols.append(_shape(token.raw, self.symbols))

    def _add_tagged(self, tags: tuple[str, ...]) -> None:
        """A tag `=where` says that the word is a foreign `where`."""
        self.tags.update(tag for tag in tags if tag[0] != "=")
        english = next((tag[1:] for tag in tags if tag[0] == "="), "")
        self.symbols.append(english or self._placed(tags))

    def _placed(self, tags: tuple[str, ...]) -> str:
        verb = next((verb for verb in _VERBS if verb in tags), "")
        if not verb:
            return tags[0]
        place = _place(self.symbols)
        nouns = [tag for tag in tags if tag not in _VERBS and tag != "noun_too"]
        if nouns and place == "noun":
            return nouns[0]
        return f"{verb}~:{place}" if "noun_too" in tags else f"{verb}:{place}"

    def _is_technology(self, token: Token) -> bool:
        return "tech" in self._known.of(token.raw.strip("`").lower())


def _place(before: list[str]) -> str:
    """Where a verb stands: at the start of a clause it orders, after a subject it does not."""
    for symbol in reversed(before):
        if symbol in STOPS:
            return "start"
        if symbol in _PASSED_OVER:
            continue
        if symbol in ("you_do", "lets"):
            return symbol
        if symbol in ("and", "or"):
            return "and"
        if symbol in _DETERMINERS:
            return "noun"
        return "subject" if symbol in _SUBJECTS else "mid"
    return "start"


def _shape(raw: str, before: list[str]) -> str:
    if raw.isupper() and len(raw) > 1:
        return "ACR"
    if raw[0].isupper() and before and before[-1] not in STOPS:
        return "Name"
    return "w"


def _core(sketch: list[str]) -> list[str]:
    start, end = 0, len(sketch)
    while start < end and sketch[start] in FLUFF:
        start += 1
    while end > start and sketch[end - 1] in FLUFF:
        end -= 1
    return sketch[start:end]
