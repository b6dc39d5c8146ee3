"""Replaces what looks like a secret in a text, before the text leaves the process.

Everything that a run sends to a model, records or shows passes `redact` on its way in: the question
and what comes with it (`bt/wrappers/recipe.py`), the results of tools (`services/tools/results.py`)
and the text of the index (`services/search/intake.py`). The number of lines stays the same, so that
citations of lines stay right. Time is linear in the input.
"""

from __future__ import annotations

import base64
import re
import traceback
from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, cast

from oracle.patterns import lazy_pattern
from oracle.services.project import private_keys
from oracle.services.project.hidden_characters import SPELLED, visible
from oracle.services.project.secret_assignments import NAMES, Found, assigned
from oracle.services.project.secret_contexts import CONTEXTS
from oracle.services.project.secret_pieces import pieced
from oracle.services.project.secret_shapes import VENDORS, Shape, Shapes
from oracle.services.project.secret_tables import COLUMNS, table_spans
from oracle.services.project.secret_words import SHORTEST, Harmless, Marks, folded_like

# A key of a known service has no blank and is at least this long.
_WORD: Final = lazy_pattern(rf"[\w+/=.:~$%@|!?&\\-]{{{SHORTEST},}}")
# Names of modules, settings and folders, which are most of the long words of a program.
_NAME: Final = lazy_pattern(r"(?:[a-z]{1,20}[_.:/=-]+)*+[a-z]{0,20}|[A-Z_]+")
# A letter, a digit or a sign of a key, as an address or a string of JSON can write it.
_ESCAPE: Final = lazy_pattern(
    r"(?:\\u00|\\x|%)((?:2[bdef]|3[0-9d]|[46][1-9a-f]|[57][0-9a]|5f|7e))|=(5F|2D)",
    re.I,
)
_ESCAPE_SIGNS: Final = ("\\", "%", "=")
# The values of a Secret of Kubernetes, which may look like anything.
_KUBERNETES: Final = lazy_pattern(
    r"(^(?:[-+ ] ?)?(?:stringData|data):[ \t]*\r?\n)((?:[-+ ]?[ \t]+\S[^\n]*\n?)++)", re.M
)
_ENTRY: Final = lazy_pattern(
    r"^([-+ \t]++(?:[^\s:]{1,250}:[ \t]+)?+)(?!\[redacted: |[|>][-+]?\s*$)\S[^\r\n]*", re.M
)

_OF_VENDORS: Final = Shapes(VENDORS)
_IN_CONTEXT: Final = Shapes(CONTEXTS)
_MARKS: Final = Marks((*_IN_CONTEXT.marks, *NAMES, *COLUMNS, *map(str.lower, SPELLED)))
# Words without keys of known services, and words that are not the code of a secret.
_without_key: Final = Harmless()
_not_encoded: Final = Harmless()

# A line with the sign of a diff or of a quotation.
_SIGNED: Final = lazy_pattern(r"^(?:[+>]|-(?![-\s]))", re.M)
_SIGN: Final = lazy_pattern(r"(?:> ?){1,3}|[-+ ]")
_SIGNED_LINES: Final = ("\n+", "\n>", "\n-")

# Base64 of readable text. Longer runs are looked at by their beginning only.
_BASE64: Final = lazy_pattern(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+={0,2}")
_HEX: Final = lazy_pattern(r"[0-9a-fA-F]{30,}")
_LONGEST_DECODED: Final = 16_384
_MARK: Final = lazy_pattern(r"\[redacted: ([^\]]+)\]")
_SHORT: Final = 24
_SHORTEST_KEY: Final = 16
_NO_TEXT: Final = frozenset({int, float, bool, type(None)})
_known: list[str] = []
_LONG: Final = 500
_MOST_CLEAN: Final = 64
_MOST_CHARACTERS: Final = 1_000_000
_LEAST_CLEAN: Final = 4
# Longer texts that have no secrets, because they came from here. The newest one is the last.
_clean: dict[str, None] = {}
_NO_WORD: Final = re.compile(rb"[^\x09\x0a\x0d\x20-\x7e]")


def redact(text: str) -> str:
    """The same lines without what looks like a secret. Calling it again changes nothing."""
    if _known:
        text = without_known(text)
    # Most texts come again: names of fields with every result, a question with every record of it.
    if len(text) <= _SHORT:
        return _redacted_short(text)
    return _redacted_line(text) if len(text) < _LONG else _redacted_long(text)


def without_known(text: str) -> str:
    """The same without the keys that are in use: for a text that holds no others."""
    for secret in _known:
        if secret in text:
            text = text.replace(secret, _mark("key", secret))
    return text


def hide(secret: str) -> None:
    """Redact this text from here on, whatever it looks like. For the keys that are in use.

    A short one is left alone: it may be a common word.
    """
    if len(secret) >= _SHORTEST_KEY and secret not in _known:
        _known.append(secret)


def _redacted(text: str) -> str:
    once = _without_behind_signs(_without_encoded(_without_plain(text)))
    seen = visible(once, _MARKS.of(once))
    if seen == once:
        return once
    # Hidden characters stay where they hide nothing: some scripts and emoji need them.
    again = _without_behind_signs(_without_encoded(_without_plain(seen)))
    return once if again == seen else again


_redacted_short = lru_cache(maxsize=1024)(_redacted)
# Apart from the short ones, so that results of tools do not push out the names of their fields.
_redacted_line = lru_cache(maxsize=1024)(_redacted)


def _redacted_long(text: str) -> str:
    """What is piped in, and the files that a search finds, pass here several times in a run. They
    are read once only.
    """
    global _clean
    if text in _clean:
        return text
    result = _redacted(text)
    kept = [*_clean, result][-_MOST_CLEAN:]
    while len(kept) > _LEAST_CLEAN and sum(map(len, kept)) > _MOST_CHARACTERS:
        del kept[0]
    # A new one, because other threads may be looking into the old one.
    _clean = dict.fromkeys(kept)
    return result


def redacted(value: Any) -> Any:
    """A JSON-shaped value with every text in it redacted, the names of its fields too."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        fields = cast("dict[Any, Any]", value)
        return {
            # Numbers are many and have no secrets: they need no call.
            redacted(key): field if type(field) in _NO_TEXT else redacted(field)
            for key, field in fields.items()
        }
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return [item if type(item) in _NO_TEXT else redacted(item) for item in items]
    return value


def redacted_traceback(problem: BaseException) -> str:
    """The traceback for a log. The message of a foreign exception may quote a key."""
    return redact("".join(traceback.format_exception(problem)))


def _without_plain(text: str) -> str:
    """Specific shapes come first: they name what was found. `[redacted: …]` is a placeholder for
    the general ones.
    """
    text = _without_private_keys(text)
    # The long words are a small part of a text, so most patterns never see the whole of it.
    if others := _without_key.others(text):
        found_all = (word for other in others for word in _words_of(other))
        words = [word for word in found_all if not _NAME.fullmatch(word)]
        joined = "\n".join(words)
        shapes = [each for each in _OF_VENDORS.possible_in(words) if each.pattern.search(joined)]
        may_escape = any(sign in joined for sign in _ESCAPE_SIGNS) and _ESCAPE.search(joined)
        escaped = [word for word in words if _ESCAPE.search(word)] if may_escape else []
        is_escaped = bool(escaped) and (shapes or any(_unescaped(word) != word for word in escaped))
        for shape in shapes:
            text = _without(shape, text)
        if is_escaped:
            text = _WORD.sub(lambda found: _unescaped(found[0]), text)
        if not shapes and not is_escaped:
            _without_key.add(others)
    text = _without_pieces(text)
    marks = _MARKS.of(text)
    for shape in _IN_CONTEXT.possible(folded_like(text), marks):
        text = _without(shape, text)
    if "kind: Secret" in text:
        text = _KUBERNETES.sub(_without_values, text)
    return _without_assigned(text, marks)


def _words_of(word: str) -> Iterable[str]:
    """Signs that are not ASCII may be in a word, but in no key."""
    return (word,) if word.isascii() else _WORD.findall(word)


def _without_behind_signs(text: str) -> str:
    """The lines of a diff or a quotation are also looked at without the sign in front of them.

    With it a line does not begin as its form does, and the next one does not go on with it.
    """
    # Most texts have no such line, and a plain look for one is far faster than the pattern.
    if not text.startswith(("+", ">", "-")) and not any(sign in text for sign in _SIGNED_LINES):
        return text
    if _SIGNED.search(text) is None:
        return text
    lines = text.split("\n")
    signs = [_SIGN.match(line) for line in lines]
    plain = [line[sign.end() :] if sign else line for line, sign in zip(lines, signs, strict=True)]
    bare = "\n".join(plain)
    clean = _without_encoded(_without_plain(bare))
    if clean == bare:
        return text
    return "\n".join(
        line if new == old else (sign[0] if sign else "") + new
        for line, sign, old, new in zip(lines, signs, plain, clean.split("\n"), strict=True)
    )


def _without_values(found: re.Match[str]) -> str:
    return found[1] + _ENTRY.sub(r"\1[redacted: secret]", found[2])


def _without_keys(word: str) -> str:
    for shape in _OF_VENDORS.possible(word.lower()):
        word = _without(shape, word)
    return word


def _without_pieces(text: str) -> str:
    pieces: list[str] = []
    done = 0
    for (start, end), word in pieced(text):
        found = _MARK.search(_without_keys(word))
        if found:
            pieces += (text[done:start], _mark(found[1], text[start:end]))
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _unescaped(word: str) -> str:
    """A key with escapes inside, such as `ghp%5F…`, is replaced and its word is unescaped."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1] or escape[2], 16)), word)
    clean = plain if plain == word else _without_keys(plain)
    return word if clean == plain else clean


def _without(shape: Shape, text: str) -> str:
    return shape.pattern.sub(lambda found: _replaced(found, shape), text)


def _without_assigned(text: str, marks: Container[str]) -> str:
    pieces: list[str] = []
    done = 0
    folded = folded_like(text)
    tables = (Found(*span, "password") for span in table_spans(text, folded, marks))
    found_all = (*assigned(text, folded, marks), *tables)
    for found in sorted(found_all, key=lambda found: (found.start, -found.end)):
        if found.start >= done:
            pieces += (text[done : found.start], _mark(found.name, text[found.start : found.end]))
            done = found.end
    return "".join((*pieces, text[done:])) if pieces else text


def _without_private_keys(text: str) -> str:
    return _without_spans(_without_spans(text, private_keys.key_spans), private_keys.body_spans)


def _without_spans(text: str, spans: Callable[[str], Iterator[tuple[int, int]]]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in spans(text):
        pieces += (text[done:start], _mark(private_keys.NAME, text[start:end]))
        done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _replaced(found: re.Match[str], shape: Shape) -> str:
    group = "secret" if "secret" in shape.pattern.groupindex else 0
    secret = found[group]
    if not shape.is_secret(secret):
        return found[0]
    start, end = (place - found.start() for place in found.span(group))
    return found[0][:start] + _mark(shape.name, secret) + found[0][end:]


def _mark(name: str, secret: str) -> str:
    return f"[redacted: {name}]" + "\n" * secret.count("\n")


def _without_encoded(text: str) -> str:
    others = _not_encoded.others(text)
    runs = _BASE64.finditer("\n".join(others))
    if all(_decoded_and_replaced(run) == run[0] for run in runs):
        _not_encoded.add(others)
        return text
    return _BASE64.sub(_decoded_and_replaced, text)


def _decoded_and_replaced(found: re.Match[str]) -> str:
    """What decodes to a text with a secret goes as a whole."""
    word = found[0][:_LONGEST_DECODED]
    kind, decode = ("hex", _from_hex) if _HEX.fullmatch(word) else ("base64", _decoded)
    plain = decode(word)
    if plain is None or _without_plain(plain) == plain:
        return found[0]
    return f"[redacted: {kind} of a secret]"


def _from_hex(encoded: str) -> str | None:
    data = bytes.fromhex(encoded[: len(encoded) // 2 * 2])
    return None if _NO_WORD.search(data) else data.decode("ascii")


def _decoded(encoded: str) -> str | None:
    standard = encoded.rstrip("=").replace("-", "+").replace("_", "/")
    # Most long words are names: their first bytes show that they are not encoded text.
    if _NO_WORD.search(base64.b64decode(standard[:24])):
        return None
    # One letter alone at the end is not a byte.
    standard = standard[:-1] if len(standard) % 4 == 1 else standard
    data = base64.b64decode(standard + "=" * (-len(standard) % 4))
    return None if _NO_WORD.search(data) else data.decode("ascii")
