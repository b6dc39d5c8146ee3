"""How to install an optional part of this package, where this copy of it is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

PACKAGE: Final = "bt-oracle"
# A file in the environment tells which program made it. Inside of such an environment, pip of the
# user's shell would install into another one.
_MADE_BY: Final = {
    "pipx_metadata.json": "pipx install --force",
    "uv-receipt.toml": "uv tool install",
}


def install_command(extra: str, environment: Path | None = None) -> str:
    """The command that adds an extra: `pip install 'bt-oracle[postgres]'`."""
    folder = environment or Path(sys.prefix)
    found = (command for file, command in _MADE_BY.items() if (folder / file).is_file())
    return f"{next(found, 'pip install')} '{PACKAGE}[{extra}]'"
