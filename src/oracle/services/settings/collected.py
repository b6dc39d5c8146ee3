"""The values of the settings while they are read, source by source."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import field
from typing import Any, Final, cast

from oracle.lazy_dataclass import dataclass
from oracle.services.settings.guarded import Guarded, shown_value
from oracle.services.settings.mcp_servers import McpServer, merged
from oracle.services.settings.value_types import Unfit
from oracle.settings import ROOTS, SETTINGS, Origin, Setting

_BELONGING: Final = {
    "model.name": tuple(
        f"model.{key}"
        for key in (
            "base_url",
            "key_variable",
            "context_window",
            "longest_output",
            "input_price",
            "output_price",
        )
    ),
    "web.provider": ("web.url", "web.key_variable"),
}
"""Settings that describe the value of another one."""

DEFAULT: Final = Origin(source="default", place="default")


@dataclass
class Collected:
    """The values read so far. A later source overwrites an earlier one."""

    values: dict[str, Any] = field(
        default_factory=lambda: {name: row.default for name, row in SETTINGS.items()}
    )
    origins: dict[str, Origin] = field(default_factory=lambda: dict.fromkeys(SETTINGS, DEFAULT))
    below: dict[str, tuple[Any, Origin]] = field(default_factory=dict[str, tuple[Any, Origin]])
    """What counts instead if values of the project's file are left out."""

    mistakes: list[str] = field(default_factory=list[str])
    wrong_flags: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    dropped: dict[str, tuple[Any, Origin]] = field(default_factory=dict[str, tuple[Any, Origin]])
    """What the user's file says about another model, or another provider."""

    @property
    def has_roots(self) -> bool:
        return any(name.startswith(f"{ROOTS}.") for name in self.origins)

    def drop_descriptions(
        self, name: str, value: object, sources: Container[str] = ("user",)
    ) -> None:
        """Forget what the user's file says about another model, or another provider, than this."""
        if self.values[name] != value:
            for other in _BELONGING.get(name, ()):
                if self.origins[other].source in sources:
                    self.dropped[other] = (self.values[other], self.origins[other])
                    self.values[other], self.origins[other] = SETTINGS[other].default, DEFAULT
                elif other in self.below and self.below[other][1].source == "user":
                    self.below[other] = (SETTINGS[other].default, DEFAULT)

    def leave_out(self, each: Guarded) -> str:
        """Take back a value of the project's file, and what followed from it. Says what counts."""
        self.values[each.name], self.origins[each.name] = self.below[each.name]
        for other in _BELONGING.get(each.name, ()):
            if other in self.dropped and self.origins[other].source == "default":
                self.values[other], self.origins[other] = self.dropped[other]
        kept = self.values[each.name]
        instead = "left out" if kept is None else f"{shown_value(kept)} counts"
        return f"{each.name} = {each.shown} ({instead})"

    def take(self, row: Setting, raw: object, origin: Origin) -> None:
        try:
            value = row.kind.check(raw)
            if row.name == "mcp.servers":
                value = merged(self.values[row.name], cast("tuple[McpServer, ...]", value))
            if origin.source == "file":
                self.below[row.name] = (self.values[row.name], self.origins[row.name])
            self.values[row.name], self.origins[row.name] = value, origin
        except Unfit as problem:
            if origin.source == "flag":
                self.wrong_flags.append(f"{origin} {problem}")
            else:
                self.mistakes.append(f"{origin}: {row.name} {problem}")
