"""Turns HTML into readable text. Headings, lists, code and links stay; scripts and styles do not.

It is a scanner of our own because pages may be hostile: its time is linear in the size of the page.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Final
from urllib.parse import urljoin

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern

# A tag with attributes that may be quoted. Every repetition is limited and possessive (`}+`), so
# the expression never backtracks. What is longer is read as text.
_TAG: Final = lazy_pattern(
    r"<(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9:-]{0,30}+)"
    r"(?P<attributes>[^<>\"']{0,2000}+"
    r"(?:(?:\"[^\"]{0,4000}+\"|'[^']{0,4000}+')[^<>\"']{0,2000}+){0,24}+)>"
)
_HREF: Final = lazy_pattern(r"\bhref\s{0,5}=\s{0,5}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.I)
_LONGEST_LINK: Final = 500
_UNREAD: Final = """
script style noscript template svg iframe object canvas select button
"""
_HIDDEN: Final = frozenset(_UNREAD.split())
_OWN_LINES: Final = """
p div section article main header footer nav aside ul ol table tr blockquote figure dl dt dd
form fieldset hr address details summary
"""
_BLOCKS: Final = frozenset(_OWN_LINES.split())
_HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}


# No character has a number of so many digits, and Python refuses to read thousands of them.
_TOO_LONG: Final = lazy_pattern(r"&#(?:[0-9]{9,}|[xX][0-9a-fA-F]{9,});?")


def decoded(text: str) -> str:
    """Text with its character references replaced."""
    return unescape(_TOO_LONG.sub("\ufffd", text)) if "&" in text else text


@dataclass(frozen=True, kw_only=True)
class Readable:
    title: str
    text: str


def readable(html: str, url: str) -> Readable:
    """`url` is the base of relative links."""
    page = _Page(url)
    place = 0
    while (opening := html.find("<", place)) != -1:
        page.text(html[place:opening])
        place = page.markup(html, opening)
    page.text(html[place:])
    return Readable(title=page.title, text=page.result())


class _Page:
    """The text so far, and the state of the scanner.

    `_link` is the target of the open link: None outside of a link, empty if it is not shown.
    `_missing` are end marks that the rest of the page does not contain.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._pieces: list[str] = []
        self._title: list[str] = []
        self._in_title = False
        self._in_code = 0
        self._link: str | None = None
        self._missing: set[str] = set()

    @property
    def title(self) -> str:
        return " ".join("".join(self._title).split())

    def result(self) -> str:
        text = "".join(self._pieces)
        lines = [line.rstrip() for line in text.split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")

    def text(self, piece: str) -> None:
        if not piece:
            return
        plain = decoded(piece)
        if self._in_title:
            self._title.append(plain)
            return
        if not self._in_code:
            plain = re.sub(r"\s+", " ", plain)
            if plain[0] == " " and self._ends_with(" ", "\n"):
                plain = plain[1:]
        self._add(plain)

    def markup(self, html: str, place: int) -> int:
        """Read what begins with `<` at `place`; return where the text after it begins."""
        if html.startswith("<!--", place):
            return self._after(html, "-->", place + 4)
        if html.startswith(("<!", "<?"), place):
            return self._after(html, ">", place + 2)
        tag = _TAG.match(html, place)
        if tag is None:
            # A plain `<`, as in `1 < 2`.
            (self._title if self._in_title else self._pieces).append("<")
            return place + 1
        name = tag["name"].lower()
        if name in _HIDDEN and not tag["end"]:
            if tag["attributes"].endswith("/"):
                return tag.end()
            return self._after_closing(html, name, tag.end())
        self._tag(name, tag["attributes"], is_end=bool(tag["end"]))
        return tag.end()

    def _after(self, html: str, mark: str, place: int) -> int:
        """The place after the next `mark`, or `place` if there is none.

        A missing mark is remembered. Searching for it again and again would take quadratic time.
        """
        if mark in self._missing:
            return place
        found = html.find(mark, place)
        if found == -1:
            self._missing.add(mark)
            return place
        return found + len(mark)

    def _after_closing(self, html: str, name: str, place: int) -> int:
        if name in self._missing:
            return place
        closing = re.compile(rf"</{name}\b[^>]{{0,200}}>", re.I).search(html, place)
        if closing is None:
            self._missing.add(name)
            return place
        return closing.end()

    def _tag(self, name: str, attributes: str, *, is_end: bool) -> None:
        if name == "title":
            self._in_title = not is_end and not self._title
        elif name in ("pre", "code"):
            self._code(name, is_end)
        elif name == "a":
            self._anchor(attributes, is_end)
        elif name in _HEADINGS:
            self._break(2)
            self._add("" if is_end else _HEADINGS[name])
        elif name == "li":
            self._break(1)
            self._add("" if is_end else "- ")
        elif name == "br":
            self._pieces.append("\n")
        elif name in ("td", "th"):
            self._add(" | " if is_end else "")
        elif name in _BLOCKS:
            self._break(1 if name == "tr" else 2)

    def _code(self, name: str, is_end: bool) -> None:
        if name == "pre":
            self._break(1)
            self._pieces.append("```\n")
            self._in_code = 0 if is_end else 1
        elif not self._in_code:
            self._pieces.append("`")

    def _anchor(self, attributes: str, is_end: bool) -> None:
        if is_end or self._link is not None:
            if self._link:
                self._pieces.append(f" ({self._link})")
            self._link = None
        if not is_end:
            found = _HREF.search(attributes)
            target = decoded(next(filter(None, found.groups()), "")) if found else ""
            self._link = self._absolute(target)

    def _absolute(self, target: str) -> str:
        """The full address of a link to another page; empty for any other link."""
        if not target or target.startswith("#") or len(target) > _LONGEST_LINK:
            return ""
        try:
            link = urljoin(self._url, target.strip())
        except ValueError:
            return ""
        return link if link.startswith(("http://", "https://")) else ""

    def _add(self, piece: str) -> None:
        """No empty piece is kept: `_ends_with` must find the last one in one step."""
        if piece:
            self._pieces.append(piece)

    def _break(self, lines: int) -> None:
        if self._pieces and not self._ends_with("\n" * lines):
            self._pieces.append("\n" * lines)

    def _ends_with(self, *endings: str) -> bool:
        return bool(self._pieces) and self._pieces[-1].endswith(endings)
