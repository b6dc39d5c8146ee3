"""Sends spans to a collector as OTLP over HTTP, with the packages of the extra `otel`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Final, TypeAlias

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from oracle.services.telemetry.otlp_json import nanoseconds
from oracle.services.telemetry.span import Span

SECONDS_TO_SEND: Final = 3.0
"""For one request and its repetitions, unless a variable of OpenTelemetry sets another time."""

Export: TypeAlias = Callable[[Sequence[Span]], bool]


def open_export() -> Export:
    """The address, headers, certificates and compression are those of OpenTelemetry's variables."""
    # Each failure is logged by the package, with its traceback. We report the first one ourselves.
    logging.getLogger("opentelemetry.exporter.otlp.proto.http").setLevel(logging.CRITICAL)
    is_set = any(os.environ.get(f"OTEL_EXPORTER_OTLP_{name}TIMEOUT") for name in ("", "TRACES_"))
    session = requests.Session()
    # Otherwise the collector could name another server, which gets the spans and the headers. A
    # redirect is an error now, and reported like the others.
    session.max_redirects = 0
    timeout = None if is_set else SECONDS_TO_SEND
    exporter = OTLPSpanExporter(timeout=timeout, session=session)
    ours = version("bt-oracle")
    resource = Resource.create({"service.version": ours})
    # The package makes up a name if no variable of the user has one.
    if str(resource.attributes.get("service.name", "")).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": "oracle"}))
    scope = InstrumentationScope("oracle", ours)

    def export(spans: Sequence[Span]) -> bool:
        sent = exporter.export([_readable(each, resource, scope) for each in spans])
        return sent is SpanExportResult.SUCCESS

    return export


def _readable(span: Span, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    # Made directly, and not by a tracer: the ids follow from the run, and the times from its clock.
    return ReadableSpan(
        span.name,
        context=_context(span.trace_id, span.span_id),
        parent=None if span.parent_id is None else _context(span.trace_id, span.parent_id),
        resource=resource,
        attributes=span.attributes,
        events=[
            Event(each.name, attributes=each.attributes, timestamp=nanoseconds(each.at))
            for each in span.events
        ],
        kind=SpanKind.CLIENT if span.is_remote else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR if span.is_error else StatusCode.OK),
        start_time=nanoseconds(span.start),
        end_time=nanoseconds(span.end),
        instrumentation_scope=scope,
    )


def _context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(
        int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1)
    )
