"""How a project is laid out: its top folders with what they hold, and the files beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

_MOST_ROWS: Final = 40
_MOST_INSIDE: Final = 12


def layout_rows(paths: Sequence[str]) -> list[str]:
    """A row for each top folder, with its size and its largest subfolders, then the top files."""
    folders: Counter[str] = Counter(p.split("/")[0] for p in paths if "/" in p)
    inside: dict[str, Counter[str]] = {}
    for path in paths:
        parts = path.split("/")
        if len(parts) > 2:
            inside.setdefault(parts[0], Counter())[parts[1]] += 1
    rows: list[str] = []
    for folder, count in sorted(folders.items()):
        held = _held(inside.get(folder, Counter()))
        rows.append(f"{folder}/ ({count} {'file' if count == 1 else 'files'}){held}")
    rows += sorted(path for path in paths if "/" not in path)
    return rows[:_MOST_ROWS]


def _held(inside: Counter[str]) -> str:
    if not inside:
        return ""
    shown = sorted(f"{name}/" for name, _ in inside.most_common(_MOST_INSIDE))
    more = len(inside) - len(shown)
    return f": {', '.join(shown)}" + (f" and {more} more" if more else "")
