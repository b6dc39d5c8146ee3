"""Which of the package's optional extras are installed."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

FOR_DEVELOPMENT: Final = frozenset({"dev", "bench", "train"})
_REQUIREMENT: Final = re.compile(r"""([\w.-]+).*;.*\bextra\s*==\s*['"]([\w-]+)['"]""")


def optional_extras() -> tuple[list[str], list[str]]:
    """Those that are here whole, and those that are not, by name."""
    needed: dict[str, list[str]] = {}
    for requirement in requires("bt-oracle") or []:
        if (found := _REQUIREMENT.match(requirement)) and found[2] not in FOR_DEVELOPMENT:
            needed.setdefault(found[2], []).append(found[1])
    here = {extra for extra, packages in needed.items() if all(map(_is_installed, packages))}
    return sorted(here), sorted(needed.keys() - here)


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
