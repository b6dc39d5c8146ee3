"""Stage 2: finds the role of each token in its clause.

A parsed query holds the text twice: as tokens, and as a sketch. In the sketch a content word is
replaced by its tag (`tech`, `note`, `decide` …) and a function word stays. `where do we write the
note?` and `write a note` share their words, but their sketches differ: `where do we write:subject
the note ?` and `write:start a note`.
"""

from __future__ import annotations

from functools import lru_cache

from oracle.lazy_dataclass import dataclass
from oracle.services.classification.lexicon import Lexicon, inflected, lexicon
from oracle.services.classification.tokenizer import Token, clean, tokenize

STOPS = frozenset({"|", "?", ","})
COURTESIES = frozenset(
    {"thanks", "greet", "bye", "ack", "mood", "polite", "but", "|", ",", "<emoji>"}
)
IDENTIFIERS = frozenset(
    {"call", "snake", "camel", "pascal", "scoped", "env", "quoted_code", "flag"}
    | {"line_ref", "code_file", "path"}
)
# Tags of verbs. In the sketch a verb also carries its position, because that makes it an order.
_VERBS = ("write", "read")
_SUBJECTS = frozenset(
    {"i", "we", "they", "he", "she", "it", "you", "who", "people", "one", "does", "do", "did", "to"}
)
_DETERMINERS = frozenset(
    {"a", "an", "the", "this", "that", "these", "those", "my", "your", "our", "his", "her", "its"}
    | {"their", "some", "any", "no", "each", "every", "which", "what", "new", "last"}
)
# Words between the start of a clause and its verb that do not change the verb's role.
_SKIPPED = COURTESIES - STOPS | {"then", "now", "so", "just", "also"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedQuery:
    """`core` is the sketch without greetings, thanks and polite words at its start and end.

    `tags` are all tags that the lexicon gives to words of the query.
    """

    tokens: list[Token]
    sketch: list[str]
    tags: set[str]
    core: list[str]

    @property
    def is_wrapped(self) -> bool:
        """Whether a greeting or a polite word comes before the core."""
        return self.core[:1] != self.sketch[:1]

    @property
    def size(self) -> int:
        """The number of symbols in the core, punctuation not counted."""
        return sum(1 for symbol in self.core if symbol not in STOPS)


@lru_cache(maxsize=1024)
def parse_query(query: str) -> ParsedQuery:
    """Nobody changes the result: a question is parsed once, for its terms and for its type."""
    return parse_tokens(tokenize(clean(query)))


def parse_tokens(tokens: list[Token]) -> ParsedQuery:
    sketcher = _Sketcher(lexicon())
    sketcher.draw(tokens)
    sketch = sketcher.symbols
    return ParsedQuery(tokens=tokens, sketch=sketch, tags=sketcher.tags, core=_core(sketch))


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
        # Function words stay in the sketch as they are. Phrases such as `could you` are made of
        # them too, but they introduce an order and are tagged.
        if "you_do" not in tags and self._known.function_words.issuperset(words):
            self.tags.update(tag for tag in tags if tag[0] != "=")
            self.symbols.extend(words)
        elif tags:
            self._add_tagged(tags)
        else:
            self.symbols.append(_shape(token.raw, self.symbols))

    def _add_tagged(self, tags: tuple[str, ...]) -> None:
        """A tag `=where` marks a word of another language that means `where`."""
        self.tags.update(tag for tag in tags if tag[0] != "=")
        english = next((tag[1:] for tag in tags if tag[0] == "="), "")
        self.symbols.append(english or self._placed(tags))

    def _placed(self, tags: tuple[str, ...]) -> str:
        verb = next((verb for verb in _VERBS if verb in tags), "")
        if not verb:
            return tags[0]
        position = _verb_position(self.symbols)
        # After an article, a word that can be both is a noun: `the record`.
        nouns = [tag for tag in tags if tag not in _VERBS and tag != "noun_too"]
        if nouns and position == "noun":
            return nouns[0]
        # `~` marks a weaker verb: the word is often a noun.
        return f"{verb}~:{position}" if "noun_too" in tags else f"{verb}:{position}"

    def _is_technology(self, token: Token) -> bool:
        return "tech" in self._known.of(token.raw.strip("`").lower())


def _verb_position(before: list[str]) -> str:
    """The position of a verb in its clause: at the start it is an order, after a subject not."""
    for symbol in reversed(before):
        if symbol in STOPS:
            return "start"
        if symbol in _SKIPPED:
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
    """The symbol of an unknown word. A capital at the start of a sentence does not make a name."""
    if raw.isupper() and len(raw) > 1:
        return "ACR"
    if raw[0].isupper() and before and before[-1] not in STOPS:
        return "Name"
    return "w"


def _core(sketch: list[str]) -> list[str]:
    start, end = 0, len(sketch)
    while start < end and sketch[start] in COURTESIES:
        start += 1
    while end > start and sketch[end - 1] in COURTESIES:
        end -= 1
    return sketch[start:end]
