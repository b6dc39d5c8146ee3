"""The newest commits, as git prints them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

_COMMITS: Final = 12
_SECONDS: Final = 5.0
_LONGEST: Final = 4_000
# The configuration of a repository could name programs that git would run.
_CONFIG: Final = ("core.fsmonitor=false", "log.showSignature=false", f"core.hooksPath={os.devnull}")


def newest_commits(root: Path) -> str:
    """A line for each commit: short hash, day and subject. Empty without git or a repository."""
    if not (root / ".git").exists():
        return ""
    options = [part for setting in _CONFIG for part in ("-c", setting)]
    command = ["git", "--no-pager", *options, "log", f"-{_COMMITS}", "--no-color"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            [*command, "--no-show-signature", "--format=%h %as %s"],
            cwd=root,
            env={**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace")[:_LONGEST].strip() if done.returncode == 0 else ""
