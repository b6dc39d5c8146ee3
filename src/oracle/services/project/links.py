"""Follows a path as the system does, and notices where a link leads out of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from oracle.lazy_dataclass import dataclass

_MOST_LINKS: Final = 40
"""As many as Linux follows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """Where a path ends, and the first folder on the way that a link in it led out of."""

    end: Path
    left: Path | None = None


def way_of(path: Path, folders: Iterable[Path]) -> Way:
    """`folders` have no links. A way that ends in one of them has left none: a link inside of a
    folder, or from one to another, leads nowhere else.

    Each spelling of a path counts the same: from another folder, with `..`, or through a link that
    leads in.
    """
    kept = tuple(folders)
    # Not normalised: after a link, `..` is above what the link leads to.
    *parts, _ = [*reversed(Path(os.path.join(os.getcwd(), path)).parts)]
    place, left = Path(Path(os.getcwd(), path).anchor), None
    links = 0
    while parts:
        part = parts.pop()
        if part == "..":
            place = place.parent
            continue
        target = _target(place / part) if links < _MOST_LINKS else None
        if target is None:
            place /= part
            continue
        links += 1
        home = next((each for each in kept if place.is_relative_to(each)), None)
        if home and left is None and not _real(place / target).is_relative_to(home):
            left = home
        if target.is_absolute():
            place = Path(target.anchor)
            parts += reversed(target.parts[1:])
        else:
            parts += reversed(target.parts)
    if any(place.is_relative_to(each) for each in kept):
        left = None
    return Way(end=place, left=left)


def _target(place: Path) -> Path | None:
    """None if there is no link."""
    try:
        return Path(os.readlink(place))
    except (OSError, ValueError):
        return None


def _real(place: Path) -> Path:
    return Path(os.path.realpath(place))
