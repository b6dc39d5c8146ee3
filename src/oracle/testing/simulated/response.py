"""A response before it is streamed. The signal is kept apart, so that a character can spoil it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from oracle.testing.models import signal as signal_element


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    name: str
    arguments: Mapping[str, object] | str

    @property
    def as_json(self) -> str:
        return json.dumps({"name": self.name, "arguments": self.arguments}, ensure_ascii=False)


def _no_fields() -> Mapping[str, object]:
    return {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    type: str
    confidence: float = 0.8
    fields: Mapping[str, object] = field(default_factory=_no_fields)

    @property
    def xml(self) -> str:
        escaped = {
            name: _escaped(value) if isinstance(value, str) else value
            for name, value in self.fields.items()
        }
        return signal_element(self.type, self.confidence, **escaped).strip()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """`signal` is a proper signal, or the text that is written in its place. It is left out if the
    prompt does not speak of signals.
    """

    text: str = ""
    signal: Signal | str | None = None
    calls: Sequence[Call] = ()
    reasoning: str = ""

    @property
    def is_answer(self) -> bool:
        return not self.calls

    def whole_text(self, *, with_signal: bool) -> str:
        written = self.signal.xml if isinstance(self.signal, Signal) else self.signal or ""
        parts = [self.text, written] if with_signal else [self.text]
        return "\n\n".join(part for part in parts if part)


def need_turn(reason: str, *, confidence: float = 0.8) -> Signal:
    return Signal(type="need_turn", confidence=confidence, fields={"reason": reason})


def sufficient(sources_found: int, *, confidence: float = 0.9) -> Signal:
    fields = {"sources_found": sources_found}
    return Signal(type="context_sufficient", confidence=confidence, fields=fields)


def partial(missing: str, *, confidence: float = 0.6) -> Signal:
    return Signal(type="partial_answer", confidence=confidence, fields={"missing": missing})


def stuck(attempted: Sequence[str], blocker: str, *, confidence: float = 0.7) -> Signal:
    fields = {"attempted": list(attempted), "blocker": blocker}
    return Signal(type="stuck", confidence=confidence, fields=fields)
