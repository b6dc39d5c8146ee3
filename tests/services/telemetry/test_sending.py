"""Spans on their way to a collector that works, refuses, hangs, or is not there."""

import asyncio
import socket
import threading
from contextlib import asynccontextmanager

import pytest

from oracle import Oracle
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import open_store
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.bus import EventBus, event_bus_replaced
from oracle.services.ans.event import Event
from oracle.services.installing import install_command
from oracle.services.storage.database import url_for_writing
from oracle.services.telemetry import live
from oracle.services.telemetry.live import Telemetry, address_in, wants_content
from oracle.services.telemetry.sending import Sender
from oracle.services.telemetry.span import Span
from oracle.settings import load_settings
from oracle.testing import Reply, ScriptedModel, signal
from oracle.testing.otlp import OtlpCollector
from tests.timing import within

RUN = "0123456789abcdef0123456789abcdef"


LOOK = Reply(text=signal("need_turn", reason="look"), calls=[("search_code", {"query": "login"})])
FOUND = "In `auth.py:1`." + signal("context_sufficient", sources_found=1)


def make_project(folder):
    (folder / "oracle.toml").touch()
    (folder / "auth.py").write_text("def login():\n    return True\n")
    return folder


def span(number=1):
    return Span(
        name=f"span {number}",
        trace_id=RUN,
        span_id=f"{number:016x}",
        parent_id=None,
        start=1.5,
        end=2.5,
        attributes={"text": "a", "number": 1, "share": 0.5, "flag": True, "list": ["a", "b"]},
    )


@pytest.fixture
def collector(monkeypatch):
    with OtlpCollector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "60")
        yield collector


@pytest.fixture
def bus():
    """One that nobody else hears, and that is forgotten."""
    with event_bus_replaced(EventBus()) as bus:
        yield bus
    live._live.pop(bus, None)


def warnings_in(caplog):
    return [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]


def test_a_collector_gets_what_was_put(collector):
    sender = Sender(collector.url)
    sender.put([span(1), span(2)])
    assert sender.flush(60)
    first, second = collector.spans
    assert (first.name, second.name) == ("span 1", "span 2")
    assert (first.trace_id, first.span_id, first.parent_id) == (RUN, f"{1:016x}", "")
    assert (first.start, first.end) == (1_500_000_000, 2_500_000_000)
    assert first.attributes == {
        "text": "a",
        "number": 1,
        "share": 0.5,
        "flag": True,
        "list": ["a", "b"],
    }
    assert first.service == "oracle"


def test_the_name_of_the_service_is_that_of_the_user(collector, monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-oracle")
    sender = Sender(collector.url)
    sender.put([span()])
    assert sender.flush(60)
    assert collector.spans[0].service == "my-oracle"


@pytest.mark.parametrize("behaves", [400, 401, 500])
def test_a_collector_that_refuses_is_reported_once(monkeypatch, caplog, behaves):
    with OtlpCollector(behaves=behaves) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        sender = Sender(collector.url)
        for number in range(3):
            sender.put([span(number)])
            sender.flush(60)
    (warning,) = warnings_in(caplog)
    assert warning.startswith(f"traces cannot be sent to {collector.url}")
    assert "answers are not affected" in warning


@pytest.mark.parametrize("behaves", [301, 302, 307, 308])
def test_a_collector_cannot_send_traces_on_to_another_server(monkeypatch, caplog, behaves):
    with OtlpCollector() as other:
        with OtlpCollector(behaves=behaves, location=f"{other.url}/v1/traces") as collector:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
            sender = Sender(collector.url)
            sender.put([span()])
            sender.flush(60)
        assert other.requests == 0
    assert len(warnings_in(caplog)) == 1


def test_a_collector_that_is_not_there_is_reported_once(monkeypatch, caplog):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    sender = Sender(url)
    for number in range(2):
        sender.put([span(number)])
        sender.flush(60)
    assert len(warnings_in(caplog)) == 1


def test_nobody_waits_for_a_collector_that_hangs(monkeypatch, caplog):
    with OtlpCollector(behaves="hangs") as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        sender = Sender(collector.url)
        sender.put([span()])
        assert not sender.flush(0.01)
        with within(5):
            for number in range(1000):
                sender.put([span(number)])
            assert not sender.flush(60)  # one that failed before is not waited for
    assert len(warnings_in(caplog)) == 1


def test_the_queue_has_a_bound(caplog):
    hold, sent = threading.Event(), []

    def export(spans):
        hold.wait(60)
        sent.extend(spans)
        return True

    sender = Sender("here", open_export=lambda: export, bound=10)
    sender.put([span(number) for number in range(1000)])
    assert len(sender._waiting) <= 10
    hold.set()
    with sender._news:
        assert sender._news.wait_for(sender._is_idle, 60)
    assert len(sent) == 10
    assert "more is to be sent than it takes" in warnings_in(caplog)[0]


def test_an_exporter_that_raises_does_not_end_the_thread(caplog):
    tried = []

    def export(spans):
        tried.append(len(spans))
        raise RuntimeError("broken")

    sender = Sender("here", open_export=lambda: export)
    for _ in range(2):
        sender.put([span()])
        with sender._news:
            assert sender._news.wait_for(sender._is_idle, 60)
    assert tried == [1, 1]
    assert "RuntimeError: broken" in warnings_in(caplog)[0]


def test_missing_packages_are_named_once_a_day(caplog):
    def open_export():
        raise ImportError("No module named 'opentelemetry'")

    for _ in range(2):
        sender = Sender("here", open_export=open_export)
        sender.put([span()])
        assert sender.flush(60)
        sender._thread.join(60)
    (warning,) = warnings_in(caplog)
    assert install_command("otel") in warning


# -- the subscriber --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, "http://a"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, None),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b"}, "http://b"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_TRACES_EXPORTER": "none"}, None),
    ],
)
def test_the_variables_of_opentelemetry_say_where_to(environment, expected):
    assert address_in(environment) == expected


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("TRUE", True), ("", False)])
def test_content_is_sent_only_if_it_is_asked_for(value, expected):
    name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    assert wants_content({name: value}) is expected


@pytest.mark.parametrize(("value", "expected"), [("7.5", 7.5), ("soon", 1.0), ("", 1.0)])
def test_the_end_of_the_process_waits_a_bounded_time(value, expected):
    assert live.seconds_at_exit({"OTEL_EXPORTER_OTLP_TIMEOUT": value}) == expected


def test_runs_that_never_end_are_let_go(monkeypatch):
    monkeypatch.setattr(live, "MOST_RUNS", 2)
    telemetry = Telemetry(Sender("here", open_export=lambda: lambda _: True), content=False)
    for number in range(5):
        telemetry(Event(type="run.started", source="run", run_id=str(number), turn=0, at=1.0))
    assert [*telemetry._runs] == ["3", "4"]


@pytest.mark.parametrize("content", [False, True])
async def test_a_question_is_a_trace_at_the_collector(
    collector, bus, tmp_path, monkeypatch, content
):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", str(content))
    model = ScriptedModel(LOOK, FOUND)
    async with Oracle(project=make_project(tmp_path), model=model) as oracle:
        answer = await oracle.ask("Where is login defined?")
    live.flush_at_exit()
    spans = collector.wait_for(4)
    assert [each.name for each in spans] == [
        "retrieval search_code",
        "chat scripted",
        "chat scripted",
        "invoke_agent oracle",
    ]
    assert {each.trace_id for each in spans} == {answer.run_id}
    assert spans[-1].attributes["oracle.stop_reason"] == "answered"
    said = repr(spans)
    for text in ("Where is login defined?", "In `auth.py:1`.", '"query"'):
        assert (text in said) is content


@asynccontextmanager
async def process(settings, model):
    """As far as telemetry knows: a bus of its own, and nothing remembered."""
    with event_bus_replaced(EventBus()) as bus:
        async with open_store(url_for_writing(settings)) as store:
            yield project_agent(settings, model=model, store=store)
        live.flush_at_exit()
        del live._live[bus]


async def test_a_run_that_is_resumed_in_another_process_is_one_trace(collector, tmp_path):
    settings = load_settings(make_project(tmp_path))
    async with process(settings, ScriptedModel(LOOK, Reply(hold=asyncio.Event()))) as agent:
        run = agent.new_run("Where is login defined?")
        async for chunk in run.chunks():
            if chunk.type == ChunkType.TURN_START and chunk.turn == 2:
                run.hand_over()
    before = [each.name for each in collector.spans]
    async with process(settings, ScriptedModel(FOUND)) as agent:
        chunks = [chunk async for chunk in agent.resume(run.tree.id)]
    *_, root = collector.spans
    assert before == ["retrieval search_code", "chat scripted"]
    assert [each.name for each in collector.spans[2:]] == ["chat scripted", "invoke_agent oracle"]
    assert {each.trace_id for each in collector.spans} == {run.tree.id} == {chunks[-1]["run_id"]}
    assert {each.parent_id for each in collector.spans[:-1]} == {root.span_id}
    assert root.attributes["oracle.resumed"] is True
