"""Two runs side by side, or a run and its replay on a changed tree: which decisions differ.

The decision diff is that of `oracle replay`. Nothing is asked, done or written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Any, TypeVar

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.wrappers.decisions.change import Change
from oracle.bt.wrappers.decisions.difference import (
    GONE,
    NOT_REACHED,
    DecisionDiff,
    TurnDifference,
    between,
    compared,
)
from oracle.bt.wrappers.decisions.lookup import Note
from oracle.bt.wrappers.decisions.playing import Hear, played, recorded
from oracle.bt.wrappers.decisions.recording import Recording
from oracle.bt.wrappers.mind.frame import Frame
from oracle.bt.wrappers.mind.recorded import Recorded
from oracle.bt.wrappers.mind.union import union
from oracle.bt.wrappers.mind.watcher import MindWatcher
from oracle.bt.wrappers.recorded_tree import RecordedTree, definition_from
from oracle.bt.wrappers.run_end import RunEnd
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.background import in_thread

Result = TypeVar("Result")


async def compared_runs(
    first: Recorded, second: Recorded, *, leaves: LeafRegistry = LEAVES
) -> dict[str, Any]:
    """What two recorded runs decided differently."""

    async def compare() -> dict[str, Any]:
        one, two = [await recorded(*each, leaves=leaves) for each in (first, second)]
        trees = [_definition(each, leaves) for each in (one, two)]
        return {**_difference(between(one, two)), "tree": union(trees[0], trees[1])}

    return await _in_own_loop(compare())


async def changed_replay(
    record: Recorded, change: Change, *, leaves: LeafRegistry = LEAVES
) -> dict[str, Any]:
    """What a recorded run would decide differently with a change, and the frames of that replay."""

    async def compare() -> dict[str, Any]:
        recording = await recorded(*record, leaves=leaves)
        frames: list[Frame] = []
        looked: list[tuple[RecordedTree, MindWatcher]] = []

        def look(tree: RecordedTree, is_over: Callable[[], bool]) -> Hear:
            watcher = MindWatcher(tree, frames.append, is_current=False, is_over=is_over)
            watcher.say_tree()
            watcher.begin()
            looked.append((tree, watcher))
            return watcher.hear

        now = await played(recording, change, leaves=leaves, look=look)
        looked[0][1].hear(_done(looked[0][0]))
        tree = union(_definition(recording, leaves), now.definition)
        mind = [frame._asdict() for frame in frames]
        return {**_difference(compared(recording, now)), "tree": tree, "mind": mind}

    return await _in_own_loop(compare())


async def _in_own_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """Replays only compute: in a thread they keep nobody waiting."""
    return await in_thread(asyncio.run, work)


def _definition(recording: Recording, leaves: LeafRegistry) -> TreeDefinition:
    recipe = recording.recipe
    return definition_from(recipe.tree, tuple(recipe.sources.items()), leaves)


def _done(tree: RecordedTree) -> OracleStreamChunk:
    end = RunEnd()
    end.tree = tree
    data = {**end.done(), "context_id": None}
    return OracleStreamChunk(type=ChunkType.DONE, turn=tree.tree_run.context.turn, data=data)


# -- as data ---------------------------------------------------------------------------------------


def _difference(diff: DecisionDiff) -> dict[str, Any]:
    cards = [_card(turn) for turn in diff.turns] + [_assumed(note) for note in diff.assumed]
    cards.sort(key=lambda card: card["turn"])
    return {
        "is_same": diff.is_same,
        "is_followed": diff.is_followed,
        "same_answer": diff.same_answer,
        "stop_reasons": {"a": diff.stop_before or None, "b": diff.stop_now or None},
        "totals": {"a": asdict(diff.before), "b": asdict(diff.now)},
        "differences": [{"number": number, **card} for number, card in enumerate(cards, start=1)],
        "missing": None if diff.missing is None else diff.missing._asdict(),
    }


def _card(turn: TurnDifference) -> dict[str, Any]:
    return {
        "turn": turn.turn,
        "path": turn.node or None,
        "a": {"status": turn.before or None, "does": turn.no_longer},
        "b": {"status": turn.now or None, "does": turn.newly},
        "instead": turn.instead or None,
        "why": _why(turn),
        "assumed": False,
    }


def _why(turn: TurnDifference) -> str:
    """In words, as far as it is known: the node itself, what comes before it, or what is done."""
    name = _name(turn.node)
    if turn.now == GONE:
        return f"The second tree does not have {name}."
    if turn.instead:
        return f"In the second, {_name(turn.instead)} comes before it and decides."
    if turn.node and turn.before == turn.now:
        return f"Both come to {name}, and what is decided there differs."
    if turn.node and turn.before in (NOT_REACHED, ""):
        return f"Only the second comes to {name}."
    if turn.node and turn.now in (NOT_REACHED, ""):
        return f"Only the first comes to {name}."
    if turn.node:
        return f"{name}: {turn.before} in the first, {turn.now} in the second."
    facts = [("second", fact) for fact in turn.newly] + [("first", f) for f in turn.no_longer]
    return next((f"Only the {which} {fact}." for which, fact in facts), "")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _assumed(note: Note) -> dict[str, Any]:
    return {
        "turn": note.turn,
        "path": note.node,
        "a": None,
        "b": None,
        "instead": None,
        "why": f"Assumed: {note.words} would be the same.",
        "assumed": True,
    }
