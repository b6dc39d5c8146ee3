"""The events of a run as spans.

| events | span |
| --- | --- |
| `run.started` … `run.ended` | `invoke_agent oracle`, the root |
| `turn.started` … what follows from the response | `chat MODEL` |
| `tool.called` … `tool.returned` | `execute_tool NAME`; `retrieval NAME` for a tool that searches |

Signals are events of their turn's span. Grants, budgets, loops, fallbacks, decisions and failures
are events of the root.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from oracle.lazy_dataclass import dataclass
from oracle.models.tool_spec import role_by_name
from oracle.services.ans.event import Event
from oracle.services.project.redaction import redact
from oracle.services.telemetry import names
from oracle.services.telemetry.span import Span, SpanEvent, Value, span_id_of, trace_id_of

# The fields that say nothing of what was asked, found or answered. Only these are always sent.
SAFE: Final[Mapping[str, tuple[str, ...]]] = {
    "signal.received": ("type", "confidence"),
    "signal.ignored": ("type", "confidence"),
    "signal.malformed": (),
    "signal.missing": ("turns_without_signal",),
    "grant.given": ("tool", "by"),
    "grant.refused": ("tool", "by"),
    "capability.missing": (),
    "budget.warning": ("budget", "used", "limit"),
    "budget.exhausted": ("budget", "used", "limit"),
    "loop.detected": ("kind", "times"),
    "decision.made": ("signal", "verdict"),
    "fallback.triggered": (
        "turns_without_signal",
        "last_signal_type",
        "last_signal_confidence",
        "classification_action",
        "classification_confidence",
    ),
    "bert.unavailable": ("use",),
    "node.failed": ("node_path",),
    "journal.degraded": (),
    "shadow.compared": ("shadow_run_id",),
}
FAILED: Final = frozenset(("internal_error", "model_unavailable", "store_failed", "no_progress"))
"""Stop reasons that are errors. All others end with an answer, whole or not."""


@dataclass(kw_only=True, slots=True)
class _Turn:
    number: int
    start: float
    attributes: dict[str, Value]
    end: float | None = None
    events: list[SpanEvent] = field(default_factory=list[SpanEvent])


@dataclass(kw_only=True, slots=True)
class _Call:
    turn: int
    start: float
    attributes: dict[str, Value]


class RunSpans:
    """Two verbs: `feed` an event and get the spans that have ended, then `rest` for all others.

    With `content`, also what was asked, called and answered is in them, redacted.
    """

    def __init__(self, run_id: str, *, content: bool = False) -> None:
        self.run_id = run_id
        self.has_ended = False
        self._content = content
        self._trace_id = trace_id_of(run_id)
        self._start: float | None = None
        self._last = 0.0
        self._root: dict[str, Value] = {
            names.OPERATION: names.INVOKE_AGENT,
            names.AGENT: "oracle",
            names.RUN: run_id,
        }
        self._events: list[SpanEvent] = []
        self._is_error = False
        self._model = ""
        self._turn: _Turn | None = None
        self._calls: dict[tuple[int, str], _Call] = {}
        self._tokens = 0
        self._money = 0.0

    def feed(self, event: Event) -> list[Span]:
        self._last = max(self._last, event.at)
        if self._start is None:
            self._start = event.at
        payload = event.payload
        match event.type:
            case "run.started":
                return self._run_started(event, payload)
            case "run.ended":
                return self._run_ended(payload)
            case "turn.started":
                return self._turn_started(event, payload)
            case "turn.ended":
                return self._turn_ended(event, payload)
            case "tool.called":
                return self._tool_called(event, payload)
            case "tool.returned":
                return self._tool_returned(event, payload)
            case _:
                return self._noted(event)

    def answered(self, answer: str) -> None:
        """Add the answer to the root. Events do not have it."""
        if self._content and answer:
            self._root[names.OUTPUT] = _message("assistant", answer)

    def rest(self) -> list[Span]:
        """What has not ended, cut at the last event; the root is the last one."""
        return [*self._cut(), self._root_span()] if self._start is not None else []

    # -- the run -----------------------------------------------------------------------------------

    def _run_started(self, event: Event, payload: Mapping[str, Any]) -> list[Span]:
        self._model = str(payload.get("model") or "")
        self._root |= {names.TREE: str(payload.get("tree") or ""), **self._model_names()}
        if self._content:
            self._root[names.INPUT] = _message("user", str(payload.get("question") or ""))
        if payload.get("resumed"):
            self._root[names.RESUMED] = True
            self._events.append(SpanEvent(name="run.resumed", at=event.at))
            # What was under way when the process died ends here.
            return self._cut()
        return []

    def _run_ended(self, payload: Mapping[str, Any]) -> list[Span]:
        reason = str(payload.get("stop_reason") or "")
        self._root |= {
            names.STOP_REASON: reason,
            names.TURNS: int(payload.get("turns") or 0),
            **_usage(payload.get("usage")),
        }
        if self._content and payload.get("missing"):
            self._root[names.MISSING] = [redact(str(each)) for each in payload["missing"]]
        if reason in FAILED:
            self._is_error = True
            self._root[names.ERROR] = reason
        self.has_ended = True
        return self._cut()

    def _root_span(self) -> Span:
        return self._span(
            f"{names.INVOKE_AGENT} oracle",
            self._start or 0.0,
            self._last,
            self._root,
            span_id=span_id_of(self.run_id),
            events=self._events,
            is_error=self._is_error,
            is_root=True,
        )

    def _cut(self) -> list[Span]:
        cut = [self._call_span(call, self._last) for call in self._calls.values()]
        self._calls.clear()
        if self._turn is not None:
            cut.append(self._turn_span(self._turn))
            self._turn = None
        return cut

    # -- turns -------------------------------------------------------------------------------------

    def _turn_started(self, event: Event, payload: Mapping[str, Any]) -> list[Span]:
        cut = self._cut()
        attributes: dict[str, Value] = {
            names.OPERATION: names.CHAT,
            **self._model_names(),
            names.TURN: event.turn or 0,
            names.OFFERED: [str(each) for each in payload.get("tools") or ()],
        }
        self._turn = _Turn(number=event.turn or 0, start=event.at, attributes=attributes)
        return cut

    def _turn_ended(self, event: Event, payload: Mapping[str, Any]) -> list[Span]:
        if self._turn is None:
            return []
        self._response_came(event.at)
        usage: Mapping[str, Any] = payload.get("usage") or {}
        # The usage is that of the run so far.
        tokens, money = int(usage.get("tokens") or 0), float(usage.get("money") or 0.0)
        self._turn.attributes |= {
            names.OUTCOME: str(payload.get("outcome") or ""),
            names.TOKENS: max(0, tokens - self._tokens),
            names.COST: max(0.0, round(money - self._money, 9)),
        }
        self._tokens, self._money = tokens, money
        span, self._turn = self._turn_span(self._turn), None
        return [span]

    def _response_came(self, at: float) -> None:
        """A turn goes on with tools and decisions, but the request ends with the first of them."""
        if self._turn is not None and self._turn.end is None:
            self._turn.end = at

    def _turn_span(self, turn: _Turn) -> Span:
        return self._span(
            f"{names.CHAT} {self._model}".strip(),
            turn.start,
            self._last if turn.end is None else turn.end,
            turn.attributes,
            span_id=span_id_of(self.run_id, "turn", turn.number),
            events=turn.events,
            is_remote=True,
        )

    # -- tools -------------------------------------------------------------------------------------

    def _tool_called(self, event: Event, payload: Mapping[str, Any]) -> list[Span]:
        self._response_came(event.at)
        name, id_ = str(payload.get("tool") or ""), str(payload.get("call_id") or "")
        is_search = role_by_name(name) == "search"
        attributes: dict[str, Value] = {
            names.OPERATION: names.RETRIEVAL if is_search else names.EXECUTE_TOOL,
            names.TOOL: name,
            names.TOOL_TYPE: "function",
            names.CALL_ID: id_,
            names.TURN: event.turn or 0,
            names.NODE: event.source,
        }
        if is_search:
            attributes[names.DATA_SOURCE] = name
        if self._content:
            attributes[names.ARGUMENTS] = redact(_as_text(payload.get("arguments")))
        call = _Call(turn=event.turn or 0, start=event.at, attributes=attributes)
        self._calls[call.turn, id_] = call
        return []

    def _tool_returned(self, event: Event, payload: Mapping[str, Any]) -> list[Span]:
        call = self._calls.pop((event.turn or 0, str(payload.get("call_id") or "")), None)
        if call is None:
            # It was refused, so nothing was called.
            attributes: dict[str, Value] = {names.TOOL: str(payload.get("tool") or "")}
            self._events.append(SpanEvent(name="tool.not_run", at=event.at, attributes=attributes))
            return []
        is_error = not payload.get("success")
        if is_error:
            call.attributes[names.ERROR] = "tool_failed"
            if self._content:
                call.attributes[names.ERROR_TEXT] = redact(str(payload.get("error") or ""))
        # The run's clock is read once a tick. The tool's own time is more exact.
        seconds = float(payload.get("seconds") or 0.0)
        end = call.start + seconds if seconds else event.at
        return [self._call_span(call, end, is_error=is_error)]

    def _call_span(self, call: _Call, end: float, *, is_error: bool = False) -> Span:
        name, id_ = call.attributes[names.TOOL], call.attributes[names.CALL_ID]
        return self._span(
            f"{call.attributes[names.OPERATION]} {name}",
            call.start,
            end,
            call.attributes,
            span_id=span_id_of(self.run_id, "call", call.turn, id_),
            is_error=is_error,
        )

    # -- all else ----------------------------------------------------------------------------------

    def _noted(self, event: Event) -> list[Span]:
        if event.type not in SAFE:
            return []
        shown = event.payload if self._content else SAFE[event.type]
        attributes: dict[str, Value] = {names.NODE: event.source}
        for key in shown:
            value = event.payload.get(key)
            if value is not None:
                attributes[f"oracle.{key}"] = _value(value)
        noted = SpanEvent(name=event.type, at=event.at, attributes=attributes)
        is_of_turn = event.type.startswith("signal.") and self._turn is not None
        if is_of_turn and self._turn is not None:
            self._response_came(event.at)
            self._turn.events.append(noted)
        else:
            self._events.append(noted)
        return []

    def _model_names(self) -> dict[str, Value]:
        provider, has_provider, _ = self._model.partition(":")
        return {
            names.MODEL: self._model,
            names.PROVIDER: provider if has_provider else "oracle",
        }

    def _span(
        self,
        name: str,
        start: float,
        end: float,
        attributes: Mapping[str, Value],
        *,
        span_id: str,
        is_root: bool = False,
        **more: Any,
    ) -> Span:
        return Span(
            name=name,
            trace_id=self._trace_id,
            span_id=span_id,
            parent_id=None if is_root else span_id_of(self.run_id),
            start=start,
            # A clock that was set back must not give a span a negative length.
            end=max(start, end),
            attributes=dict(attributes),
            **more,
        )


def _usage(usage: Any) -> dict[str, Value]:
    found: Mapping[str, Any] = usage or {}
    return {
        names.TOKENS: int(found.get("tokens") or 0),
        names.COST: float(found.get("money") or 0.0),
    }


def _message(role: str, text: str) -> str:
    """In the form of the conventions: a list of messages, each with parts."""
    parts = [{"type": "text", "content": redact(text)}]
    return json.dumps([{"role": role, "parts": parts}], ensure_ascii=False)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(value: object) -> Value:
    if isinstance(value, bool | int | float):
        return value
    return redact(_as_text(value))
