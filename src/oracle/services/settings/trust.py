"""Whether the user trusts a project: by `ORACLE_TRUST`, or by a command, which is remembered.

What is remembered is the digest of each value that the user has seen, so a later one is not
trusted. Only values that need trust are asked about (see `guarded`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from oracle.services.settings.guarded import Guarded
from oracle.services.user_files import recall, remember

VARIABLE: Final = "ORACLE_TRUST"
"""Roots of trusted projects, separated like the folders in PATH, each with or without `@digest`."""

_TOPIC: Final = "settings of projects"


def untrusted(
    guarded: Iterable[Guarded], root: Path, environment: Mapping[str, str]
) -> list[Guarded]:
    """Those that the user has not agreed to."""
    found = list(guarded)
    if not found or is_trusted(root, digest_of(found), environment.get(VARIABLE, "")):
        return []
    agreed = _agreed(root)
    return [each for each in found if agreed.get(each.name) != each.seen]


def digest_of(guarded: Iterable[Guarded]) -> str:
    """What follows the `@` in the variable."""
    return hashlib.sha256(repr(sorted(each.seen for each in guarded)).encode()).hexdigest()[:12]


def remember_trust(root: Path, guarded: Iterable[Guarded]) -> None:
    """Trust these values of a project too."""
    new = {each.name: each.seen for each in guarded}
    if new:
        remember(_TOPIC, os.path.realpath(root), {**_agreed(root), **new})


def forget_trust(root: Path) -> None:
    remember(_TOPIC, os.path.realpath(root), {})


def is_trusted(root: Path, digest: str, listed: str) -> bool:
    """Whether the variable lists this root, alone or with this digest."""
    for entry in _entries(listed):
        # With a digest only the values that the user has seen are trusted, not later ones.
        path, at, given = entry.rpartition("@")
        if _is_root(entry, root) or (at and given == digest and _is_root(path, root)):
            return True
    return False


def trusts(root: Path, environment: Mapping[str, str]) -> bool:
    """Whether the user trusts the whole project, not only values that were seen."""
    return any(_is_root(entry, root) for entry in _entries(environment.get(VARIABLE, "")))


def _agreed(root: Path) -> Mapping[str, object]:
    found = recall(_TOPIC).get(os.path.realpath(root))
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _entries(listed: str) -> Iterator[str]:
    """The whole is one as well: a root that has the separator in its name can be listed alone."""
    yield from filter(None, [listed, *listed.split(os.pathsep)])


def _is_root(path: str, root: Path) -> bool:
    # A relative path would trust whatever project the user happens to be in.
    given = Path(path).expanduser()
    return given.is_absolute() and os.path.realpath(given) == os.path.realpath(root)
