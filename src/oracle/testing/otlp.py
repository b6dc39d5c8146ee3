"""A collector on loopback: it takes traces as OTLP over HTTP, or misbehaves.

with OtlpCollector() as collector:
    ...  # OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
    spans = collector.wait_for(3)
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Thread
from typing import Any, Literal, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class ReceivedSpan:
    """`status` is 0, 1 (ok) or 2 (error); `events` are names with their attributes."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    start: int
    end: int
    status: int
    attributes: Mapping[str, Any]
    events: list[tuple[str, Mapping[str, Any]]]
    service: str


@dataclass
class OtlpCollector:
    """`behaves` may also be a status that it answers with, with this `location`."""

    behaves: Literal["well", "hangs"] | int = "well"
    location: str = ""
    spans: list[ReceivedSpan] = field(default_factory=list[ReceivedSpan])
    requests: int = 0

    def __post_init__(self) -> None:
        self._news = Condition()
        self._is_over = Event()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                collector.answer(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Tests print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_for(self, count: int) -> list[ReceivedSpan]:
        """The spans, as soon as there are so many."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.spans) >= count, SECONDS), self.spans
            return [*self.spans]

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        with self._news:
            self.requests += 1
            if self.behaves == "well" and request.path == "/v1/traces":
                self.spans += _decoded(body)
            self._news.notify_all()
        if self.behaves == "hangs":
            self._is_over.wait(SECONDS)
            return
        request.send_response(200 if self.behaves == "well" else self.behaves)
        request.send_header("Content-Type", "application/x-protobuf")
        if self.location:
            request.send_header("Location", self.location)
        request.end_headers()
        request.wfile.write(ExportTraceServiceResponse().SerializeToString())


def _decoded(body: bytes) -> list[ReceivedSpan]:
    message: Any = ExportTraceServiceRequest.FromString(body)
    return [
        ReceivedSpan(
            name=span.name,
            trace_id=span.trace_id.hex(),
            span_id=span.span_id.hex(),
            parent_id=span.parent_span_id.hex(),
            start=span.start_time_unix_nano,
            end=span.end_time_unix_nano,
            status=span.status.code,
            attributes=_attributes(span.attributes),
            events=[(event.name, _attributes(event.attributes)) for event in span.events],
            service=_attributes(resource.resource.attributes).get("service.name", ""),
        )
        for resource in message.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)
