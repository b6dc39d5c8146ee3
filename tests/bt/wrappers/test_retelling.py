"""Every kind of run can be told: replayed with its decisions, or from its record alone."""

import pytest
from rich.cells import cell_len

from oracle.bt.wrappers.retelling import retold
from oracle.bt.wrappers.run_store import open_store
from oracle.cli.terminal.story_lines import Heading, story_lines
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.bus import event_bus_replaced
from oracle.services.storage.database import as_url
from oracle.services.story.from_records import tell_records
from oracle.services.story.story import tell
from oracle.testing import RecordingBus
from tests.scenarios import SCENES, play
from tests.tables import each_row

HEADING = Heading(run="0a1b", question="why?", about=["model x"], has_costs=True, state="")


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return as_url(tmp_path_factory.mktemp("told") / "o.db")


async def told_run(database, scene):
    async with open_store(database) as store:
        said = await play(scene, store=store)
        run = await store.runs.get(said[-1]["run_id"])
        return said, await retold(store, run)


KINDS = (
    *("5 turns", "cancelled in a tool", "the model dies", "tools fail", "stuck", "refused"),
    *("partial", "a broad question", "malformed", "silence", "the same call", "tokens", "one turn"),
)
"""One of each kind of run; the others are told by `make test-extra`."""


@pytest.mark.parametrize(
    "name",
    [name if name in KINDS else pytest.param(name, marks=pytest.mark.extra) for name in SCENES],
)
async def test_a_replayed_story_is_the_one_that_was_lived(database, name):
    said, told = await told_run(database, SCENES[name])
    assert told.not_replayed == ""
    lived = tell(said)
    assert told.story == lived
    assert lived.stop_reason == SCENES[name].stop
    assert sum(turn.tokens for turn in lived.turns) == lived.usage["tokens"]
    decisions = [step for turn in lived.turns for step in turn.steps if step.kind == "decision"]
    assert all("/" in step.node for step in decisions)
    check_record(told)


@each_row("name", ["silence", "stuck", "tokens", "one turn", "cancelled in a tool"])
async def test_each_turn_ends_once_in_the_events(name):
    with event_bus_replaced(RecordingBus()) as bus:
        await play(SCENES[name])
    ended = [event.turn for event in bus.events if event.type == "turn.ended"]
    begun = [event.turn for event in bus.events if event.type == "turn.started"]
    assert ended == begun


async def test_a_signal_that_cannot_be_read_is_told(database):
    _, told = await told_run(database, SCENES["malformed"])
    notes = [step.text for turn in told.story.turns for step in turn.steps if step.kind == "note"]
    assert any(text.startswith("A signal of the model cannot be read: ") for text in notes)


async def test_the_events_have_every_decision_of_the_story():
    with event_bus_replaced(RecordingBus()) as bus:
        said = await play(SCENES["insists"])
    decided = [
        (chunk["verdict"], chunk["reason"]) for chunk in said if chunk.type == ChunkType.VERDICT
    ]
    recorded = [
        (event.payload["verdict"], event.payload["reason"])
        for event in bus.events
        if event.type == "decision.made"
    ]
    assert decided == recorded
    assert "nothing was gathered" in dict(recorded)["not_believed"]


async def test_an_unknown_price_is_null_for_programs(database):
    _, told = await told_run(database, SCENES["silence"])
    data = told.as_data()
    assert data["story"]["usage"]["money"] is data["run"]["usage"]["money"] is None


def check_record(told):
    """The record alone has the calls and the end, and both stories fit any width."""
    story = tell_records(told.records)
    assert (story.stop_reason, story.answer) == (told.story.stop_reason, told.story.answer)
    for width in (None, 40):
        lines = [line.text for line in story_lines(HEADING, told.story, width)]
        lines += [line.text for line in story_lines(HEADING, story, width)]
        assert not any("{'" in line for line in lines)
        assert [line for line in lines if width and cell_len(line) > width] == []
