"""Spans in the JSON form of OTLP, which collectors read from files. It needs no package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from oracle.services.telemetry.span import Span, SpanEvent, Value

INTERNAL: Final = 1
CLIENT: Final = 3
OK: Final = 1
FAILED: Final = 2


def as_otlp_json(spans: Sequence[Span]) -> str:
    """One request, on one line."""
    ours = version("bt-oracle")
    resource = {"service.name": "oracle", "service.version": ours}
    scope = {"scope": {"name": "oracle", "version": ours}, "spans": [_span(each) for each in spans]}
    body = {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}
    return json.dumps({"resourceSpans": [body]}, ensure_ascii=False, separators=(",", ":"))


def nanoseconds(seconds: float) -> int:
    # In two steps: a float has not enough digits for nanoseconds since 1970.
    whole = int(seconds)
    return whole * 1_000_000_000 + round((seconds - whole) * 1_000_000) * 1_000


def _span(span: Span) -> dict[str, Any]:
    parent = {} if span.parent_id is None else {"parentSpanId": span.parent_id}
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        **parent,
        "name": span.name,
        "kind": CLIENT if span.is_remote else INTERNAL,
        # 64-bit numbers are strings in the JSON form of protobuf.
        "startTimeUnixNano": str(nanoseconds(span.start)),
        "endTimeUnixNano": str(nanoseconds(span.end)),
        "attributes": _attributes(span.attributes),
        "events": [_event(each) for each in span.events],
        "status": {"code": FAILED if span.is_error else OK},
    }


def _event(event: SpanEvent) -> dict[str, Any]:
    return {
        "timeUnixNano": str(nanoseconds(event.at)),
        "name": event.name,
        "attributes": _attributes(event.attributes),
    }


def _attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case _:
            return {"arrayValue": {"values": [{"stringValue": each} for each in value]}}
