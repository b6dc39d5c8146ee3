"""Secrets that are known by the name in front of them: `password = …`, `api_key: …`.

The forms are those of code, JSON, YAML, TOML, environment files, command lines, addresses and
connection strings. A name is found with `str.find`, and only there the rest is matched: this is
many times faster than one pattern over the whole text, and each name costs a bounded number of
steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from oracle.services.project.secret_values import (
    is_bare_key,
    is_bare_password,
    is_real,
    is_real_key,
    is_real_password,
)

# The beginning of a name, and the whole name from there on.
_PASSWORDS: Final = {
    "pass": re.compile(r"pass(?:words?|wd|phrase|code)?"),
    "pwd": re.compile(r"pwd"),
}
_KEYS: Final = {
    "secret": re.compile(r"secrets?"),
    "token": re.compile(r"tokens?"),
    "key": re.compile(r"keys?(?:_?base)?"),
    "cred": re.compile(r"cred(?:ential)?s?"),
    "auth": re.compile(r"auth(?:orization)?"),
    "bearer": re.compile(r"bearer"),
    "jwt": re.compile(r"jwt"),
    "dsn": re.compile(r"dsn"),
    "conn": re.compile(r"conn(?:ection)?[_-]?str(?:ing)?"),
}
# `key` alone is a key of a map. These words before it make it one that opens something.
_KEY_BEFORE: Final = re.compile(
    r"(?:api|app|access|secret|private|pre_?shared|sign(?:ing|ature)|encrypt(?:ion)?|account|auth"
    r"|master|licen[cs]e|service|consumer|client|storage|shared|session|webhook|deploy|admin|hmac"
    r"|aes|jwt|crypto|cipher|decryption|root|team|project|bot|ssh|gpg|subscription|function|host"
    r"|write|integration|ingest(?:ion)?|instrumentation|server)[_. -]?\Z"
)
_LONGEST_BEFORE: Final = 20
# What may follow a name: `PASSWORD_2`, `API_KEY_PROD`. Other words change its meaning.
_FOLLOWED: Final = re.compile(
    r"(?:[_.-]?\d{1,3}|[_.-](?:prod(?:uction)?|dev|stag(?:e|ing)|live|test|main|primary|secondary"
    r"|value|string|text|old|new|current|previous|default|b(?:ase)?64|raw|plain|clear|hex|db|api"
    r"|admin|root|user|ro|rw))?"
    r"(?P<close>\\?[\"'`])?[\])]{0,2}"
    r"(?P<sign>\s{0,20}(?:=>|:=|==|\?=|\|\|=?|->|=|:|,|\()\s{0,20}"
    r"|%3[ad]|[ \t]{1,3}(?:is[ \t]{1,3})?)"
    r"(?:[rbuf@$](?=\\?[\"'`]))?(?P<open>\\?(?:\"{3}|'{3}|[\"'`]))?"
)
# In a block below its name, as YAML has it: `password: |`.
_BLOCK: Final = re.compile(r"[|>][-+\d]{0,2}[ \t]{0,5}\r?\n[ \t]{1,40}")
_BARE: Final = re.compile(r"[^\s\"'`()\[\]{}<>,;&|]{4,300}+")
_REST_OF_BARE: Final = re.compile(r"[^\s\"'`()\[\]{}<>,;&|]*+")
_FLAG: Final = re.compile(r"(?<![\w-])--?[\w-]{0,30}\Z")
_VARIABLE: Final = re.compile(
    r"(?:^|[\s;&|\"'`+#>(,-])(?:export\s+|set\s+|env\s+|ENV\s+|ARG\s+)?[A-Z0-9_]{0,60}\Z"
)
_LONGEST_VALUE: Final = 2_000
_SHORTEST_PASSWORD: Final = 4
_SHORTEST_KEY: Final = 8


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text, from `start` up to `end`."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    text: str
    is_quoted: bool
    sign: str


def assigned(text: str) -> Iterator[Found]:
    """The secrets that follow their names. They may overlap and are in no order."""
    folded = folded_like(text)
    for marks, is_password in ((_PASSWORDS, True), (_KEYS, False)):
        for mark, whole in marks.items():
            start = folded.find(mark)
            while start >= 0:
                found = _at(text, folded, start, whole, is_password=is_password)
                start += len(mark)
                if found is not None:
                    yield found
                    # Names inside a secret are part of it. Looking at them costs linear time each.
                    start = max(start, found.end)
                start = folded.find(mark, start)


def folded_like(text: str) -> str:
    """In lower case, with every character in its place."""
    folded = text.lower()
    # A few letters become two in lower case.
    return folded if len(folded) == len(text) else "".join(c.lower()[:1] for c in text)


def _at(
    text: str, folded: str, start: int, whole: re.Pattern[str], *, is_password: bool
) -> Found | None:
    name = whole.match(folded, start)
    followed = name and _FOLLOWED.match(folded, name.end())
    if not name or not followed:
        return None
    before = text[max(0, start - _LONGEST_BEFORE * 4) : start].rpartition("\n")[2]
    if not _is_named(before, name[0], followed):
        return None
    value = _value(text, followed)
    if value is None:
        return None
    is_secret = _judge(before + text[start : name.end()], value, is_password=is_password)
    if not is_secret(value.text):
        return None
    end = value.start + len(value.text)
    rest = None if value.is_quoted else _REST_OF_BARE.match(text, end)
    return Found(value.start, rest.end() if rest else end, "password" if is_password else "secret")


def _is_named(before: str, name: str, followed: re.Match[str]) -> bool:
    """Whether the name is one, and the sign after it gives it a value."""
    sign = followed["sign"].strip()
    if name == "pass" and before[-1:].isalpha() and not before[-1:].isupper():
        return False
    is_flag = _FLAG.search(before) is not None
    if name.startswith("key") and not is_flag:
        folded = before[-_LONGEST_BEFORE:].lower()
        if not _KEY_BEFORE.search(folded) and not _VARIABLE.search(before + name.upper()):
            return False
    if not sign:
        return is_flag
    # `("password", "…")` gives a value; in `f(password, "…")` the two have nothing in common.
    return sign != "," or followed["close"] is not None


def _value(text: str, followed: re.Match[str]) -> _Value | None:
    start, quote, sign = followed.end(), followed["open"], followed["sign"]
    if quote:
        end = text.find(quote, start, start + _LONGEST_VALUE)
        is_one_line = end >= 0 and ("\n" not in text[start:end] or len(quote) >= 3)
        if is_one_line:
            return _Value(start, text[start:end], True, sign)
    elif block := _BLOCK.match(text, start):
        start = block.end()
    elif "\n" in sign:
        return None
    bare = _BARE.match(text, start)
    # What is called or subscripted is code.
    if bare is None or text[bare.end() : bare.end() + 1] in tuple("([{<"):
        return None
    return _Value(start, bare[0].rstrip(".:"), False, sign)


def _judge(name: str, value: _Value, *, is_password: bool) -> Callable[[str], bool]:
    is_tight = value.sign == "="
    if is_tight and not value.is_quoted and _VARIABLE.search(name) and name[-1:].isupper():
        is_named = (
            is_password
            or not name.endswith("KEY")
            or _KEY_BEFORE.search(name[-3 - _LONGEST_BEFORE : -3].lower())
        )
        return _is_variable if is_named else is_bare_key
    if is_password:
        if value.sign.strip(" \t") in ("", "%3d", "%3D") or _is_in_pairs(name, value):
            return _is_argument
        return _is_password if value.is_quoted else is_bare_password
    return _is_key if value.is_quoted else _is_bare_key


def _is_in_pairs(name: str, value: _Value) -> bool:
    """In a connection string or an address: `;Password=…`, `&password=…`."""
    return value.sign == "=" and re.search(r"[;&?][ ]?(?:user[ _]?)?\w{3,10}\Z", name) is not None


def _is_password(value: str) -> bool:
    return len(value) >= _SHORTEST_PASSWORD and is_real_password(value)


def _is_argument(value: str) -> bool:
    return is_real_password(value) and value[:1] not in "-/"


def _is_variable(value: str) -> bool:
    """The value of an environment variable: a word alone counts too."""
    return (
        len(value) >= 6 and is_real(value) and not re.fullmatch(r"[A-Z_]+|\d{1,5}|[~.]?/.*", value)
    )


def _is_key(value: str) -> bool:
    return len(value) >= _SHORTEST_KEY and " " not in value and is_real_key(value)


def _is_bare_key(value: str) -> bool:
    return len(value) >= _SHORTEST_KEY and is_bare_key(value)
