"""Scenes as recordings, for tests of replays against a change."""

from oracle.bt.wrappers.decisions.change import NO_CHANGE, Change
from oracle.bt.wrappers.decisions.playing import recorded
from oracle.bt.wrappers.decisions.recording import Recording
from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.services.agent_services import AgentServices
from oracle.services.control.ledger import Limits
from oracle.services.journal import MemorySink
from oracle.services.journal.run_clock import REAL_TIME
from oracle.services.journal.simulated_time import SimulatedTime
from oracle.testing import ScriptedTools
from tests.scenarios import SCENES, Scene


async def recording_of(scene: str | Scene, change: Change = NO_CHANGE) -> Recording:
    """What a scene really does, with a change if one is given."""
    sink = await played_scene(SCENES[scene] if isinstance(scene, str) else scene, change)
    return await recorded(sink.records, sink.contents)


async def played_scene(scene: Scene, change: Change = NO_CHANGE) -> MemorySink:
    """The records of a scene. It is cancelled where the scene says so.

    A scene that runs out of time does so in simulated time: on a machine that pauses, a deadline
    would be noticed so late that the run has no time left for what it does in the scene.
    """
    sink, run, simulated = MemorySink(), None, SimulatedTime()
    is_limited = scene.limits.seconds < Limits().seconds

    def listen(chunk):
        if scene.cancel_at(chunk):
            run.cancel("stop it")

    live = AgentServices(
        model=scene.model(), tools=ScriptedTools(scene.tools), approve=scene.approve, say=listen
    )
    recipe = change.applied(AgentSetup(live=live, limits=scene.limits).recipe(scene.query))
    run = RecordedTree(
        recipe,
        sink,
        services=lambda recipe: services_from(recipe, live),
        time_source=simulated if is_limited else REAL_TIME,
    )
    simulated.is_idle = lambda: run.journal.is_idle
    simulated.begin()
    try:
        await run.settle()
    finally:
        simulated.close()
    return sink
