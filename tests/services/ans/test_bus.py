"""The bus delivers to each subscriber what it asked for, in order, whatever the others do."""

import threading

import pytest

from oracle.errors import InputError
from oracle.services.ans.bus import EventBus, event_bus_replaced, get_event_bus
from oracle.services.ans.event import Event
from oracle.testing import RecordingBus


def event(number=0, type_="signal.missing"):
    return Event(type=type_, source="test", payload={"turns_without_signal": number})


def test_subscribers_hear_events_in_order_until_they_end_it():
    bus, heard = EventBus(), []
    unsubscribe = bus.subscribe(lambda e: heard.append(e.payload["turns_without_signal"]))
    for number in range(5):
        bus.emit(event(number))
    unsubscribe()
    unsubscribe()
    bus.emit(event(5))
    assert heard == [0, 1, 2, 3, 4]


def test_one_callback_may_subscribe_twice_and_ends_once():
    bus, heard = EventBus(), []
    bus.subscribe(heard.append)
    bus.subscribe(heard.append)()
    bus.emit(event())
    assert len(heard) == 1


def test_a_subscriber_hears_only_the_types_that_it_asked_for():
    bus, heard = EventBus(), []
    bus.subscribe(lambda e: heard.append(e.type), types=["signal.*", "run.ended"])
    for type_ in ("signal.missing", "run.started", "run.ended", "signal.malformed"):
        bus.emit(Event(type=type_, source="test"))
    assert heard == ["signal.missing", "run.ended", "signal.malformed"]


def test_asking_for_a_type_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"did you mean 'signal.missing'\?"):
        EventBus().subscribe(print, types=["signal.mising"])


def test_a_failing_subscriber_is_logged_and_the_others_still_hear(caplog):
    bus, heard = EventBus(), []

    def fail(_):
        raise RuntimeError("broken")

    bus.subscribe(fail)
    bus.subscribe(heard.append)
    bus.emit(event(1))
    bus.emit(event(2))
    assert len(heard) == 2
    assert caplog.text.count("RuntimeError: broken") == 2


def test_emitting_something_else_than_an_event_does_not_break_the_caller(caplog):
    RecordingBus().emit("nonsense")
    assert "failed at 'nonsense'" in caplog.text


def test_a_subscriber_that_emits_what_it_hears_ends(caplog):
    bus = RecordingBus()
    bus.subscribe(bus.emit)
    bus.emit(event())
    assert "RecursionError" in caplog.text


def test_the_keyboard_still_interrupts():
    bus = EventBus()

    def interrupted(_):
        raise KeyboardInterrupt

    bus.subscribe(interrupted)
    with pytest.raises(KeyboardInterrupt):
        bus.emit(event())


def test_threads_keep_their_own_order_and_lose_nothing():
    bus = RecordingBus()

    def work(name):
        for number in range(500):
            bus.emit(Event(type="signal.missing", source=name, payload=event(number).payload))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "abcd":
        mine = [e.payload["turns_without_signal"] for e in bus.events if e.source == name]
        assert mine == list(range(500))


def test_the_bus_of_the_process_can_be_replaced_for_a_while():
    usual = get_event_bus()
    with event_bus_replaced(RecordingBus()) as bus:
        get_event_bus().emit(event())
    assert bus.types == ["signal.missing"]
    assert get_event_bus() is usual
