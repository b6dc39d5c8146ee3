"""Where the value of a setting comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where a value comes from. As text: `default`, `~/.config/oracle/oracle.toml:3` (`user`),
    `oracle.toml:3` (`file`), `ORACLE_…` or `--flag`.
    """

    source: Literal["default", "user", "file", "variable", "flag"]
    place: str

    def __str__(self) -> str:
        return self.place
