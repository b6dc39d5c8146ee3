"""The kinds of values that a setting can have: what fits, and what to write where it does not."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

from oracle.errors import did_you_mean

LARGEST_NUMBER: Final = 1_000_000_000
LONGEST_TEXT: Final = 2_000
OFF: Final = "off"

_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_PASSWORD: Final = re.compile(r"(://[^:/@\s]*:)\S+(?=@)|([?&]password=)[^&\s]+")
_MASK: Final = "••••"


class Unfit(Exception):  # noqa: N818 - it says what a value is
    """The rest of the sentence that begins with the setting's name; never holds a secret."""


class Kind(Protocol):
    @property
    def words(self) -> str:
        """What to write, as in "write a whole number from 1"."""
        ...

    def check(self, raw: object) -> object:
        """The value, from what TOML or the command line gave; raises `Unfit`."""
        ...

    def from_text(self, text: str) -> object:
        """What `check` takes, from a variable's text; the text itself where it makes no sense."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    words: str = "a text"

    def check(self, raw: object) -> object:
        if not isinstance(raw, str):
            raise Unfit(f"is {told(raw)}; write {self.words} in quotes")
        if not raw.strip() or not raw.isprintable() or len(raw) > LONGEST_TEXT:
            raise Unfit(f"is {told(raw)}; write {self.words}")
        return raw

    def from_text(self, text: str) -> object:
        return text


@dataclass(frozen=True, kw_only=True, slots=True)
class WholeNumber:
    least: int = 0

    @property
    def words(self) -> str:
        return f"a whole number from {self.least}"

    def check(self, raw: object) -> object:
        if isinstance(raw, bool) or not isinstance(raw, int):
            raise Unfit(f"is {told(raw)}; write {self.words}{_unquoted(raw)}")
        if not self.least <= raw <= LARGEST_NUMBER:
            raise Unfit(f"is {told(raw)}; write {self.words} to {LARGEST_NUMBER:_}")
        return raw

    def from_text(self, text: str) -> object:
        try:
            return int(text)
        except ValueError:
            return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """Any number that is not negative; with `can_be_off`, the text "off" stands for None."""

    can_be_off: bool = False

    @property
    def words(self) -> str:
        return f'a number from 0, or "{OFF}"' if self.can_be_off else "a number from 0"

    def check(self, raw: object) -> object:
        if self.can_be_off and raw == OFF:
            return None
        if isinstance(raw, bool) or not isinstance(raw, int | float):
            raise Unfit(f"is {told(raw)}; write {self.words}{_unquoted(raw)}")
        if not (math.isfinite(raw) and 0 <= raw <= LARGEST_NUMBER):
            raise Unfit(f"is {told(raw)}; write {self.words}")
        return float(raw)

    def from_text(self, text: str) -> object:
        try:
            return float(text)
        except ValueError:
            return text


@dataclass(frozen=True, slots=True)
class Choice:
    options: Sequence[str]

    @property
    def words(self) -> str:
        return " or ".join(self.options)

    def check(self, raw: object) -> object:
        if raw not in self.options:
            hint = did_you_mean(raw, self.options) if isinstance(raw, str) else ""
            raise Unfit(f"is {told(raw)}; use {self.words}{hint}")
        return raw

    def from_text(self, text: str) -> object:
        return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder(Text):
    """With `inside`, one that stays below the project's root."""

    words: str = "a folder"
    inside: bool = False

    def check(self, raw: object) -> object:
        folder = str(Text.check(self, raw))
        if self.inside and (folder.startswith(("/", "~")) or ".." in re.split(r"[/\\]", folder)):
            raise Unfit(f"is {told(raw)}; write a folder below the project's root")
        return folder


@dataclass(frozen=True, kw_only=True, slots=True)
class Address(Text):
    words: str = "an address that begins with http:// or https://"

    def check(self, raw: object) -> object:
        address = str(Text.check(self, raw))
        try:
            parts = urlsplit(address)
            port = parts.port
        except ValueError:
            raise Unfit(f"is {told(masked(address))}; write {self.words}") from None
        if parts.username is not None:
            raise Unfit("holds a name or password; give the address alone, and keys in variables")
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise Unfit(f"is {told(masked(address))}; write {self.words}")
        return address


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseAddress(Text):
    """What is behind it is for the store to say."""

    words: str = "sqlite:///path/to/file.db or postgresql://user@host/name"


@dataclass(frozen=True, kw_only=True, slots=True)
class VariableName(Text):
    """The name of a variable that holds a key. What does not fit might be the key, so is not told.

    Lower case is refused for that reason: keys are full of it, names of variables are not.
    """

    words: str = "the name of a variable in capitals, such as OPENAI_API_KEY"

    def check(self, raw: object) -> object:
        if not isinstance(raw, str) or not _VARIABLE.fullmatch(raw):
            raise Unfit(
                f"is not the name of a variable; write {self.words}. The key itself belongs in "
                "that variable, never in a file that others read"
            )
        return raw


def masked(text: str) -> str:
    """An address without the password in it."""
    return _PASSWORD.sub(lambda found: f"{found[1] or found[2]}{_MASK}", text)


def holds_password(text: str) -> bool:
    return _PASSWORD.search(text) is not None


def told(raw: object) -> str:
    """A value as a message shows it: short, whatever was given."""
    if isinstance(raw, dict):
        return "a section"
    if isinstance(raw, list):
        return "a list"
    if isinstance(raw, bool):
        return str(raw).lower()
    text = ascii(raw) if isinstance(raw, int | float) else repr(str(raw))
    return text if len(text) <= 60 else f"{text[:59]}…"


def _unquoted(raw: object) -> str:
    return ", without quotes" if isinstance(raw, str) and re.fullmatch(r"[\d._]+", raw) else ""
