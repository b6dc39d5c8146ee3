"""How the user changes a value: by a command that writes where the value comes from.

A command for a weaker place would change nothing: a variable wins over a project's file, and the
project's file over the user's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oracle.settings import SETTINGS

if TYPE_CHECKING:
    from oracle.settings import Settings


CHAT: Final = "/model"
"""The place of a model's name in a chat, where it is chosen by a command of the chat."""


def way_to_set(name: str, value: str, source: str) -> str:
    """The command that gives a setting this value, if its value now comes from `source`.

    >>> way_to_set("model.name", "embedded", "file")
    'oracle models use embedded --project'
    >>> way_to_set("model.key_variable", "NAME", "user")
    'oracle config set model.key_variable NAME --user'
    """
    row = SETTINGS[name]
    if source == "variable":
        return f"export {row.variable}={value}"
    if source == "flag" and row.flag:
        return f"{row.flag} {value}"
    if name == "model.name":
        return f"oracle models use {value}{' --project' if source == 'file' else ''}"
    return f"oracle config set {name} {value}{'' if source == 'file' else ' --user'}"


def way_to_name_the_key(settings: Settings) -> str:
    """The command that names the variable with the key for `model.base_url`.

    It writes where the address is: a file that selects a model describes all of it.
    """
    return way_to_set("model.key_variable", "NAME", settings.origins["model.base_url"].source)
