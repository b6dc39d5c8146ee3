"""Where exactly this text is: a message in quotes, or an option of a command line (`-L`).

A search by words does not find them: it knows neither signs nor single letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.overview.changelog import changelogs
from oracle.services.overview.places import Place, Reader

_BESIDE: Final = lazy_pattern(
    r"(?:^|/)(?:tests?|vendor|node_modules|third_party|dist|fixtures|completions?)/"
    r"|\.(?:lock|svg|map|min\.js|po|pot|json|csv)$|(?:^|/)(?:configure|_\w+|[\w-]+\.(?:fish|zsh))$"
)
# What may stand before an option where it is explained: marks of lists and tables, quotes, macros
# of manual pages, calls such as `option(`, and the short form of a long option.
_BEFORE: Final = (
    r"(?:\s|[-*+|`\"'({\[<]|\.[A-Z]{1,2}\b|\\f[A-Z]|\.\. option::"
    r"|(?:\w+\s*[.=]?\s*)?\b(?:add_argument|add_option|option|flag|arg)\s*\(|[\w$.]+\s*\+=\s*)*?"
    r"(?:[`\"'(]*-{1,2}[\w-]+[^\s,|/]*(?:[ =]\S+)?[,|/ ]+[`\"'\s]*)?"
)
_ANY: Final = lazy_pattern(rf"{_BEFORE}-{{1,2}}[A-Za-z]")
_MOST_FILES: Final = 2_000
_MOST_LINES: Final = 9
_IN_TEXT, _IN_CODE, _MENTIONED = 5.0, 4.5, 2.5
# `-L RATE, --rate-limit RATE`: both forms side by side are only where an option is explained.
_BOTH_FORMS: Final = lazy_pattern(
    r"(?<![\w-])-[A-Za-z0-9](?![\w-]).{0,30}?(?<![\w-])--[A-Za-z]|"
    r"(?<![\w-])--[A-Za-z].{0,40}?(?<![\w-])-[A-Za-z0-9](?![\w-])"
)
_WITH_BOTH_FORMS: Final = 1.0
# A macro that begins an entry of a list in a manual page.
_ENTRY: Final = lazy_pattern(r"\.(?:TP|IP|It|HP|PP|SS)\b")
_IN_SOURCE, _IN_DOCUMENTS, _IN_TESTS = 6.0, 4.0, 2.5
_BEFORE_TEXT, _AFTER_TEXT = 4, 3
_TEXT: Final = (".md", ".mkd", ".rst", ".txt", ".adoc", ".markdown", ".in")


def places_of_option(reader: Reader, options: Sequence[str]) -> list[Place]:
    """Best first: where a text explains it, where code declares it, where it is only used."""
    logs = set(changelogs(reader))
    paths = [p for p in reader.paths if p not in logs and not _BESIDE.search(p)][:_MOST_FILES]
    found = [place for each in options for path in paths for place in _in_file(reader, path, each)]
    return sorted(found, key=lambda place: -place.worth)


def _in_file(reader: Reader, path: str, option: str) -> Iterator[Place]:
    lines = reader.read(path)
    if not any(option in _plain(line) for line in lines):
        return
    end = r"(?![\w-])"
    explained = re.compile(rf"{_BEFORE}{re.escape(option)}{end}")
    mentioned = re.compile(rf"(?<![\w-]){re.escape(option)}{end}")
    is_text = path.endswith(_TEXT) or "." not in path.rpartition("/")[2] or _is_manual(path)
    for number, line in enumerate(lines):
        # In a manual page a line is often only one bold word of a sentence.
        is_word = _is_manual(path) and not _ENTRY.match("".join(lines[max(0, number - 1) : number]))
        if explained.match(_plain(line)) and not is_word:
            worth = _IN_TEXT if is_text else _IN_CODE
            worth += _WITH_BOTH_FORMS if _BOTH_FORMS.search(_plain(line)) else 0.0
        elif mentioned.search(_plain(line)):
            worth = _MENTIONED
        else:
            continue
        yield Place(path=path, start=number + 1, end=_end_of(lines, number) + 1, worth=worth)


def _plain(line: str) -> str:
    """A manual page writes a dash as `\\-`."""
    return line.replace("\\-", "-")


def _is_manual(path: str) -> bool:
    return bool(re.search(r"\.[1-8](?:\.in)?$", path))


def _end_of(lines: Sequence[str], start: int) -> int:
    """Up to the next option or a blank line, if there is text between them."""
    end = start
    for number in range(start + 1, min(len(lines), start + _MOST_LINES)):
        if _ANY.match(_plain(lines[number])) or (not lines[number].strip() and end > start):
            break
        end = number if lines[number].strip() else end
    return end


def places_of_text(reader: Reader, text: str) -> list[Place]:
    """Where the project's own code has it, then where its documents do, then its tests."""
    logs = set(changelogs(reader))
    found: list[Place] = []
    for path in [p for p in reader.paths if p not in logs][:_MOST_FILES]:
        lines = reader.read(path)
        for number, line in enumerate(lines):
            if text in line:
                start, end = (
                    max(0, number - _BEFORE_TEXT),
                    min(len(lines) - 1, number + _AFTER_TEXT),
                )
                worth = _IN_TESTS if _BESIDE.search(path) else _worth_of_text(path)
                found.append(Place(path=path, start=start + 1, end=end + 1, worth=worth))
    return sorted(found, key=lambda place: -place.worth)


def _worth_of_text(path: str) -> float:
    return _IN_DOCUMENTS if path.endswith(_TEXT) else _IN_SOURCE
