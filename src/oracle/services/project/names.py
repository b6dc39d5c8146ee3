"""What a project is called: by its folder, and by itself in its manifests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.regular_file import read_regular

# The first match is the name: other tables of these files come later than the project's own.
_NAMED: Final = {
    "pyproject.toml": lazy_pattern(r"^name\s*=\s*[\"']([^\"'\n]+)", re.M),
    "Cargo.toml": lazy_pattern(r"^name\s*=\s*[\"']([^\"'\n]+)", re.M),
    "package.json": lazy_pattern(r"^\s{1,4}\"name\"\s*:\s*\"([^\"\n]+)", re.M),
    "go.mod": lazy_pattern(r"^module\s+(\S+?)(?:/v\d+)?\s*$", re.M),
    "setup.cfg": lazy_pattern(r"^name\s*=\s*(\S+)", re.M),
    "composer.json": lazy_pattern(r"^\s{1,4}\"name\"\s*:\s*\"([^\"\n]+)", re.M),
}
_VERSION: Final = lazy_pattern(r"[-_]v?\d+(?:\.\d+)+\S*$")
_MOST_BYTES: Final = 20_000


def names_of(root: Path) -> frozenset[str]:
    """Folded (see `folded`), because a folder is often spelled in another way than its package."""
    return frozenset(folded(name) for name in (root.name, *_in_manifests(root)) if name)


def folded(name: str) -> str:
    """`My_Tool-1.2` and `my-tool` are one name."""
    return _VERSION.sub("", name).lower().replace("_", "-")


def _in_manifests(root: Path) -> Iterator[str]:
    for manifest, pattern in _NAMED.items():
        try:
            text = read_regular(root / manifest, _MOST_BYTES).decode(errors="replace")
        except OSError:
            continue
        if found := pattern.search(text):
            # `@scope/tool` and `example.org/people/tool` are called `tool`.
            yield found[1].rpartition("/")[2]
