"""Where a signal element ends, found while its text is still arriving."""

from __future__ import annotations

import re

ELEMENT_LIMIT = 4096
"""Characters from `<signal` to the end of `</signal>`; a longer element counts as never closed."""

NEVER_CLOSED = -1

_TAG = re.compile(r"[<>\"']")
_QUOTED = {'"': re.compile(r'["<]'), "'": re.compile(r"['<]")}
_CONTENT = re.compile(r"</signal[\s>]|<signal\s|<!\[CDATA\[|<!--", re.I | re.A)
_PLAIN_CONTENT = re.compile(r"</signal[\s>]|<signal\s", re.I | re.A)
_CLOSING_TAG = re.compile(r"[^ \t\r\n]")
_SECTIONS = {"<![CDATA[": re.compile(r"]]>"), "<!--": re.compile(r"-->")}
_LONGEST_MARK = len("</signal>")


class ElementEnd:
    """Looks for the end of one element in a text that grows, reading no character twice.

    A second `<signal …` inside means that the first was never closed. A CDATA section or a comment
    may hold any markup, unless it is itself never closed: then it is text.
    """

    def __init__(self, *, quiet_until: int = 0) -> None:
        """`quiet_until`: up to here an earlier search found nothing that ends an element."""
        self._seek = _TAG
        self._at: int = len("<signal")
        self._content = _CONTENT
        self._section_at: int = 0
        self._quiet_until = quiet_until

    @property
    def quiet_until(self) -> int:
        return self._at if self._seek is _CONTENT and not self._section_at else 0

    def find(self, text: str, *, complete: bool) -> int | None:
        """Where the element that begins `text` ends, NEVER_CLOSED, or None while that is open."""
        while True:
            mark = self._seek.search(text, self._at)
            if mark is not None:
                self._at = mark.end()
                end = self._pass(mark)
                if end is not None:
                    return end
            elif complete and self._seek in _SECTIONS.values():
                self._at = self._section_at
                self._seek = self._content = _PLAIN_CONTENT
            else:
                self._at = max(self._at, len(text) - _LONGEST_MARK + 1)
                return NEVER_CLOSED if complete else None

    def _pass(self, mark: re.Match[str]) -> int | None:
        if self._seek is _TAG:
            return self._pass_in_tag(mark)
        if self._seek is self._content:
            return self._pass_in_content(mark)
        if self._seek is _CLOSING_TAG and mark[0] == ">":
            return mark.end()
        if self._seek in _QUOTED.values() and mark[0] != "<":
            self._seek = _TAG
        elif self._seek in _SECTIONS.values():
            self._seek = self._content
        else:
            self._enter_content(mark.start())
        return None

    def _pass_in_tag(self, mark: re.Match[str]) -> int | None:
        if mark[0] in _QUOTED:
            self._seek = _QUOTED[mark[0]]
            return None
        if mark[0] == ">" and mark.string[mark.start() - 1] == "/":
            return mark.end()
        self._enter_content(mark.start())
        return None

    def _pass_in_content(self, mark: re.Match[str]) -> int | None:
        if mark[0].startswith("</"):
            self._at = mark.end() - 1
            self._seek = _CLOSING_TAG
        elif mark[0].startswith("<!"):
            self._section_at = mark.end()
            self._seek = _SECTIONS[mark[0].upper()]
        else:
            self._at = mark.start()
            return NEVER_CLOSED
        return None

    def _enter_content(self, at: int) -> None:
        self._seek = self._content
        self._at = max(at, self._quiet_until)
