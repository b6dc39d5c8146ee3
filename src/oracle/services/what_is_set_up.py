"""The model and the tools that a project has set up, for whoever does not bring their own."""

from __future__ import annotations

from pathlib import Path

from oracle.services.llm.protocol import Model
from oracle.services.tools.protocol import Tools


def model_of(project: Path) -> Model | None:
    """None where there is none: then the tree itself answers, from what is on record."""
    return None


def tools_of(project: Path) -> Tools | None:
    return None
