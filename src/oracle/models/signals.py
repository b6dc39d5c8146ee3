"""Signals: what the model says about its own state. Six types, and what a run remembers of them.

`SIGNALS` is the only place that defines the fields of each type. The parser uses it; the prompt
and the documentation are tested against it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, Self, cast

from oracle.lazy_dataclass import dataclass

FieldKind = Literal["str", "int", "list[str]"]
FieldValue = str | int | list[str]


class SignalType(StrEnum):
    NEED_TURN = "need_turn"
    CONTEXT_SUFFICIENT = "context_sufficient"
    STUCK = "stuck"
    NEED_CAPABILITY = "need_capability"
    PARTIAL_ANSWER = "partial_answer"
    DELEGATION_RECOMMENDED = "delegation_recommended"


@dataclass(frozen=True, kw_only=True)
class FieldSpec:
    name: str
    kind: FieldKind
    required: bool
    meaning: str


@dataclass(frozen=True, kw_only=True)
class SignalSpec:
    meaning: str
    fields: tuple[FieldSpec, ...]

    def field(self, name: str) -> FieldSpec | None:
        return next((field for field in self.fields if field.name == name), None)

    @property
    def required_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields if field.required)


def _required(name: str, kind: FieldKind, meaning: str) -> FieldSpec:
    return FieldSpec(name=name, kind=kind, required=True, meaning=meaning)


def _optional(name: str, kind: FieldKind, meaning: str) -> FieldSpec:
    return FieldSpec(name=name, kind=kind, required=False, meaning=meaning)


def _signal(meaning: str, *fields: FieldSpec) -> SignalSpec:
    return SignalSpec(meaning=meaning, fields=fields)


SIGNALS: Mapping[SignalType, SignalSpec] = MappingProxyType(
    {
        SignalType.NEED_TURN: _signal(
            "another turn is needed before the answer",
            _required("reason", "str", "why another turn is needed"),
            _optional("expected_turns", "int", "how many more turns it will take"),
        ),
        SignalType.CONTEXT_SUFFICIENT: _signal(
            "what was gathered is enough to answer",
            _required("sources_found", "int", "how many relevant sources were found"),
            _optional("source_types", "list[str]", "what kinds of source they are"),
        ),
        SignalType.STUCK: _signal(
            "no way forward is left",
            _required("attempted", "list[str]", "the tools and approaches that were tried"),
            _required("blocker", "str", "what prevents progress"),
            _optional("suggestions", "list[str]", "what might help"),
        ),
        SignalType.NEED_CAPABILITY: _signal(
            "a tool is needed that was not offered",
            _required("capability", "str", "what is needed"),
            _required("reason", "str", "what it is needed for"),
            _optional("workaround", "str", "how far one gets without it"),
        ),
        SignalType.PARTIAL_ANSWER: _signal(
            "there is an answer, but something is missing",
            _required("missing", "str", "what could not be found"),
            _optional("caveat", "str", "what the reader must bear in mind"),
        ),
        SignalType.DELEGATION_RECOMMENDED: _signal(
            "a part of the task is better done by another agent",
            _required("reason", "str", "why delegating helps"),
            _required("scope", "str", "what to delegate"),
            _optional("estimated_tokens", "int", "how many tokens it will take"),
            _optional("subagent_type", "str", "which kind of agent suits it"),
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class Signal:
    """One signal, valid by construction: a `ValueError` names what does not match `SIGNALS`.

    `fields` is a read-only copy of the argument.
    """

    type: SignalType
    confidence: float
    fields: Mapping[str, FieldValue]
    raw_xml: str
    timestamp: datetime

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence {self.confidence!r} is outside 0 to 1")
        if not self.raw_xml:
            raise ValueError("raw_xml is empty")
        for name in SIGNALS[self.type].required_names:
            if self.fields.get(name) in (None, "", []):
                raise ValueError(f"{self.type} lacks its required field {name!r}")
        # The class is frozen, so a field can be replaced only in this way.
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))

    def to_dict(self) -> dict[str, Any]:
        """The flat, JSON-shaped form that is kept on the blackboard."""
        fields = {
            name: list(value) if isinstance(value, list) else value
            for name, value in self.fields.items()
        }
        return {
            "type": self.type.value,
            "confidence": self.confidence,
            **fields,
            "raw_xml": self.raw_xml,
            "timestamp": self.timestamp.isoformat(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`. Keys that the type does not declare are ignored."""
        type_ = SignalType(data["type"])
        return cls(
            type=type_,
            confidence=data["confidence"],
            fields={
                field.name: cast(FieldValue, data[field.name])
                for field in SIGNALS[type_].fields
                if field.name in data
            },
            raw_xml=data["raw_xml"],
            timestamp=datetime.fromisoformat(data["timestamp"]),
        )


@dataclass(frozen=True, kw_only=True)
class AgentSignalState:
    """What a run remembers of its signals, in the JSON-shaped form of `Signal.to_dict`.

    A transition returns the next state; the old one does not change.

    | event | signals_emitted | last_signal | consecutive_same_reason | turns_without_signal |
    | --- | --- | --- | --- | --- |
    | need_turn, same reason as last time | + it | it | + 1 | 0 |
    | need_turn, otherwise | + it | it | 1 | 0 |
    | any other signal | + it | it | 0 | 0 |
    | a turn without a signal | same | same | 0 | + 1 |
    """

    signals_emitted: Sequence[Mapping[str, Any]] = ()
    last_signal: Mapping[str, Any] | None = None
    consecutive_same_reason: int = 0
    turns_without_signal: int = 0

    def after_signal(self, signal: Signal | Mapping[str, Any]) -> Self:
        data = signal.to_dict() if isinstance(signal, Signal) else signal
        return type(self)(
            signals_emitted=[*self.signals_emitted, data],
            last_signal=data,
            consecutive_same_reason=self._same_reason_count(data),
        )

    def after_turn_without_signal(self) -> Self:
        return replace(
            self,
            consecutive_same_reason=0,
            turns_without_signal=self.turns_without_signal + 1,
        )

    def _same_reason_count(self, signal: Mapping[str, Any]) -> int:
        """The number of `need_turn` signals in a row with the same reason."""
        before = self.last_signal
        if signal["type"] != SignalType.NEED_TURN:
            return 0
        if before is None or before["type"] != SignalType.NEED_TURN:
            return 1
        is_same = _folded(before["reason"]) == _folded(signal["reason"])
        return self.consecutive_same_reason + 1 if is_same else 1


def _folded(reason: str) -> str:
    """The reason without case, extra spaces and punctuation: `Need the file.` is `need  the FILE`.

    Symbols stay, because `C++` is not `C`. Punctuation becomes a space, because `1-2` is not `12`.
    """
    # Most reasons are ASCII, and a table is much quicker than a lookup for each character.
    if reason.isascii():
        return " ".join(reason.lower().translate(_ASCII_GAPS).split())
    text = unicodedata.normalize("NFKC", reason).casefold()
    return " ".join("".join(" " if _is_gap(character) else character for character in text).split())


def _is_gap(character: str) -> bool:
    """Punctuation, white space, invisible characters, and modifiers such as the backtick."""
    category = unicodedata.category(character)
    return category[0] in "PZC" or category == "Sk"


_ASCII_GAPS = {code: " " for code in range(128) if _is_gap(chr(code))}
