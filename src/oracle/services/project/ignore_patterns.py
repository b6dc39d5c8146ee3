"""Patterns in the form of `.gitignore`, matched without trying the same place again and again.

A regular expression with many stars takes exponential time on a name that almost matches, and
nothing can interrupt it. So each star takes the first place where what follows it matches, and
never tries a later one. Between two stars that place is always the best one: it leaves the most
for the rest of the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import AnyStr, Final, cast

from pathspec import GitIgnoreSpec, RegexPattern
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from oracle.patterns import lazy_pattern

_STAR: Final = "[^/]*"
_FOLDERS_FIRST: Final = "(?:.+/)?"
_FOLDERS_INSIDE: Final = "(?:/.+)?"
_AT_SLASH: Final = "(?=/)"
# The parts of an expression that pathspec writes. A bracket is one part, whatever is in it.
_PART: Final = lazy_pattern(
    r"\\.|\(\?:\.\+/\)\?|\(\?:/\.\+\)\?|\[\^/\]\*|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL
)


def ignore_spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """Raises `ValueError` for a line that is not a pattern."""
    try:
        # The other backends do not know expressions like ours.
        return GitIgnoreSpec.from_lines(lines, _BoundedPattern, backend="simple")
    except (re.error, RecursionError, OverflowError) as problem:
        raise ValueError(f"not a pattern: {problem}") from None


def any_of(spec: GitIgnoreSpec) -> re.Pattern[str]:
    """One expression that finds something if any of the patterns does."""
    # pathspec marks in a group whether a folder matched. A name can be given to one group only.
    sources = (
        each.regex.pattern.replace("(?P<ps_d>", "(?:")
        for each in spec.patterns
        if isinstance(each, RegexPattern) and each.regex is not None
    )
    return re.compile("|".join(f"(?:{source})" for source in sources) or r"(?!)")


class _BoundedPattern(GitIgnoreSpecPattern):
    @classmethod
    def pattern_to_regex(cls, pattern: AnyStr) -> tuple[AnyStr | None, bool | None]:
        regex, include = super().pattern_to_regex(pattern)
        if isinstance(regex, str):
            return cast("AnyStr", bounded(regex)), include
        return regex, include


def bounded(regex: str) -> str:
    """The same expression, in which no wildcard gives back what it took, except for the last `**`.

    That one may give back: it takes the deepest folder, as git does, and one wildcard alone cannot
    take exponential time.
    """
    sections: list[list[str]] = [[]]
    for part in _PART.findall(regex):
        if part in (_FOLDERS_FIRST, _FOLDERS_INSIDE):
            sections.append([])
        sections[-1].append(_in_folder(part) if part.startswith("[") and part != _STAR else part)
    first, *rest = sections
    if not rest:
        return _once(first)
    # A section ends where a folder ends: the next one begins with its slash.
    head = _once(first if rest[0][0] == _FOLDERS_FIRST else [*first, _AT_SLASH])
    middle = [f"(?>{_lazy(part)}{_once([*parts, _AT_SLASH])})" for part, *parts in rest[:-1]]
    (part, *parts) = rest[-1]
    return "".join([head, *middle, part, _once(parts)])


def _in_folder(bracket: str) -> str:
    """A bracket that matches no slash, as in git. Python warns of these signs inside of one."""
    return "(?!/)[" + re.sub(r"[\[&|~]", r"\\\g<0>", bracket[1:])


def _lazy(folders: str) -> str:
    return "(?:.+?/)??" if folders == _FOLDERS_FIRST else "(?:/.+?)??"


def _once(parts: list[str]) -> str:
    """The parts, in which each star takes the first place where what follows it matches."""
    pieces: list[str] = [""]
    for part in parts:
        if part != _STAR:
            pieces[-1] += part
        elif len(pieces) == 1 or pieces[-1]:
            pieces.append("")
    return pieces[0] + "".join(f"(?>{_STAR}?{piece})" for piece in pieces[1:])
