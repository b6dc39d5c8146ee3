"""An event knows its run and turn, and its payload is always JSON."""

import asyncio
import json
import logging
import time
from dataclasses import FrozenInstanceError

import pytest

from oracle.services.ans.bus import EventBus
from oracle.services.ans.event import Event, Severity, running_in
from tests.tables import each_row


def event(**fields):
    return Event(**{"type": "turn.started", "source": "test", **fields})


def test_an_event_is_frozen_and_takes_keywords_only():
    with pytest.raises(FrozenInstanceError):
        event().type = "other"
    with pytest.raises(TypeError):
        Event("turn.started", "test")


def test_outside_of_a_run_there_is_neither_run_nor_turn_and_the_time_is_now():
    before = time.time()
    made = event()
    assert (made.run_id, made.turn, made.severity) == (None, None, Severity.INFO)
    assert before <= made.at <= time.time()


def test_run_turn_and_time_come_from_the_surroundings_and_end_with_them():
    with running_in("r1", 2, clock=lambda: 5.0):
        outer = event()
        with running_in("r1", 3):
            inner = event()
        again = event()
    assert [(e.run_id, e.turn, e.at) for e in (outer, inner, again)] == [
        ("r1", 2, 5.0),
        ("r1", 3, 5.0),
        ("r1", 2, 5.0),
    ]
    assert event().run_id is None


def test_what_is_given_wins_over_the_surroundings():
    with running_in("r1", 2):
        made = event(run_id=None, turn=7, at=1.5)
    assert (made.run_id, made.turn, made.at) == (None, 7, 1.5)


async def test_concurrent_runs_do_not_mix():
    async def one(run_id):
        with running_in(run_id, 1):
            await asyncio.sleep(0)
            return await asyncio.create_task(made_in_a_task())

    async def made_in_a_task():
        return event().run_id

    assert await asyncio.gather(one("a"), one("b")) == ["a", "b"]


def test_the_stored_payload_is_the_one_of_the_moment_of_emission():
    payload, stored = {"tools": ["a"]}, []
    made = event(payload=payload)
    EventBus(lambda emitted: stored.append(emitted.payload_json)).emit(made)
    payload["tools"].append("b")
    assert json.loads(made.payload_json) == json.loads(stored[0]) == {"tools": ["a"]}


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


def nested_for_ever():
    payload = {}
    payload["self"] = payload
    return payload


@pytest.mark.parametrize(
    ("payload", "kept"),
    [
        ({"x": {1}}, "{'x': {1}}"),
        ({"x": float("nan")}, "{'x': nan}"),
        ({("a", "b"): 1}, "{('a', 'b'): 1}"),
        (["not", "a", "dict"], "['not', 'a', 'dict']"),
        (None, "None"),
        (nested_for_ever(), "{'self': {...}}"),
        ({"x": b"\xff", "y": "\ud800"}, "{'x': b'\\xff', 'y': '\\ud800'}"),
        ({"x": Unprintable()}, "<dict, whose repr fails: RuntimeError>"),
    ],
)
def test_a_payload_that_is_not_json_is_reported_and_kept_as_its_repr(payload, kept, caplog):
    made = event(payload=payload)
    assert made.payload == json.loads(made.payload_json) == {"not_json": kept}
    assert caplog.record_tuples[0][1] == logging.ERROR
    assert "the payload of turn.started from test is not JSON" in caplog.text


@each_row(
    ("text", "stored"),
    [
        ("größer 😀", "größer 😀"),
        ("nul \0 here", "nul \ufffd here"),
        (r"the words \u0000 and \\u0000", r"the words \u0000 and \\u0000"),
        ("\\\0", "\\\ufffd"),
        ("half \ud83d of it", "half \ufffd of it"),
    ],
)
def test_text_that_a_database_cannot_keep_is_repaired(text, stored):
    assert json.loads(event(payload={"text": text}).payload_json) == {"text": stored}
