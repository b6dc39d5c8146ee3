"""Private keys that take several lines: PEM, OpenSSH, PGP, SSH2, PuTTY.

A key may have any prefix on its lines, as in a diff, a quotation, a comment or a numbered listing,
and it may have lost its beginning, its end, or both. Every part of the text is looked at a fixed
number of times, so time is linear.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.project.secret_words import long_words

_EDGE: Final = lazy_pattern(
    r"-{4,5} ?(?P<kind>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|PuTTY-User-Key-File-\d: |Private-MAC: [0-9a-f]{20,}"
)
# A line of a key: nothing but base64 after a prefix, or a header line such as `Proc-Type: 4`. The
# prefix is that of a diff, a quotation, a comment, a listing with numbers, or a string in code.
_LINE: Final = lazy_pattern(
    r"[ \t]{0,40}(?:\d{1,7}[:|]?[ \t]{1,8})?[-+> \t#*/|\"'`]{0,20}"
    r"(?:(?P<key>[A-Za-z0-9+/=]{8,}+)|[A-Z][A-Za-z-]{1,30}: [^\n]{0,200})?"
    r"(?:\\[nr]|[\s\"'`+,;.\\)]){0,12}"
)
# In a string of code or JSON the lines are divided by the two characters `\\n`.
_ESCAPED: Final = lazy_pattern(r"(?=\\[nr])(?:\\[nr]|[A-Za-z0-9+/=]){40,}+")
# Lines of a key as its tools break them: 64 characters in PEM, 70 in OpenSSH.
_BODY_LINE: Final = lazy_pattern(
    r"^[ \t]{0,40}(?:\d{1,7}[:|]?[ \t]{1,8})?[-+> \t#*/|\"'`]{0,20}"
    r"(?P<key>[A-Za-z0-9+/]{64}(?:[A-Za-z0-9+/]{6})?)(?![A-Za-z0-9+/=])"
    r"(?:\\[nr]|[ \t\r\"'`+,;.\\)]){0,12}$",
    re.M,
)
_LONG_WORD: Final = lazy_pattern(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{64}")
# Certificates, public keys and signatures are in lines of the same length.
_PUBLIC_EDGE: Final = lazy_pattern(r"-{4,5} ?(?:BEGIN|END) (?![A-Z0-9 ]{0,40}PRIVATE KEY)[A-Z]")
_FEWEST_LINES: Final = 3
_LEAST: Final = 32
"""Characters of base64 that make a key. Documentation writes `…` or a word in its place."""
NAME: Final = "private key"


def key_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where private keys are, in order and without overlap, with their BEGIN and END."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key-File" not in text:
        return
    edges = list(_EDGE.finditer(text))
    done = 0
    for number, edge in enumerate(edges):
        if edge.start() < done:
            continue
        following = edges[number + 1] if number + 1 < len(edges) else None
        span = _key_from(text, edge, following) if _begins(edge) else _key_before(text, edge, done)
        if span is not None:
            yield span
            done = span[1]


def body_spans(text: str) -> Iterator[tuple[int, int]]:
    """Lines that look like the middle of a private key, such as a part of a diff has them.

    They have no BEGIN and no END near them, so they may be of another kind of base64.
    """
    if not any(len(word) >= 64 and _LONG_WORD.search(word) for word in long_words(text)):
        return
    run: list[re.Match[str]] = []
    for line in _BODY_LINE.finditer(text):
        if run and line.start() != run[-1].end() + 1:
            yield from _body(text, run)
            run = []
        if _is_mixed(line["key"]):
            run.append(line)
    yield from _body(text, run)


def _body(text: str, run: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    if len(run) < _FEWEST_LINES:
        return
    start, end = run[0].start("key"), run[-1].end("key")
    above = text[max(0, text.rfind("\n", 0, max(0, run[0].start() - 1))) : run[0].start()]
    stop = text.find("\n", run[-1].end() + 1)
    last = text[run[-1].end() + 1 : stop if stop >= 0 else len(text)]
    # The last line of a body is shorter, and the END comes after it.
    after = text[run[-1].end() : run[-1].end() + 200]
    if _PUBLIC_EDGE.search(above[-200:]) or _PUBLIC_EDGE.search(after):
        return
    if _is_public(run[0]["key"]):
        return
    found = _LINE.fullmatch(last)
    if found and found["key"] and len(found["key"]) <= len(run[-1]["key"]):
        end = run[-1].end() + 1 + found.end("key")
    yield start, end


def _is_public(key: str) -> bool:
    """Whether it begins as a certificate, a request for one or a signed message does.

    After the length of the whole comes another long structure or the kind of the content. In a
    private key, its version comes there.
    """
    head = base64.b64decode(key[:8])
    return head[:2] == b"\x30\x82" and (head[4:6] == b"\x30\x82" or head[4:5] == b"\x06")


def _is_mixed(key: str) -> bool:
    """Hashes are in lines of 64 characters too, but of one case."""
    return any(map(str.isupper, key)) and any(map(str.islower, key)) and any(map(str.isdigit, key))


def _begins(edge: re.Match[str]) -> bool:
    return edge["kind"] == "BEGIN" or edge[0].startswith("PuTTY")


def _key_from(
    text: str, edge: re.Match[str], following: re.Match[str] | None
) -> tuple[int, int] | None:
    if following is not None and not _begins(following):
        inside = text[edge.end() : following.start()]
        return (edge.start(), following.end()) if _is_key(inside) else None
    # Its end is missing: as far as the lines look like a key.
    limit = len(text) if following is None else following.start()
    escaped = _ESCAPED.match(text, edge.end(), limit)
    end = escaped.end() if escaped else _last_line(text, edge.end(), limit)
    # The line break after the key belongs to what follows it.
    while end > edge.end() and text[end - 1].isspace():
        end -= 1
    return (edge.start(), end) if _is_key(text[edge.end() : end]) else None


def _last_line(text: str, start: int, limit: int) -> int:
    """The end of the last line, from `start` on, that can be part of a key."""
    end = start
    place = text.find("\n", start, limit)
    if place < 0 or text[start:place].strip(" \t\r\\n\"'`+,;"):
        return start
    while 0 <= place < limit:
        next_place = text.find("\n", place + 1, limit)
        stop = limit if next_place < 0 else next_place
        if not _LINE.fullmatch(text, place + 1, stop):
            break
        end, place = stop, next_place
    return end


def _key_before(text: str, edge: re.Match[str], done: int) -> tuple[int, int] | None:
    """A key whose beginning is missing: the lines above its end that look like one."""
    start = text.rfind("\n", done, edge.start()) + 1
    first = start
    while first > done:
        above = text.rfind("\n", done, first - 1) + 1 or done
        line = _LINE.fullmatch(text, above, first - 1)
        if line is None or not line["key"]:
            break
        first = above
    return (first, edge.end()) if _is_key(text[first:start]) else None


def _is_key(inside: str) -> bool:
    runs = re.findall(r"[A-Za-z0-9+/=]{8,}", inside.replace("\\n", " ").replace("\\r", " "))
    return sum(len(run) for run in runs if not run.isalpha() or len(run) > _LEAST) >= _LEAST
