from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest

from oracle.models.signals import SIGNALS, AgentSignalState, FieldValue, Signal, SignalType
from tests.tables import each_row

NOW = datetime(2026, 1, 8, 12, 0, tzinfo=UTC)


def need_turn(reason: str) -> Signal:
    return Signal(
        type=SignalType.NEED_TURN,
        confidence=0.6,
        fields={"reason": reason},
        raw_xml="<signal/>",
        timestamp=NOW,
    )


STUCK = Signal(
    type=SignalType.STUCK,
    confidence=0.9,
    fields={"attempted": ["search_code", "read_file"], "blocker": "no such file"},
    raw_xml='<signal type="stuck">…</signal>',
    timestamp=NOW,
)


def test_every_type_is_declared_with_a_required_field_and_a_meaning_for_each() -> None:
    assert set(SIGNALS) == set(SignalType)
    for spec in SIGNALS.values():
        assert spec.required_names
        assert spec.meaning
        assert all(field.meaning for field in spec.fields)


def test_a_signal_stands_on_the_blackboard_as_one_flat_dict() -> None:
    assert STUCK.to_dict() == {
        "type": "stuck",
        "confidence": 0.9,
        "attempted": ["search_code", "read_file"],
        "blocker": "no such file",
        "raw_xml": '<signal type="stuck">…</signal>',
        "timestamp": "2026-01-08T12:00:00+00:00",
    }


def test_a_dict_becomes_the_same_signal_again() -> None:
    assert Signal.from_dict(STUCK.to_dict()) == STUCK
    assert Signal.from_dict({**STUCK.to_dict(), "turn": 3}) == STUCK


def test_a_dict_shares_no_list_with_its_signal() -> None:
    STUCK.to_dict()["attempted"].append("guess")
    assert STUCK.fields["attempted"] == ["search_code", "read_file"]


def test_a_signal_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        STUCK.confidence = 0.1  # type: ignore[misc]
    with pytest.raises(TypeError):
        STUCK.fields["blocker"] = ""  # type: ignore[index]


def test_a_signal_keeps_no_hold_on_the_dict_it_was_given() -> None:
    fields: dict[str, FieldValue] = {"reason": "more"}
    signal = Signal(
        type=SignalType.NEED_TURN, confidence=1, fields=fields, raw_xml="<signal/>", timestamp=NOW
    )
    fields.clear()
    assert signal.fields == {"reason": "more"}


@each_row(
    ("change", "message"),
    [
        ({"confidence": 1.01}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"raw_xml": ""}, "raw_xml"),
        ({"blocker": ""}, "blocker"),
        ({"attempted": []}, "attempted"),
        ({"type": "bored"}, "bored"),
    ],
)
def test_a_signal_that_breaks_the_table_cannot_be_made(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Signal.from_dict({**STUCK.to_dict(), **change})


@each_row(
    ("reasons", "count"),
    [
        (["read the tests"], 1),
        (["read the tests", "read the tests"], 2),
        (["read the tests", "Read  the\ntests."] * 2, 4),
        (["read the tests", "read the code"], 1),
        (["read the tests", "read the code", "read the code"], 2),
        (["Straße", "STRASSE"], 2),
        (["read `main()`", "Read main"], 2),
        (["the C++ file", "the C file"], 1),
        (["x > 3", "x < 3"], 1),
        (["line 1-2", "line 12"], 1),
        (["कि", "क"], 1),
    ],
)
def test_the_same_reason_is_counted_whatever_its_case_spaces_and_punctuation(
    reasons: list[str], count: int
) -> None:
    state = AgentSignalState()
    for reason in reasons:
        state = state.after_signal(need_turn(reason))
    assert state.consecutive_same_reason == count


def test_only_need_turn_counts_and_any_other_type_starts_anew() -> None:
    more = need_turn("more").to_dict()
    twice = AgentSignalState().after_signal(more).after_signal(more)
    interrupted = twice.after_signal(STUCK.to_dict())
    assert interrupted.consecutive_same_reason == 0
    assert interrupted.after_signal(more).consecutive_same_reason == 1


def test_a_turn_without_signal_resets_the_reason_and_keeps_the_rest() -> None:
    more = need_turn("more").to_dict()
    state = AgentSignalState().after_signal(more).after_turn_without_signal()
    assert state.consecutive_same_reason == 0
    assert state.turns_without_signal == 1
    assert state.last_signal == more
    again = state.after_signal(more)
    assert (again.consecutive_same_reason, again.turns_without_signal) == (1, 0)


def test_a_transition_leaves_the_state_it_started_from_alone() -> None:
    state = AgentSignalState()
    after = state.after_signal(STUCK)
    assert state == AgentSignalState()
    assert after.signals_emitted == [STUCK.to_dict()]
    assert after.last_signal == STUCK.to_dict()
