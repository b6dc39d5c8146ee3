"""Changes that the user makes to a settings file.

A value that the user writes into a project's file is trusted. The rest of the file may be the work
of somebody else.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from oracle.errors import StoreError
from oracle.services.settings.editing import set_value
from oracle.services.settings.resolve import user_settings_file, values_to_trust
from oracle.services.settings.trust import digest_of, forget_trust, remember_trust, untrusted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from oracle.services.settings.guarded import Guarded


def write_settings(file: Path, values: Mapping[str, object]) -> None:
    """Write settings into the user's file or a project's, and trust them there."""
    root = None if file == user_settings_file() else file.parent
    before = _names_trusted(root) if root else set[str]()
    for name, value in values.items():
        set_value(file, name, value)
    if root is not None:
        # Also values that need no trust as things are: the user may set another limit later.
        found = values_to_trust(root, also=values)
        # Where it cannot be kept, the next command says what to do.
        with suppress(StoreError):
            remember_trust(root, [each for each in found if each.name in {*values, *before}])


def trust_project(root: Path) -> tuple[list[Guarded], str]:
    """Trust the values of a project as they are now. Returns them and their digest."""
    found = values_to_trust(root)
    remember_trust(root, found)
    return found, digest_of(found)


def untrust_project(root: Path) -> None:
    forget_trust(root)


def _names_trusted(root: Path) -> set[str]:
    found = values_to_trust(root)
    strange = {each.name for each in untrusted(found, root, {})}
    return {each.name for each in found} - strange
