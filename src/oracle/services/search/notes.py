"""What a note says about itself: title, headings, links and decisions."""

from __future__ import annotations

import re
from dataclasses import replace

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.code_blocks import fence_at
from oracle.services.search.symbols import Symbol

_HEADING = lazy_pattern(r"^(#{1,6})[ \t]+(.{1,300}?)[ \t]*#*$", re.MULTILINE)
_UNDERLINED = lazy_pattern(r"^([^\s=\-~^#*.].{0,200})\n([=\-~^#*])\2{2,200}$", re.MULTILINE)
_FRONT = lazy_pattern(r"\A---[ \t]*\n(.{0,8000}?)^---[ \t]*$", re.MULTILINE | re.DOTALL)
_WIKILINK = lazy_pattern(r"\[\[([^\[\]\n|#]{1,200})(?:[#|][^\[\]\n]{0,200})?\]\]")
# Words that speak of a decision; where decisions are kept; and how one is withdrawn (`_OVER`).
_DECISION = lazy_pattern(
    r"\b(?:decision|decided|adr|we (?:will|chose|choose|agreed)|agreed|status: *accepted)\b", re.I
)
_KEPT_AS_DECISION = lazy_pattern(r"(?:^|/)(?:adrs?|decisions?)(?:/|[-_.\d])", re.IGNORECASE)
_HEADED_DECISION = lazy_pattern(r"^#{1,4}[ \t]+decisions?\b", re.IGNORECASE | re.MULTILINE)
_OVER = lazy_pattern(
    r"\bstatus\W{1,12}(?:superseded|deprecated|rejected|replaced|withdrawn)\b", re.IGNORECASE
)
_MOST = 200
"""Links of one note: a bound for lists that are data rather than notes."""


@dataclass(frozen=True, kw_only=True)
class Note:
    title: str
    headings: list[Symbol]
    links: list[str]
    decides: int


def read_note(text: str, path: str) -> Note:
    """`decides` is 2 for the record of a valid decision, and 1 for a note that mentions one."""
    front = _FRONT.match(text)
    headings = _headings(_without_fences(text))
    name = path.rpartition("/")[2].rpartition(".")[0]
    title = next((each.name for each in headings), name) if headings else name
    matter = front[1] if front else ""
    stated = re.search(r"^title:[ \t]*[\"']?(.{1,200}?)[\"']?[ \t]*$", matter, re.MULTILINE)
    return Note(
        title=stated[1] if stated else title,
        headings=headings,
        links=list(dict.fromkeys(_WIKILINK.findall(text)))[:_MOST],
        decides=_decides(path, text),
    )


def _decides(path: str, text: str) -> int:
    # A record of a decision has its status and its heading near the top.
    head = text[:2_000]
    if _OVER.search(head):
        return 0
    if _KEPT_AS_DECISION.search(path) or _HEADED_DECISION.search(head):
        return 2
    return int(bool(_DECISION.search(head)))


def _without_fences(text: str) -> str:
    """Without the text of code blocks: a comment in one is not a heading. The lines stay.

    A block that is never closed is text. Whether it is closed is known without looking ahead,
    because looking ahead from each of many open ones would take quadratic time.
    """
    lines = text.split("\n")
    # An indented fence is a part of a list or of a quotation, and closes nothing outside of it.
    starts = (at for at, line in enumerate(lines) if line.startswith(("```", "~~~")))
    fences = {at: marks for at in starts if (marks := fence_at(lines, at))}
    longest_below: dict[int, int] = {}
    longest = {"`": 0, "~": 0}
    for at, fence in reversed(fences.items()):
        longest_below[at] = longest[fence[0]]
        longest[fence[0]] = max(longest[fence[0]], len(fence))
    opened = ""
    for at, line in enumerate(lines):
        fence = fences.get(at, "")
        if opened:
            lines[at] = ""
            opened = "" if fence.startswith(opened) else opened
        elif fence and longest_below[at] >= len(fence):
            opened, lines[at] = fence, ""
        else:
            lines[at] = line
    return "\n".join(lines)


def _headings(text: str) -> list[Symbol]:
    # Underlined headings (reStructuredText) count only if there are none with `#`.
    found = [(match.start(), len(match[1]), match[2]) for match in _HEADING.finditer(text)] or [
        (match.start(), "=-~^#*".index(match[2]) + 1, match[1])
        for match in _UNDERLINED.finditer(text)
    ]
    symbols: list[Symbol] = []
    around: list[tuple[int, str]] = []
    last, line = 0, 1
    lines = text.count("\n") + 1
    for position, (start, depth, title) in enumerate(found):
        line += text.count("\n", last, start)
        last = start
        while around and around[-1][0] >= depth:
            around.pop()
        symbols.append(
            Symbol(
                name=title.strip(),
                kind="heading",
                start=line,
                end=lines,
                parent=" / ".join(name for _, name in around) or None,
            )
        )
        if position:
            # A heading's text ends where the next heading begins, whatever its depth.
            symbols[-2] = replace(symbols[-2], end=max(line - 1, symbols[-2].start))
        around.append((depth, title.strip()))
    return symbols
