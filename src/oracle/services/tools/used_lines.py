"""Choose which lines that use a name are shown, and report on the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.models.source import MoreUses, Source
from oracle.patterns import lazy_pattern
from oracle.services.tools.answer import one_line, quotation

MOST_SHOWN: Final = 100
_LONGEST_SHOWN: Final = 15_000
_NAMED: Final = 20
_FIRST_OF_A_FILE: Final = 2
_IMPORT: Final = lazy_pattern(r"\s*(?:from\s+\S+\s+import|import\s|#\s*include|use\s)")


def spread(found: Sequence[Source], used: int = 0) -> list[Source]:
    """As many lines as fit: first up to two of each file, then more. An import is the last choice
    of its file. `used` characters of the room are already taken.
    """
    ranked: list[tuple[int, int]] = []
    seen: dict[str, int] = {}
    for number in sorted(range(len(found)), key=lambda n: bool(_IMPORT.match(found[n]["text"]))):
        path = found[number].get("path", "")
        seen[path] = seen.get(path, 0) + 1
        ranked.append((seen[path], number))
    room = _LONGEST_SHOWN - used
    chosen: list[int] = []
    for _, number in sorted(ranked, key=lambda t: (max(t[0], _FIRST_OF_A_FILE), t[0], t[1])):
        room -= len(quotation(found[number])) + 2
        if room < 0 or len(chosen) == MOST_SHOWN:
            break
        chosen.append(number)
    return [found[number] for number in sorted(chosen)]


def more_uses(name: str, found: Sequence[Source], shown: Sequence[Source]) -> MoreUses | None:
    """What is not shown, as data; None if everything is shown."""
    if len(shown) == len(found):
        return None
    files = list(dict.fromkeys(source.get("path", "") for source in found))
    known = {source.get("path", "") for source in shown}
    others = [one_line(path) for path in files if path not in known]
    return MoreUses(
        name=name,
        lines=len(found),
        files=len(files),
        shown=len(shown),
        others=others[:_NAMED],
        more_files=max(0, len(others) - _NAMED),
    )


def summary_of_uses(name: str, found: Sequence[Source], left: MoreUses | None) -> str:
    """How many lines in how many files use the name, and the files without a shown line."""
    if not found:
        return f"Nothing here uses {name!r}."
    files = len({source.get("path", "") for source in found})
    total = f"{len(found)} in {files} file{'s'[: files > 1]}"
    if left is None:
        return f"Lines that use {name!r}: {total}."
    text = f"Lines that use {name!r}: {total}, {left['shown']} shown, spread over the files"
    return f"{text}; give a path for others.{_others(left)}"


def _others(left: MoreUses) -> str:
    more = f" and {left['more_files']} more" if left["more_files"] else ""
    return f" Files not shown: {', '.join(left['others'])}{more}." if left["others"] else ""
