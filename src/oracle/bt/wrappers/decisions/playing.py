"""Plays a recorded run: as it was, or against a change with the answers that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.effects import Effects
from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.wrappers.decisions.change import NO_CHANGE, Change
from oracle.bt.wrappers.decisions.lookup import Course, LookedUpEffects, RecordedEffects
from oracle.bt.wrappers.decisions.recording import Cancelled, Decisions, Recording
from oracle.bt.wrappers.decisions.watching import Watch, WatchedEffects
from oracle.bt.wrappers.recipe import Recipe, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.errors import BlackboardError, InputError, ReplayDiverged
from oracle.lazy_dataclass import dataclass
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.agent_services import AgentServices
from oracle.services.ans.bus import EventBus, emitting_to
from oracle.services.journal import Record
from oracle.services.journal.simulated_time import SimulatedTime

Hear: TypeAlias = Callable[[OracleStreamChunk], None]
Look: TypeAlias = Callable[[RecordedTree, Callable[[], bool]], Hear]
"""Is given the tree before it begins, and whether what follows counts. Returns who hears it."""


async def recorded(
    records: Sequence[Record], contents: Mapping[str, str], *, leaves: LeafRegistry = LEAVES
) -> Recording:
    """What a run asked for and decided, from an exact replay of its journal.

    A run that was interrupted is followed up to the end of its record.
    """
    watch = Watch()
    tree = RecordedTree.replay(
        records,
        contents,
        leaves=leaves,
        services=partial(services_from, live=AgentServices(say=watch.hear)),
        port=partial(_watched, watch),
    )
    watch.of(tree)
    watch.is_over = lambda: tree.journal.diverged is not None
    try:
        await tree.settle()
    except ReplayDiverged:
        if records[-1].kind == "end":
            raise
    return Recording(
        recipe=tree.recipe,
        effects=watch.effects,
        decisions=_decisions(watch, tree),
        cancelled=_cancellations(records),
    )


def _watched(watch: Watch, tree: RecordedTree) -> Effects:
    return WatchedEffects(watch, tree.journal)


def _cancellations(records: Sequence[Record]) -> list[Cancelled]:
    found: list[Cancelled] = []
    readings: list[float] = []
    for record in records:
        readings += record.clock
        if record.kind == "command" and "cancel" in record.body:
            # One reading is made before the first tick.
            is_early = len(readings) <= 1 or not record.times
            after = None if is_early else max(0.0, record.times[0] - readings[0])
            found.append(Cancelled(after, str(record.body["cancel"])))
    return found


def _decisions(watch: Watch, tree: RecordedTree) -> Decisions:
    if watch.is_over() or tree.outcome is None:
        return watch.decisions("", "")
    return watch.decisions(tree.ending(tree.outcome)[0], tree.read("answer") or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """A recording played against a change: what it led to, and how far the answers went."""

    recording: Recording
    course: Course
    definition: TreeDefinition


async def played(
    recording: Recording,
    change: Change = NO_CHANGE,
    *,
    live: AgentServices | None = None,
    leaves: LeafRegistry = LEAVES,
    look: Look | None = None,
) -> Played:
    """Run it with the change. With `live`, its model and its reading tools answer what the
    recording does not have; nothing is ever written. `look` is for another who looks on.
    """
    watch, time = Watch(), SimulatedTime()
    hearing: list[Hear] = [watch.hear]

    def say(chunk: OracleStreamChunk) -> None:
        for hear in hearing:
            hear(chunk)

    course = Course(may_live=live is not None, assumed=[], lived=[])
    effects = RecordedEffects(recording.effects)

    def port(tree: RecordedTree) -> Effects:
        looked_up = LookedUpEffects(
            tree.journal,
            effects,
            time,
            course,
            identified=watch.identified,
            when_missing=lambda: tree.tree_run.cancel("the recording has no answer"),
        )
        return WatchedEffects(watch, looked_up)

    services = change.services(replace(live or AgentServices(), say=say, approve=None))
    # Its events are heard by nobody: they would be taken for those of the recorded run.
    with emitting_to(EventBus()):
        recipe = change.applied(recording.recipe)
        options: dict[str, Any] = {"leaves": leaves, "port": port, "time_source": time}
        try:
            tree = RecordedTree(recipe, services=partial(services_from, live=services), **options)
        except BlackboardError as problem:
            raise InputError(
                f"run {recipe.run_id}: its recorded values do not fit the tree: {problem}"
            ) from None
        watch.of(tree)
        watch.is_over = lambda: course.missing is not None
        if look is not None:
            hearing.append(look(tree, watch.is_over))
        time.is_idle = lambda: tree.journal.is_idle
        _cancel_again(recording, tree, time)
        time.begin()
        try:
            await tree.settle()
        finally:
            time.close()
    change.check_classifier()
    return Played(
        recording=Recording(
            recipe=_unchanged_start(tree.recipe, recording.recipe),
            effects=watch.effects,
            decisions=_decisions(watch, tree),
            cancelled=recording.cancelled,
        ),
        course=course,
        definition=tree.tree_run.definition,
    )


def _unchanged_start(recipe: Recipe, recorded: Recipe) -> Recipe:
    return replace(recipe, began_at=recorded.began_at)


def _cancel_again(recording: Recording, tree: RecordedTree, time: SimulatedTime) -> None:
    """A person who cancelled the run does it again, at the same time."""
    for after, reason in recording.cancelled:
        if after is None:
            tree.cancel(reason)
        else:
            time.call_later(after, partial(tree.cancel, reason))
