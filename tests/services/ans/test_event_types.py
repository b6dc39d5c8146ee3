"""One table of event types: the page repeats it, the bus checks it, patterns select from it."""

import logging
from pathlib import Path

import pytest

import oracle
from oracle.errors import InputError
from oracle.services.ans.event import Event
from oracle.services.ans.event_types import EVENT_TYPES, mistake_in, select_types
from oracle.testing import RecordingBus
from tests.tables import each_row

SOURCE = Path(oracle.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "events.md"


def as_markdown():
    rows = ["| type | emitted when | payload |", "| --- | --- | --- |"]
    for name, kind in EVENT_TYPES.items():
        fields = "; ".join(f"`{field}`: {meaning}" for field, meaning in kind.payload.items())
        rows.append(f"| `{name}` | {kind.when} | {fields} |")
    return "\n".join(rows)


def test_the_page_repeats_the_table():
    assert f"\n\n{as_markdown()}\n\n" in PAGE.read_text(encoding="utf-8"), as_markdown()


def test_every_type_is_emitted_somewhere():
    files = [file for file in SOURCE.rglob("*.py") if file.name != "event_types.py"]
    source = "\n".join(file.read_text(encoding="utf-8") for file in files)
    assert [name for name in EVENT_TYPES if f'"{name}"' not in source] == []


def test_names_are_families_with_members():
    for name in EVENT_TYPES:
        family, _, member = name.partition(".")
        assert family.isidentifier()
        assert member.isidentifier()


@each_row(
    ("patterns", "names"),
    [
        (["fallback.triggered"], {"fallback.triggered"}),
        (["budget.*"], {"budget.warning", "budget.exhausted"}),
        (["*.started"], {"run.started", "turn.started"}),
        (["grant.?iven", "run.ended"], {"grant.given", "run.ended"}),
        (["*"], set(EVENT_TYPES)),
        ([], set()),
    ],
)
def test_patterns_select_types(patterns, names):
    assert select_types(patterns) == names


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("falback.triggered", "fallback.triggered"),
        ("signals.*", "signal.*"),
        ("Run.started", "run.started"),
    ],
)
def test_a_pattern_that_selects_nothing_is_refused_with_a_suggestion(pattern, near):
    with pytest.raises(InputError) as error:
        select_types([pattern])
    assert str(error.value) == f"no event type '{pattern}'; did you mean '{near}'?"


def test_where_nothing_is_near_the_families_are_listed():
    with pytest.raises(
        InputError, match=r"no event type 'zzz'; known are bert\.\*, budget\.\*, cap"
    ):
        select_types(["zzz"])


def test_an_event_that_fits_the_table_is_not_a_mistake():
    assert mistake_in(Event(type="turn.started", source="t", payload={"tools": []})) is None


def test_a_mistake_is_logged_once_and_the_event_is_delivered_all_the_same(caplog):
    bus = RecordingBus()
    for _ in range(3):
        bus.emit(Event(type="turn.strated", source="there"))
        bus.emit(Event(type="signal.missing", source="there", payload={"turns": 1}))
    assert [(level, text.partition(",")[0]) for _, level, text in caplog.record_tuples] == [
        (logging.ERROR, "no event type 'turn.strated'; did you mean 'turn.started'?"),
        (
            logging.ERROR,
            "the payload of signal.missing lacks ['turns_without_signal'] "
            "and has the unknown keys ['turns']",
        ),
    ]
    assert len(bus.events) == 6


def test_the_name_of_a_family_means_all_of_it():
    assert select_types(["tool"]) == select_types(["tool.*"]) == {"tool.called", "tool.returned"}
