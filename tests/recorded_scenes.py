"""Scenes as recordings, for tests of replays against a change."""

from oracle.bt.wrappers.decisions.change import NO_CHANGE, Change
from oracle.bt.wrappers.decisions.playing import recorded
from oracle.bt.wrappers.decisions.recording import Recording
from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.services.agent_services import AgentServices
from oracle.services.journal import MemorySink
from oracle.testing import ScriptedTools
from tests.scenarios import SCENES, Scene


async def recording_of(scene: str | Scene, change: Change = NO_CHANGE) -> Recording:
    """What a scene really does, with a change if one is given."""
    sink = await played_scene(SCENES[scene] if isinstance(scene, str) else scene, change)
    return await recorded(sink.records, sink.contents)


async def played_scene(scene: Scene, change: Change = NO_CHANGE) -> MemorySink:
    """The records of a scene. It is cancelled where the scene says so."""
    sink, run = MemorySink(), None

    def listen(chunk):
        if scene.cancel_at(chunk):
            run.cancel("stop it")

    live = AgentServices(
        model=scene.model(), tools=ScriptedTools(scene.tools), approve=scene.approve, say=listen
    )
    recipe = change.applied(AgentSetup(live=live, limits=scene.limits).recipe(scene.query))
    run = RecordedTree(recipe, sink, services=lambda recipe: services_from(recipe, live))
    await run.settle()
    return sink
