"""How to install an optional part of this package, where this copy of it is installed."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

PACKAGE: Final = "bt-oracle"
# A file in the environment tells which program made it. Inside of such an environment, pip of the
# user's shell would install into another one.
_MADE_BY: Final = {
    "pipx_metadata.json": "pipx install --force",
    "uv-receipt.toml": "uv tool install",
}
_PIP: Final = "pip install"
_LARGE: Final = ("bert",)
"""Extras that `all` does not bring."""


def install_command(extra: str, environment: Path | None = None, source: str | None = None) -> str:
    """The command that adds an extra: `pip install 'bt-oracle[all]'`.

    With `all`, the next part needs no other command, and pipx and uv, which make the environment
    anew, keep those that are there. A copy that was installed from a folder is installed from there
    again.
    """
    folder = environment or Path(sys.prefix)
    found = (command for file, command in _MADE_BY.items() if (folder / file).is_file())
    what = _folder() or PACKAGE if source is None else source
    wanted = f"all,{extra}" if extra in _LARGE else "all"
    return f"{next(found, _pip(folder))} {shlex.quote(f'{what}[{wanted}]')}"


def _pip(environment: Path) -> str:
    """That of the environment, also where a shell has not activated it."""
    is_active = os.environ.get("VIRTUAL_ENV") == str(environment)
    pip = environment / "bin" / "pip"
    return _PIP if is_active or not pip.is_file() else f"{shlex.quote(str(pip))} install"


def _folder() -> str:
    """The folder that this copy was installed from; empty if it came from an index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
        address = urlsplit(str(origin.get("url", "")))
    except (PackageNotFoundError, ValueError):
        return ""
    is_folder = address.scheme == "file" and "dir_info" in origin
    return unquote(address.path) if is_folder else ""
