"""Whether an installed package may have entry points of a group, by a look at its files.

`importlib.metadata` is the one that reads them, but it takes ten times as long to say that there
are none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import PathFinder
from typing import Final

_ENDINGS: Final = (".dist-info", ".egg-info", "egg-info")


def may_name(groups: Iterable[str], path: Sequence[str] | None = None) -> bool:
    """False only if no package has one of the groups. `path` is `sys.path` by default."""
    # An importer of another kind may know packages that are in no folder.
    if any(hasattr(each, "find_distributions") for each in sys.meta_path if each is not PathFinder):
        return True
    names = [group.encode() for group in groups]
    for folder in sys.path if path is None else path:
        # Packages in an archive are left to `importlib.metadata`, too.
        if os.path.isfile(folder):
            return True
        for text in _texts_in(folder):
            if any(name in text for name in names):
                return True
    return False


def _texts_in(folder: str) -> Iterator[bytes]:
    try:
        with os.scandir(folder or ".") as entries:
            found = [entry.path for entry in entries if entry.name.lower().endswith(_ENDINGS)]
    except OSError:
        return
    for place in found:
        try:
            with open(os.path.join(place, "entry_points.txt"), "rb") as file:
                yield file.read()
        except OSError:
            continue
