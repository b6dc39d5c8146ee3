"""Tells a real password or key from a placeholder, a name or a sentence."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from oracle.patterns import lazy_pattern

# What documentation and code write in place of a key, also inside the shape of a real one. Words
# such as `test` are missing on purpose: test keys of a provider are keys.
_STAND_IN: Final = lazy_pattern(
    r"""(?xi) example | dummy | placeholder | change[-_]?(?:me|this) | replace[-_]?(?:me|this|with)
    | redacted | x{5,} | \*{3} | \.{3} | … | not[-_]?a?[-_]?real | [-_]fake | fake[-_]
    | (?:^|[-_])(?:your|my|some|insert|goes)[-_](?!\w*\d\d$)
    | your(?:api|key|secret|token|access|pass)
    | [-_]here$
    | <(?![a-z]{1,9}\d{1,4}[a-z]{1,9}\d{0,4}>$)[^>]*>?
    | \$[{(] | \{\{ | \}\} | %[(s] | \#\{ | ^\$(?![a-z]+\d\d+$)[A-Za-z_]\w*$ | ^%\w+%$
    """
)
# One of these is in every text that the pattern above finds. Looking for them is far cheaper.
_STAND_IN_MARKS: Final = (
    "example", "dummy", "placeholder", "change", "replace", "redacted", "xxxxx", "***", "...", "…",
    "real", "fake", "your", "my", "some", "insert", "goes", "here", "<", "$", "{", "}}", "%",
)  # fmt: skip
# In an assignment any of these may be the value, because the name promises more than it holds.
_PLACEHOLDER: Final = lazy_pattern(
    r"""(?xi)
    (?!\d+$).*(?:1234567890|abcdefghij|••|\*\*\*).*
    | (?:.*[-_])?(?:sample|insert|replace|todo|fixme|fake|test|mock|stub|here|none)(?:[-_].*)?
    | (?:the|my|your|some|an?|this|new|old|super|very|bad|good|wrong|(?:in)?valid|top|test|user|db)?
      (?:[a-z]{2,20}[-_]){0,4}
      [-_]?(?:api|access|secret|client|auth|bearer|refresh|private)?[-_]?
      (?:pass(?:word|wd|phrase|code)?|pwd|secret|token|key|credential|api_?key|jwt)s?
      [-_]?(?:\d|one|two|a|b)?
    | [{\[].*[}\]]
    | <(?![a-z]{1,9}\d{1,4}[a-z]{1,9}\d{0,4}>$).*>
    | (?:str|string|text|bytes|bool|boolean|int|integer|float|number|object|null|none|nil|true|false
        |undefined|any|optional|required|hidden|masked|encrypted|hashed|plain|env|enabled|disabled
        |user(?:name)?|admin|root|foo|bar|baz|qux|abc|basic|bearer|oauth2?|default|empty|missing
        |generated?|unknown|self|this|input|value|values|data|file|vault|prompt|interactive|yes|no
        |on|off|auto|manual|always|never|varchar|char|uuid|email|date|time|url|uri|list|dict|map
        |[iuf]\d{1,3}|u?int\d{1,3}|float\d\d|sha\d{1,3}|utf-?\d{1,2}|md5|bcrypt|argon2\w*|hs256|rs256
        |(?:cram|digest|hmac)-?(?:md5|sha\d*)|scram-sha-\d+(?:-plus)?|xoauth2?|gssapi|ntlm|external
        |user(?:name)?:pass(?:word|wd)?|(?:\\x[0-9a-f]{2})+
        |x{3,}|\#+|\*+|-+|_+|\.+|\?+)
    """
)
# Words that sentences have and that lists of words for passphrases leave out.
_SENTENCE_WORDS: Final = """
a about account after again all allow allowed already also always an and any are argument as at be
been before but by can cannot change character characters confirm could current default did digits
do does doesn don each either empty encrypt encrypted enter error expired failed field file for
forgot from get given has have hide if in incorrect input instead invalid is it its keep key least
length letters login long longer match may minimum missing must my name need needs never new no not
of old on once one only optional or other our password passwords please prompt provide provided read
repeat require required requires reset retype same secret see set should show sign than that the
their then this to token too twice type typed unless until up use used user username using valid
value was were when which will with without wrong you your
"""
_SENTENCE: Final = frozenset(_SENTENCE_WORDS.split())
_UUID: Final = lazy_pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX: Final = lazy_pattern(r"[0-9a-fA-F]{16,}")
_NAME_WITH_NUMBER: Final = lazy_pattern(r"[A-Za-z][a-z_.A-Z-]*\d{0,4}")
_CAMEL_PARTS: Final = lazy_pattern(r"[A-Z]*[a-z]*")
_CODE: Final = lazy_pattern(r"[()\[\]{}<>]|::|->|\?\.|[A-Za-z_]\w*\.[A-Za-z_]\w*\.?|\$\w|%\(|#\{")
_SHORT_WORDS: Final = 3.2
"""The longest average part of a random text. Words in a name are longer."""


# For each letter those that often follow it in words and names of programs. Of the pairs in a
# random text about half are missing here, of those in a name one in thirty.
_FOLLOWERS: Final = """
aabcdfgiklmnprstuvwxy babcdeijlorsuy cacdefhiklmorstuy dabcdefgilmnoprstuy
eabcdefghilmnopqrstuvwxy facdefilorstuy gaeghilmnorsu haeiorstuy iabcdefglmnoprstvxz jaeou kaeils
lacdefilmoprstuvy mabeilmopsuy nabcdefgiklmnoprstuvy oabcdfgiklmnoprstuvwx pacdehiloprstuy qlu
rabcdefgiklmnoprstuvy sacdefhiklmnopqstuwy tabcdefhilmnoprstuwy uabcdefgilmnprst vaeio waehinors
xceipt yaeilmnopst zaei
"""
_PAIRS: Final = frozenset(row[0] + after for row in _FOLLOWERS.split() for after in row[1:])
_CHUNK: Final = lazy_pattern(r"[A-Za-z0-9]+")
_PART: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STRANGE: Final = 0.4
"""How many breaks and rare pairs a generated text has for each of its characters, at least."""

_JUDGED: Final = 300
"""How much of a value is looked at. A longer one does not become a placeholder at its end."""
_SAMPLE: Final = 100
"""How much of it shows whether a generator made it."""


def is_stand_in(value: str) -> bool:
    """Whether the shape of a key holds an example instead of one."""
    value = value[:_JUDGED]
    if len(set(value[-16:])) <= 2:
        return True
    folded = value.lower()
    has_mark = any(mark in folded for mark in _STAND_IN_MARKS)
    return has_mark and _STAND_IN.search(value) is not None


def is_real(value: str) -> bool:
    value = value[:_JUDGED]
    is_placeholder = is_stand_in(value) or _PLACEHOLDER.fullmatch(value[:_SAMPLE])
    return not is_placeholder and len(set(value)) > 1


def is_random(value: str) -> bool:
    """Whether a text looks made by a generator: letters and digits mixed, or cases mixed."""
    value = value[:_SAMPLE]
    if _UUID.fullmatch(value):
        return True
    joined = "".join(filter(str.isalnum, value))
    if len(joined) < 8:
        return False
    digits = sum(map(str.isdigit, joined))
    if not digits:
        return _is_random_case(joined) and not re.search(r"[ ._-]", value)
    if digits == len(joined):
        return False
    if _HEX.fullmatch(joined):
        return digits >= 3
    return not _NAME_WITH_NUMBER.fullmatch(value) and (
        _changes(joined) >= 4 or _is_random_case(joined)
    )


def is_generated(value: str) -> bool:
    """Whether ten or more letters and digits make no words, also without mixed cases and digits."""
    size = letters = 0
    strange = 0.0
    for chunk in _CHUNK.findall(value[:_SAMPLE]):
        in_letters, strangeness = _strangeness(chunk)
        size += len(chunk)
        letters += in_letters
        strange += strangeness
    return size >= 10 and letters >= 5 and strange / size >= _STRANGE


@lru_cache(maxsize=4096)
def _strangeness(chunk: str) -> tuple[int, float]:
    """How many letters a chunk has, and how many breaks and rare pairs.

    Cached, because a text that repeats a name is judged again at each of them.
    """
    parts = _PART.findall(chunk)
    words = [part.lower() for part in parts if part.isalpha()]
    rare = sum(a + b not in _PAIRS for word in words for a, b in pairwise(word))
    return sum(map(len, words)), len(parts) - 1 + 1.5 * rare


def is_real_key(value: str) -> bool:
    return _is_real_key(value[:_JUDGED])


# Cached for the same reason: where names follow each other, the same values come again and again.
@lru_cache(maxsize=2048)
def _is_real_key(value: str) -> bool:
    return is_real(value) and (is_random(value) or is_generated(value))


def is_real_password(value: str) -> bool:
    """Any text that is not a placeholder, a sentence or a word for people to read."""
    value = value[:_JUDGED]
    if not is_real(value) or any(map(str.isspace, value)):
        return False
    # A capital at the start, then small letters: a label or its translation.
    return not (value.isalpha() and value[:1].isupper() and value[1:].islower())


def is_passphrase(value: str) -> bool:
    """Several words in quotes that are not a sentence: `correct horse battery staple`."""
    words = value[:_JUDGED].split(" ")
    if not 3 <= len(words) <= 12 or not is_real(value) or not _SENTENCE.isdisjoint(words):
        return False
    return all(re.fullmatch(r"[a-z]{3,12}\d{0,4}", word) for word in words)


def is_bare_password(value: str) -> bool:
    """Without quotes, letters alone are more likely a name, and dots and brackets are code."""
    value = value[:_JUDGED]
    return (
        len(value) >= 4
        and is_real_password(value)
        and not re.fullmatch(r"[A-Za-z_.|-]+|[~.]?/.*|[!&*|@$%].*", value)
        and not _CODE.search(value)
    )


def is_bare_key(value: str) -> bool:
    return is_real_key(value) and not _CODE.search(value[:_JUDGED])


def _is_random_case(joined: str) -> bool:
    """At least 20 letters whose upper and lower case change more often than in `camelCase`."""
    if len(joined) < 20 or joined.islower() or joined.isupper():
        return False
    parts = [part for part in _CAMEL_PARTS.findall(joined) if part]
    return len(joined) / max(1, len(parts)) < _SHORT_WORDS


def _changes(joined: str) -> int:
    """How often letters and digits follow each other."""
    kinds = [letter.isdigit() for letter in joined]
    return sum(a != b for a, b in pairwise(kinds))
