"""Changes that the user makes to a settings file.

A value that the user writes into a project's file is trusted. The rest of the file may be the work
of somebody else.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from oracle.errors import StoreError
from oracle.services.settings.editing import set_value, unset_value, value_in
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


OF_A_MODEL: Final = (
    "base_url",
    "key_variable",
    "context_window",
    "longest_output",
    "input_price",
    "output_price",
)
"""Settings of `[model]` that are true of one model only."""


def select_model(file: Path, name: str, base_url: str | None) -> list[str]:
    """Write the full name of a model, with its address if it has one of its own.

    Other settings of the file that describe the model before it are removed, and returned: its
    address and its key are not meant for another model, and its prices would be wrong.
    """
    address = {} if base_url is None else {"model.base_url": base_url}
    dropped: list[str] = []
    if file.exists() and not _is_selected(file, name, base_url):
        written = (f"model.{each}" for each in OF_A_MODEL)
        found = [each for each in written if value_in(file, each) is not None]
        dropped = [each for each in found if each not in address]
    for each in dropped:
        unset_value(file, each)
    write_settings(file, {**address, "model.name": name})
    return dropped


def _is_selected(file: Path, name: str, base_url: str | None) -> bool:
    addresses = (None, value_in(file, "model.base_url"))
    return value_in(file, "model.name") == name and base_url in addresses


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
