"""A snapshot of a run, for the prompt, the fallback and observers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentState:
    turn: int
    signals: tuple[str, ...]
    turns_without_signal: int
    tools_tried: tuple[str, ...]
    tools_failed: tuple[str, ...]
    sources_tried: tuple[str, ...]
    sources_empty: tuple[str, ...]
    places_found: int
    strategies_tried: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def summary(self) -> str:
        """The run so far in a line or two, for the model."""
        parts = [f"{self.places_found} places found so far"]
        if self.tools_tried:
            parts.append(f"tools tried: {', '.join(self.tools_tried)}")
        if self.tools_failed:
            parts.append(f"of these failed: {', '.join(self.tools_failed)}")
        if self.sources_empty:
            parts.append(f"sources that returned nothing: {', '.join(self.sources_empty)}")
        return "; ".join(parts) + "."
