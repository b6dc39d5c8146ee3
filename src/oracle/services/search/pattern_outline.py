"""The outline of a file in a language without a grammar, by the words it defines with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.search.symbols import Outline, Symbol, nested

_LONGEST: Final = 5_000
"""Lines in which the end of a definition is looked for."""
_INDENT: Final = r"^(?P<indent>[ \t]{0,40})"
_NAME: Final = r"(?P<name>[A-Za-z_$][\w$]*)"
_JVM: Final = (
    rf"{_INDENT}(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override"
    rf"|data|suspend|virtual|async|case|lazy|inline|mutating)[ \t]+){{0,6}}"
    rf"(?P<kind>class|interface|enum|record|object|fun|func|struct|protocol|trait|def)"
    rf"[ \t]+{_NAME}"
)
_SCRIPT: Final = (
    rf"{_INDENT}(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?"
    rf"(?:async[ \t]+)?(?P<kind>function\*?|class|interface|type|enum|const|let|var)[ \t]+{_NAME}"
)
_C_TYPE: Final = (
    rf"{_INDENT}(?:typedef[ \t]+)?(?P<kind>struct|enum|union|@interface|@implementation|@protocol"
    rf"|#define)[ \t]+{_NAME}"
)
_C_FUNCTION: Final = (
    r"^(?P<indent>)(?P<kind>(?:[A-Za-z_][\w:<>]{0,60}[ \t*&]{1,4}){1,5}?)"
    rf"{_NAME}[ \t]?\([^;\n]{{0,300}}$"
)
_SQL: Final = (
    rf"(?i){_INDENT}create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:unique[ \t]+)?"
    rf"(?P<kind>table|view|index|function|procedure|trigger|type)[ \t]+(?:if[ \t]+not[ \t]+exists"
    rf"[ \t]+)?[\"`]?{_NAME}"
)
PATTERNS: Final = {
    language: tuple(lazy_pattern(pattern, re.MULTILINE) for pattern in patterns)
    for language, patterns in {
        "jvm": (_JVM,),
        "script": (_SCRIPT,),
        "objective_c": (_C_TYPE, _C_FUNCTION),
        "sql": (_SQL,),
    }.items()
}
_KEYWORDS_LISTED: Final = "if else for while return switch case new throw delete do try"
_KEYWORDS: Final = frozenset(_KEYWORDS_LISTED.split())
_KINDS: Final = {
    word: kind
    for kind, words in {
        "class": "class object struct record @interface @implementation",
        "type": "interface enum trait protocol type union table view index @protocol",
        "constant": "const let var #define",
    }.items()
    for word in words.split()
}


def pattern_outline(text: str, language: str) -> Outline:
    lines = text.split("\n")
    found = [symbol for pattern in PATTERNS[language] for symbol in _matches(pattern, text, lines)]
    return Outline(symbols=nested(found))


def _matches(pattern: re.Pattern[str], text: str, lines: Sequence[str]) -> Iterator[Symbol]:
    line, counted = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", counted, match.start("name"))
        counted = match.start("name")
        word = match["kind"].strip().lower()
        # `return f(` and `else if (` look like a type and the name of a function.
        if match["name"] not in _KEYWORDS and word.split(" ")[0] not in _KEYWORDS:
            kind = _KINDS.get(word.rstrip("*"), "function")
            end = line if kind == "constant" else _last_line(lines, line)
            yield Symbol(name=match["name"], kind=kind, start=line, end=end)


def _last_line(lines: Sequence[str], start: int) -> int:
    """Where its braces are closed. A definition without braces has a few lines."""
    depth, was_open = 0, False
    limit = min(len(lines), start + _LONGEST - 1)
    for number in range(start - 1, limit):
        line = lines[number]
        depth += line.count("{") - line.count("}")
        was_open = was_open or "{" in line
        if was_open and depth <= 0:
            return number + 1
        if not was_open and (line.rstrip().endswith(";") or number >= start + 4):
            return number + 1
    return limit
