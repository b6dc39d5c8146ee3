"""A snapshot of a run, for what the model is told about it."""

from __future__ import annotations

from oracle.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentState:
    turn: int
    signals: tuple[str, ...]
    tools_tried: tuple[str, ...]
    tools_failed: tuple[str, ...]
    sources_tried: tuple[str, ...]
    sources_empty: tuple[str, ...]
    places_found: int

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
