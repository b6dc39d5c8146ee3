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

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from oracle.patterns import lazy_pattern

_STAR: Final = "[^/]*"
_FOLDERS_FIRST: Final = "(?:.+/)?"
_ANYWHERE: Final = f"^{_FOLDERS_FIRST}"
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


class AnyPattern:
    """Finds out that none of the patterns matches a path, which is the most frequent case.

    A pattern without a slash matches one part of a path, wherever it is. So each part is looked at
    once, and all paths with that part share the result.
    """

    def __init__(self, spec: GitIgnoreSpec) -> None:
        for_parts: list[str] = []
        for_paths: list[str] = []
        for pattern in spec.patterns:
            # A comment has no expression.
            regex = cast("re.Pattern[str] | None", pattern.regex)
            if regex is None:
                continue
            # pathspec marks in a group whether a folder matched. Only one group can have its name.
            source = regex.pattern.replace("(?P<ps_d>", "(?:")
            is_part = "/" not in cast("str", pattern.pattern).rstrip("/ ")
            if is_part and source.startswith(_ANYWHERE):
                for_parts.append(source.removeprefix(_ANYWHERE))
            else:
                for_paths.append(source)
        self._part = re.compile("|".join(for_parts) or "(?!)")
        self._path = re.compile("|".join(for_paths) or "(?!)")
        self._parts: dict[str, bool] = {}

    def may_match(self, path: str) -> bool:
        """False if no pattern matches; the path of a folder ends with a slash."""
        return any(map(self._may_be, path.split("/"))) or self._path.search(path) is not None

    def _may_be(self, part: str) -> bool:
        if part not in self._parts:
            # As a folder, which patterns for files match too.
            self._parts[part] = self._part.match(f"{part}/") is not None
        return self._parts[part]


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
