"""Wherever a run dies, the process that goes on with it first says again what was said before, and
in the end its record says all of that.
"""

from dataclasses import replace

import pytest

from oracle.bt.wrappers.recipe import services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.errors import ReplayDiverged
from oracle.services.agent_services import AgentServices
from oracle.services.journal import MemorySink
from oracle.testing import ScriptedModel, ScriptedTools, signal
from tests.bt.wrappers.test_agent_replay import run_of
from tests.scenarios import NAMES, SCENES

pytestmark = pytest.mark.extra

REST = "It is in `auth.py:3`." + signal("context_sufficient", sources_found=1)
NEED_A_HAND = ("cancelled", "time")
"""How the names of scenes begin in which something waits until it is stopped."""
SELF_ENDING = [n for n in NAMES if isinstance(n, str) and not n.startswith(NEED_A_HAND)]


def deaths(records):
    """What may be on record: any number of records, and of the parts of a stream the first ones."""
    for count, record in enumerate(records[:-1]):
        parts = len(record.body) if record.kind == "parts" else 1
        for some in range(1, parts):
            cut = replace(record, body=record.body[:some], times=record.times[:some])
            yield [*records[:count], cut]
        yield records[: count + 1]


def words(chunks):
    return [(chunk.type, chunk.data.get("content")) for chunk in chunks]


async def told(records, contents):
    """What a listener has heard if this is all that is on record."""
    said = []

    def hear(chunk):
        if tree.journal.diverged is None:
            said.append(chunk)

    live = AgentServices(say=hear)
    tree = RecordedTree.replay(
        records, contents, services=lambda recipe: services_from(recipe, live)
    )
    try:
        await tree.settle()
    except ReplayDiverged:
        assert records[-1].kind != "end"
    return words(said)


async def gone_on(scene, records, contents):
    """What another process says, and its record."""
    sink, said = MemorySink(), []
    model = ScriptedModel(REST, repeats_last=True)
    tools = ScriptedTools(scene.tools)
    live = AgentServices(model=model, tools=tools, approve=scene.approve, say=said.append)
    run = RecordedTree.resume(
        records, contents, sink, services=lambda recipe: services_from(recipe, live)
    )
    await run.settle()
    return words(said), [*records, *sink.records]


# Some of them: a scene is played again about fifty times.
@pytest.mark.parametrize("name", SELF_ENDING[::4])
async def test_who_goes_on_takes_nothing_back(name):
    scene, sink, said = SCENES[name], MemorySink(), []
    await run_of(scene, sink, say=said.append).settle()
    whole = words(said)
    for records in deaths(sink.records):
        heard = await told(records, sink.contents)
        assert heard == whole[: len(heard)]
        again, record = await gone_on(scene, records, sink.contents)
        assert again[: len(heard)] == heard
        assert await told(record, sink.contents) == again
