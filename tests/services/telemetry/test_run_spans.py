"""Events of a run as spans: which ones, their names, times and ids, and what they never say."""

import json

import pytest

from oracle.services.ans.event import Event
from oracle.services.ans.event_types import EVENT_TYPES
from oracle.services.telemetry import names
from oracle.services.telemetry.otlp_json import as_otlp_json, nanoseconds
from oracle.services.telemetry.run_spans import SAFE, RunSpans
from oracle.services.telemetry.span import span_id_of, trace_id_of

RUN = "0123456789abcdef0123456789abcdef"
USAGE = {"turns": 1, "tokens": 100, "money": 0.25}
SECRET = "the secret question"


def event(at, type_, turn=1, **payload):
    return Event(type=type_, source="node", payload=payload, run_id=RUN, turn=turn, at=at)


def started(at=0.0, resumed=False, model="openai:gpt-5"):
    given = {"question": SECRET, "tree": "oracle-agent", "model": model, "resumed": resumed}
    return event(at, "run.started", 0, **given)


def called(at, tool="read_file", id_="c1", turn=1):
    return event(at, "tool.called", turn, call_id=id_, tool=tool, arguments={"path": SECRET})


def returned(at, tool="read_file", id_="c1", turn=1, success=True, seconds=0.5):
    error = None if success else SECRET
    fields = {"call_id": id_, "tool": tool, "success": success, "seconds": seconds, "error": error}
    return event(at, "tool.returned", turn, **fields)


def whole_run():
    yield started(10.0)
    yield event(11.0, "turn.started", tools=["read_file", "search_code"])
    yield event(13.0, "signal.received", type="need_turn", confidence=0.8, raw_xml=SECRET)
    yield event(13.0, "decision.made", signal="need_turn", verdict="granted", reason=SECRET)
    yield called(13.0)
    yield called(13.0, "search_code", "c2")
    yield returned(14.0)
    yield returned(14.0, "search_code", "c2", success=False)
    yield event(14.5, "turn.ended", outcome="tools", usage=USAGE)
    yield event(15.0, "turn.started", 2, tools=[])
    yield event(17.0, "turn.ended", 2, outcome="answer", usage={**USAGE, "tokens": 160})
    ended = {"stop_reason": "answered", "turns": 2, "usage": {**USAGE, "tokens": 160}}
    yield event(18.0, "run.ended", 2, **ended, missing=[SECRET])


def spans_of(events, *, content=False, answer=""):
    run = RunSpans(RUN, content=content)
    spans = [span for each in events for span in run.feed(each)]
    run.answered(answer)
    return spans + run.rest()


def test_a_run_is_one_trace_below_one_root():
    spans = spans_of(whole_run())
    assert [(span.name, span.start, span.end) for span in spans] == [
        ("execute_tool read_file", 13.0, 13.5),
        ("retrieval search_code", 13.0, 13.5),
        # The request ends with what follows from the response, not with the tools.
        ("chat openai:gpt-5", 11.0, 13.0),
        ("chat openai:gpt-5", 15.0, 17.0),
        ("invoke_agent oracle", 10.0, 18.0),
    ]
    assert {span.trace_id for span in spans} == {RUN}
    assert [span.parent_id for span in spans] == [spans[-1].span_id] * 4 + [None]
    assert len({span.span_id for span in spans}) == 5


def test_the_attributes_have_the_names_of_the_conventions():
    read, search, first, second, root = spans_of(whole_run())
    assert root.attributes[names.OPERATION] == "invoke_agent"
    assert root.attributes["gen_ai.request.model"] == "openai:gpt-5"
    assert root.attributes["gen_ai.provider.name"] == "openai"
    assert root.attributes["oracle.stop_reason"] == "answered"
    assert first.attributes["gen_ai.operation.name"] == "chat"
    # The usage of an event is that of the run so far; a span has its own.
    assert [each.attributes[names.TOKENS] for each in (first, second)] == [100, 60]
    assert [each.attributes[names.COST] for each in (first, second)] == [0.25, 0.0]
    assert (read.attributes["gen_ai.tool.name"], read.is_error) == ("read_file", False)
    assert (search.attributes["error.type"], search.is_error) == ("tool_failed", True)


def test_signals_are_events_of_their_turn_and_decisions_of_the_run():
    *_, first, _, root = spans_of(whole_run())
    assert [(each.name, each.at) for each in first.events] == [("signal.received", 13.0)]
    assert first.events[0].attributes["oracle.confidence"] == 0.8
    assert [each.name for each in root.events] == ["decision.made"]


def test_without_being_asked_nothing_of_the_content_is_said():
    assert SECRET not in repr(spans_of(whole_run(), answer=SECRET))


def test_content_is_redacted():
    key = "sk-proj-" + "a1B2c3D4" * 6
    events = [*whole_run()]
    events[0] = event(10.0, "run.started", 0, question=f"{SECRET} {key}", tree="t", model="m")
    spans = spans_of(events, content=True, answer=f"The answer, {key}")
    said = repr(spans)
    assert SECRET in said
    assert "The answer" in said
    assert key not in said
    (message,) = json.loads(spans[-1].attributes["gen_ai.input.messages"])
    assert (message["role"], message["parts"][0]["type"]) == ("user", "text")


def test_a_resumed_run_has_the_same_trace_and_the_same_root():
    first = RunSpans(RUN)
    before = [span for each in [*whole_run()][:7] for span in first.feed(each)]
    second = RunSpans(RUN)
    after = [
        span for each in [started(20.0, resumed=True), *whole_run()] for span in second.feed(each)
    ]
    after += second.rest()
    root = after[-1]
    assert root.attributes["oracle.resumed"] is True
    assert {span.trace_id for span in before + after} == {RUN}
    assert {span.parent_id for span in before} == {root.span_id}


def test_what_was_under_way_at_a_crash_is_cut_there():
    events = [*whole_run()][:5]
    spans = spans_of([*events, started(30.0, resumed=True)])
    assert [(span.name, span.end) for span in spans[:2]] == [
        ("execute_tool read_file", 30.0),
        ("chat openai:gpt-5", 13.0),
    ]


@pytest.mark.parametrize("reason", ["internal_error", "model_unavailable"])
def test_a_run_that_failed_is_an_error(reason):
    ended = event(2.0, "run.ended", stop_reason=reason, turns=0, usage={}, missing=[])
    (root,) = spans_of([started(), ended])
    assert (root.is_error, root.attributes["error.type"]) == (True, reason)


def test_a_call_that_was_refused_is_no_span():
    (root,) = spans_of([started(), returned(1.0, success=False)])
    assert [(each.name, each.attributes) for each in root.events] == [
        ("tool.not_run", {"gen_ai.tool.name": "read_file"})
    ]


def test_every_type_of_event_is_a_span_or_an_event_of_one():
    spans = {"run.started", "run.ended", "turn.started", "turn.ended", "tool.called"}
    spans |= {"tool.returned"}
    without_run = {"events.dropped"}
    assert EVENT_TYPES.keys() == SAFE.keys() | spans | without_run
    for type_, fields in SAFE.items():
        assert set(fields) <= EVENT_TYPES[type_].payload.keys()


@pytest.mark.parametrize("payload", [{}, {"usage": None}, {"call_id": None, "tools": None}])
@pytest.mark.parametrize("type_", EVENT_TYPES)
def test_an_event_of_another_version_does_no_harm(type_, payload):
    assert spans_of([started(), event(1.0, type_, None, **payload)])


@pytest.mark.parametrize(
    ("run_id", "expected"),
    [(RUN, RUN), ("0" * 32, None), ("run-1", None), ("", None), ("A" * 32, None)],
)
def test_a_trace_is_found_by_the_id_of_its_run(run_id, expected):
    found = trace_id_of(run_id)
    assert len(found) == 32
    assert int(found, 16) > 0
    assert expected is None or found == expected
    assert len(span_id_of(run_id, "turn", 1)) == 16


def test_the_json_form_has_ids_in_hex_and_large_numbers_as_text():
    written = json.loads(as_otlp_json(spans_of(whole_run())))
    (resource,) = written["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    assert len(spans) == 5
    assert spans[0]["traceId"] == RUN
    assert spans[0]["startTimeUnixNano"] == "13000000000"
    assert {"key": "service.name", "value": {"stringValue": "oracle"}} in resource["resource"][
        "attributes"
    ]
    assert "parentSpanId" not in spans[-1]


def test_nanoseconds_keep_the_microseconds():
    assert nanoseconds(1794980708.345541) == 1794980708345541000
