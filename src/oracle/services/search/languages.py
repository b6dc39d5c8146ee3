"""Which language a file is written in, and the grammars of those that are parsed."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language, Query

_SUFFIXES: Final = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .jsx .mjs .cjs",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .ipp",
    "ruby": ".rb .rake .gemspec",
    "php": ".php",
    "c_sharp": ".cs",
    "bash": ".sh .bash .zsh",
    "lua": ".lua",
}
_WITHOUT_GRAMMAR: Final = {
    "jvm": ".kt .kts .scala .swift .groovy",
    "script": ".vue .svelte",
    "objective_c": ".m",
    "sql": ".sql",
}
"""Languages, or families of them, whose definitions are recognised by patterns."""
_BY_SUFFIX: Final = {
    suffix: language
    for table in (_SUFFIXES, _WITHOUT_GRAMMAR)
    for language, listed in table.items()
    for suffix in listed.split()
}
_BY_NAME: Final = {"rakefile": "ruby", "gemfile": "ruby", ".bashrc": "bash"}
_GRAMMARS: Final = {
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "php": ("tree_sitter_php", "language_php"),
}
PARSED: Final = tuple(_SUFFIXES)
_OUTLINED_BY: Final = {
    "javascript": ("ecmascript", "javascript"),
    "typescript": ("ecmascript", "typescript"),
    "tsx": ("ecmascript", "typescript"),
}
_ONLY_IN_CPP: Final = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w[^;()\n]*$|namespace\b[^;()\n]*$|template[ \t]*<"
    rb"|using[ \t]+\w+|(?:public|private|protected)[ \t]*:)",
    re.MULTILINE,
)
NOTE_SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".org"})


def language_of(path: str) -> str | None:
    """The language of code whose definitions are recognised, `markdown` for notes, or None."""
    name = path.rpartition("/")[2]
    _, suffix = parts_of_name(name)
    if suffix in NOTE_SUFFIXES:
        return "markdown"
    return _BY_SUFFIX.get(suffix) or _BY_NAME.get(name.lower())


def parts_of_name(name: str) -> tuple[str, str]:
    """The stem of a file's name, and its suffix in lower case, as `pathlib` divides them."""
    stem, dot, suffix = name.rpartition(".")
    # `.bashrc` and `name.` have no suffix.
    return (stem, f".{suffix.lower()}") if stem and dot and suffix else (name, "")


def dialect_of(language: str, source: bytes) -> str:
    """Headers of C and C++ both end in `.h`. Words that only C++ has show which one it is."""
    return "cpp" if language == "c" and _ONLY_IN_CPP.search(source) else language


@cache
def grammar(language: str) -> Language:
    from tree_sitter import Language

    module, function = _GRAMMARS.get(language, (f"tree_sitter_{language}", "language"))
    pointer: object = getattr(import_module(module), function)()
    return Language(pointer)


@cache
def outline_query(language: str) -> Query:
    """Finds definitions and comments in a file of this language."""
    from tree_sitter import Query

    folder = files("oracle.services.search").joinpath("outlines")
    names = _OUTLINED_BY.get(language, (language,))
    source = "".join(folder.joinpath(f"{name}.scm").read_text("utf-8") for name in names)
    return Query(grammar(language), source)
