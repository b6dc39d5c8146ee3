"""Every kind of run can be told: replayed with its decisions, or from its record alone."""

import pytest
from rich.cells import cell_len

from oracle.bt.wrappers.retelling import retold
from oracle.bt.wrappers.run_store import open_store
from oracle.cli.terminal.story_lines import Heading, story_lines
from oracle.services.storage.database import as_url
from oracle.services.story.from_records import tell_records
from oracle.services.story.story import tell
from tests.scenarios import SCENES, play

HEADING = Heading(run="0a1b", question="why?", about=["model x"], model="x", state="")


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


def check_record(told):
    """The record alone has the calls and the end, and both stories fit any width."""
    story = tell_records(told.records)
    assert (story.stop_reason, story.answer) == (told.story.stop_reason, told.story.answer)
    for width in (None, 40):
        lines = [line.text for line in story_lines(HEADING, told.story, width)]
        lines += [line.text for line in story_lines(HEADING, story, width)]
        assert not any("{'" in line for line in lines)
        assert width is None or all(cell_len(line) <= width for line in lines)
