"""Where names are defined, read off the text of a file by the words that languages define with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_INDENT: Final = r"^(?P<indent>[ \t]{0,40})"
_NAME: Final = r"(?P<name>[A-Za-z_$][\w$]*)"
_PYTHON: Final = rf"{_INDENT}(?:async[ \t]+)?(?P<kind>def|class)[ \t]+{_NAME}"
_SCRIPT: Final = (
    rf"{_INDENT}(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?"
    rf"(?:async[ \t]+)?(?P<kind>function\*?|class|interface|type|enum|const|let|var)[ \t]+{_NAME}"
)
_RUST: Final = (
    rf"{_INDENT}(?:pub(?:\([^)\n]{{0,40}}\))?[ \t]+)?(?:async[ \t]+)?(?:unsafe[ \t]+)?"
    rf"(?P<kind>fn|struct|enum|trait|type|mod|const|static|macro_rules!)[ \t]+{_NAME}"
)
_GO: Final = rf"{_INDENT}(?P<kind>func|type|var|const)[ \t]+(?:\([^)\n]{{0,100}}\)[ \t]*)?{_NAME}"
_JVM: Final = (
    rf"{_INDENT}(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override"
    rf"|data|suspend|virtual|async)[ \t]+){{0,6}}(?P<kind>class|interface|enum|record|object|fun"
    rf"|struct|trait|def)[ \t]+{_NAME}"
)
_C_TYPE: Final = (
    rf"{_INDENT}(?:typedef[ \t]+)?(?P<kind>struct|enum|union|class|namespace|#define)[ \t]+{_NAME}"
)
_C_FUNCTION: Final = (
    r"^(?P<indent>)(?P<kind>(?:[A-Za-z_][\w:<>]{0,60}[ \t*&]{1,4}){1,5}?)"
    rf"{_NAME}[ \t]?\([^;\n]{{0,300}}$"
)
_RUBY: Final = rf"{_INDENT}(?P<kind>def|class|module)[ \t]+(?:self\.)?{_NAME}"
_LUA: Final = rf"{_INDENT}(?:local[ \t]+)?(?P<kind>function)[ \t]+(?:[\w.]{{1,60}}[.:])?{_NAME}"
_SHELL: Final = rf"{_INDENT}(?P<kind>function[ \t]+)?{_NAME}[ \t]{{0,4}}\(\)"
_SQL: Final = (
    rf"(?i){_INDENT}create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:unique[ \t]+)?"
    rf"(?P<kind>table|view|index|function|procedure|trigger|type)[ \t]+(?:if[ \t]+not[ \t]+exists"
    rf"[ \t]+)?[\"`]?{_NAME}"
)
_SETTING: Final = rf"^(?P<indent>)(?P<kind>){_NAME}[ \t]{{0,4}}(?::[^=\n]{{1,80}})?=(?!=)"

_LANGUAGES: Final = (
    (("py", "pyi"), (_PYTHON, _SETTING)),
    (("js", "jsx", "ts", "tsx", "mjs", "cjs", "vue", "svelte"), (_SCRIPT,)),
    (("rs",), (_RUST,)),
    (("go",), (_GO,)),
    (("java", "kt", "kts", "scala", "cs", "swift", "php", "groovy"), (_JVM,)),
    (("c", "h", "cc", "cpp", "hpp", "cxx", "hh", "m"), (_C_TYPE, _C_FUNCTION)),
    (("rb",), (_RUBY,)),
    (("lua",), (_LUA,)),
    (("sh", "bash", "zsh"), (_SHELL,)),
    (("sql",), (_SQL,)),
)
_PATTERNS: Final = {
    ending: [re.compile(pattern, re.M) for pattern in patterns]
    for endings, patterns in _LANGUAGES
    for ending in endings
}
_BY_INDENT: Final = frozenset({"py", "pyi"})
_NO_NAMES: Final = """
if else for while return switch case new throw delete do try
"""
_KEYWORDS: Final = frozenset(_NO_NAMES.split())


@dataclass(frozen=True, kw_only=True)
class Definition:
    """`depth` is how far the line is indented; what stands at 0 is the face of the file."""

    name: str
    kind: str
    line: int
    depth: int


def definitions_in(text: str, path: str) -> Iterator[Definition]:
    """In the order of the lines for each way of defining; nothing for an unknown language."""
    for pattern in _PATTERNS.get(ending_of(path), ()):
        line, counted = 1, 0
        for found in pattern.finditer(text):
            line += text.count("\n", counted, found.start("name"))
            counted = found.start("name")
            kind = (found["kind"] or "").strip()
            if found["name"] not in _KEYWORDS and kind.split(" ")[0] not in _KEYWORDS:
                yield Definition(
                    name=found["name"], kind=kind, line=line, depth=len(found["indent"])
                )


def end_of(definition: Definition, lines: list[str], path: str, *, longest: int) -> int:
    """The last line of a definition, or of the `longest` that one wants to see of it."""
    limit = min(len(lines), definition.line + longest - 1)
    if not definition.kind:
        return definition.line
    find = _end_by_indent if ending_of(path) in _BY_INDENT else _end_by_braces
    return find(lines, definition, limit)


def _end_by_indent(lines: list[str], definition: Definition, limit: int) -> int:
    last = definition.line
    for number in range(definition.line, limit):
        line = lines[number]
        if not line.strip():
            continue
        is_out = len(line) - len(line.lstrip()) <= definition.depth
        if is_out and not line.lstrip().startswith((")", "]", "}")):
            break
        last = number + 1
    return last


def _end_by_braces(lines: list[str], definition: Definition, limit: int) -> int:
    """Where the braces that it opens are closed; a few lines where it opens none."""
    depth, was_open = 0, False
    for number in range(definition.line - 1, limit):
        line = lines[number]
        depth += line.count("{") - line.count("}")
        was_open = was_open or "{" in line
        if was_open and depth <= 0:
            return number + 1
        if not was_open and (line.rstrip().endswith(";") or number >= definition.line + 4):
            return number + 1
    return limit


def ending_of(path: str) -> str:
    return path.rpartition(".")[2].lower()
