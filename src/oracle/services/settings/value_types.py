"""The kinds of values that settings have: what is valid, and what to write instead if not."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from typing import Final, Protocol, cast
from urllib.parse import urlsplit

from oracle.errors import did_you_mean
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.file_rules import TOOL_FOLDERS
from oracle.services.settings.server_address import host_of

LARGEST_NUMBER: Final = 1_000_000_000
LONGEST_TEXT: Final = 2_000
LONGEST_LIST: Final = 200
OFF: Final = "off"

_VARIABLE: Final = lazy_pattern(r"[A-Z_][A-Z0-9_]{0,99}")
_PASSWORD: Final = lazy_pattern(r"(://[^:/@\s]*:)\S+(?=@)|([?&]password=)[^&\s\"']+")
_KEY: Final = lazy_pattern(
    r"(?i)([?&][\w.-]{0,30}(?:password|passwd|pwd|key|token|secret|auth|sig|signature)=)[^&#\s\"']+"
)
_MASK: Final = "••••"


class Unfit(Exception):  # noqa: N818 - it says what a value is
    """A value that is not valid. The message follows the setting's name and has no secrets."""


class Kind(Protocol):
    @property
    def words(self) -> str:
        """What to write, as in "write a whole number from 1"."""
        ...

    def check(self, raw: object) -> object:
        """Convert a value from TOML or the command line; raises `Unfit`."""
        ...

    def from_text(self, text: str) -> object:
        """Convert a variable's text for `check`; return it unchanged if that is not possible."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    words: str = "a text"

    def check(self, raw: object) -> object:
        if not isinstance(raw, str):
            raise Unfit(f"is {quoted(raw)}; write {self.words} in quotes")
        if not raw.strip() or not raw.isprintable() or len(raw) > LONGEST_TEXT:
            raise Unfit(f"is {quoted(raw)}; write {self.words}")
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
            raise Unfit(f"is {quoted(raw)}; write {self.words}{_unquoted(raw, self)}")
        if not self.least <= raw <= LARGEST_NUMBER:
            raise Unfit(f"is {quoted(raw)}; write {self.words} to {LARGEST_NUMBER:,}")
        return raw

    def from_text(self, text: str) -> object:
        try:
            return int(text)
        except ValueError:
            return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """Any number from `least` to `most`. With `can_be_off`, the text "off" means None."""

    least: int = 0
    most: int = LARGEST_NUMBER
    can_be_off: bool = False

    @property
    def words(self) -> str:
        most = "" if self.most == LARGEST_NUMBER else f" to {self.most}"
        off = f', or "{OFF}"' if self.can_be_off else ""
        return f"a number from {self.least}{most}{off}"

    def check(self, raw: object) -> object:
        if self.can_be_off and raw == OFF:
            return None
        if isinstance(raw, bool) or not isinstance(raw, int | float):
            raise Unfit(f"is {quoted(raw)}; write {self.words}{_unquoted(raw, self)}")
        if not (math.isfinite(raw) and self.least <= raw <= self.most):
            bounds = f"a number from {self.least:g} to {self.most:,}"
            off = f', or "{OFF}"' if self.can_be_off else ""
            raise Unfit(f"is {quoted(raw)}; write {bounds}{off}")
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
            raise Unfit(f"is {quoted(raw)}; use {self.words}{hint}")
        return raw

    def from_text(self, text: str) -> object:
        return text


@dataclass(frozen=True, kw_only=True, slots=True)
class OnOff:
    """true or false, or one of the texts in `also`."""

    also: Sequence[str] = ()

    @property
    def words(self) -> str:
        return " or ".join(("true", "false", *self.also))

    def check(self, raw: object) -> object:
        if not isinstance(raw, bool) and raw not in self.also:
            raise Unfit(f"is {quoted(raw)}; use {self.words}")
        return raw

    def from_text(self, text: str) -> object:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextList:
    """A list of texts. In a variable they are separated by commas."""

    words: str = "a list of texts"

    def check(self, raw: object) -> object:
        given = list(cast("list[object]", raw)) if isinstance(raw, list | tuple) else []
        is_list = isinstance(raw, list | tuple) and len(given) <= LONGEST_LIST
        if not is_list or not all(
            isinstance(item, str) and item.strip() and item.isprintable() for item in given
        ):
            raise Unfit(f"is {quoted(cast('object', raw))}; write {self.words}")
        return tuple(cast("list[str]", given))

    def from_text(self, text: str) -> object:
        """Also a list as it is written in the file."""
        text = text.strip()
        if text.startswith("[") and text.endswith("]"):
            try:
                return tomllib.loads(f"x = {text}")["x"]
            except ValueError:
                return text
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return text if any(map(_is_piece, parts)) else parts


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder(Text):
    """With `inside`, it must stay below the project's root, and outside of folders that tools
    make, which are never read.
    """

    words: str = "a folder"
    inside: bool = False

    def check(self, raw: object) -> object:
        folder = str(Text.check(self, raw))
        if not self.inside:
            return folder
        parts = [part for part in re.split(r"[/\\]", folder) if part not in ("", ".")]
        is_outside = folder.startswith(("/", "~", "\\")) or ".." in parts
        if is_outside or not parts or not TOOL_FOLDERS.isdisjoint(parts):
            raise Unfit(f"is {quoted(raw)}; write a folder below the project's root, such as notes")
        # One spelling for all: the index and the tools compare the folder with paths of files.
        return "/".join(parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address(Text):
    words: str = "an address that starts with http:// or https://"

    def check(self, raw: object) -> object:
        address = str(Text.check(self, raw))
        try:
            parts = urlsplit(address)
        except ValueError:
            raise Unfit(f"is {quoted(masked(address))}; write {self.words}") from None
        if parts.username is not None:
            raise Unfit(
                "contains a name or password; write the address alone, and put keys in variables"
            )
        if parts.query or parts.fragment or address.endswith(("?", "#")):
            # Not repeated: it may be a key. And the paths of requests are added at the end.
            raise Unfit(
                "has a ? or a # in it; write the address without what follows, and store a key "
                "with `oracle keys set` or in a variable"
            )
        if host_of(address) is None:
            if not parts.netloc.isascii():
                raise Unfit("has letters in its host's name that are not ASCII; write it as xn--…")
            raise Unfit(f"is {quoted(masked(address))}; write {self.words}")
        return address


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseAddress(Text):
    """Only a text here. The storage checks whether it can use the address."""

    words: str = "sqlite:///path/to/file.db or postgresql://user@host/name"


@dataclass(frozen=True, kw_only=True, slots=True)
class VariableName(Text):
    """The name of a variable that has a key.

    A wrong value may be the key itself, so the message does not repeat it. Lower case is refused
    for the same reason: keys usually have it, names of variables do not.
    """

    words: str = "the name of an environment variable in capitals, such as OPENAI_API_KEY"

    def check(self, raw: object) -> object:
        if not isinstance(raw, str) or not _VARIABLE.fullmatch(raw):
            raise Unfit(
                f"is not the name of a variable; write {self.words}. Put the key itself into "
                "that variable, never into a file that others can read"
            )
        return raw


def _is_piece(item: str) -> bool:
    """Whether it is from a list in the file's form that was cut at its commas: `[` in a pattern is
    closed, and names have no quotes around them.
    """
    return item.startswith(("'", '"')) or (item.startswith("[") and "]" not in item)


def masked(text: str) -> str:
    """A value without the password or the key in it."""
    from oracle.services.project.redaction import redact

    without = _PASSWORD.sub(lambda found: f"{found[1] or found[2]}{_MASK}", text)
    return redact(_KEY.sub(rf"\1{_MASK}", without))


def holds_password(text: str) -> bool:
    return _PASSWORD.search(text) is not None


def quoted(raw: object) -> str:
    """A value as messages show it: on one line, and short."""
    if isinstance(raw, dict):
        return "a section"
    if isinstance(raw, list):
        return "a list"
    if isinstance(raw, bool):
        return str(raw).lower()
    text = ascii(raw) if isinstance(raw, int | float) else repr(str(raw))
    return text if len(text) <= 60 else f"{text[:59]}…"


def _unquoted(raw: object, kind: WholeNumber | Number) -> str:
    """Only a quoted value of a file is a text that would be a number. Flags have no quotes."""
    is_number = isinstance(raw, str) and not isinstance(kind.from_text(raw), str)
    return ", without quotes" if is_number else ""
