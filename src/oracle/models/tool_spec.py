"""A tool as the model and the tree know it; what runs it lives elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.models.query_classification import QueryType

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """Valid by construction: a name that every provider takes, and a schema of named parameters.

    `query_types` are those that get the tool without asking for it. `source` is the kind of source
    that it looks into: code, vault, threads or web; None for a tool that looks into none.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    query_types: frozenset[QueryType] = frozenset()
    writes: bool = False
    source: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"tool name {self.name!r} must be 1 to 64 of A-Z, a-z, 0-9, '_' and '-'"
            )
        if not self.description.strip():
            raise ValueError(f"tool {self.name!r} has no description")
        if self.parameters.get("type") != "object":
            raise ValueError(
                f"the parameters of tool {self.name!r} must be a schema of type 'object'"
            )
