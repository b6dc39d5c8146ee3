"""Trees as others read them: text, Mermaid, JSON and Groot2's XML; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.render.ascii import as_ascii
from oracle.bt.render.groot import as_groot
from oracle.bt.render.json import as_json
from oracle.bt.render.mermaid import as_mermaid

FORMATS: Final[Mapping[str, Callable[[TreeDefinition], str]]] = {
    "ascii": as_ascii,
    "mermaid": as_mermaid,
    "json": as_json,
    "groot": as_groot,
}
