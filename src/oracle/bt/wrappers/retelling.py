"""A stored run with its story: replayed, so that what the tree decided is known too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from functools import partial
from typing import Any, Final, TypeAlias, cast

from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.wrappers.recipe import LOOPS, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.bt.wrappers.run_end import RunEnd
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import JournalError, OracleError, ReplayDiverged
from oracle.lazy_dataclass import dataclass
from oracle.models.session import StoredRun
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import AgentServices
from oracle.services.ans.event import Event
from oracle.services.journal import Record
from oracle.services.story.from_records import tell_records
from oracle.services.story.story import Story, tell
from oracle.services.story.words import resumed_words

is_quiet: Final[ContextVar[bool]] = ContextVar("is_quiet", default=False)
"""Whether a replay is expected to break off, because its record has no end: that is no error."""
logging.getLogger("oracle.bt.core.runtime").addFilter(lambda _: not is_quiet.get())

Listen: TypeAlias = Callable[[OracleStreamChunk], None]
Look: TypeAlias = Callable[[RecordedTree], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldRun:
    """`not_replayed` says why the story is told from the record alone, if it is.

    `is_damaged` says that the reason is a record that was changed.
    """

    run: StoredRun
    records: Sequence[Record]
    story: Story
    not_replayed: str = ""
    is_damaged: bool = False

    @property
    def model(self) -> str:
        return str(self._start.get("model", ""))

    @property
    def later_models(self) -> Sequence[str]:
        """Those with which it was resumed."""
        resumed = (record.body for record in self.records if _is_resumption(record))
        return [str(body["model"]) for body in resumed if body.get("model")]

    @property
    def _has_prices(self) -> bool:
        model: Mapping[str, Any] = self._board.get("model") or {}
        return model.get("prices") is not None

    @property
    def attached(self) -> Sequence[str]:
        """What the user gave with the question: places of files, a diff, text from a pipe."""
        names = [str(source.get("where", "")) for source in self._board.get("attached") or ()]
        piped = len(self._board.get("attachment") or "")
        return [*names, *([f"{piped:,} characters from a pipe"] if piped else [])]

    @property
    def _start(self) -> Mapping[str, Any]:
        return self.records[0].body if self.records else {}

    @property
    def _board(self) -> Mapping[str, Any]:
        board: Any = self._start.get("board")
        return cast("Mapping[str, Any]", board) if isinstance(board, dict) else {}

    @property
    def times_resumed(self) -> int:
        return sum(map(_is_resumption, self.records))

    def as_data(self) -> dict[str, Any]:
        """Everything, for programs. Where no price is known, `money` is null and not 0."""
        story = asdict(self.story)
        run = asdict(self.run)
        if not self._has_prices:
            for spending in (*story["turns"], story["usage"], run["usage"]):
                if "money" in spending:
                    spending["money"] = None
        return {
            "run": run,
            "story": story,
            "not_replayed": self.not_replayed or None,
            "records": [asdict(record) for record in self.records],
        }


def _is_resumption(record: Record) -> bool:
    return record.kind == "command" and "resumed" in record.body


async def retold(store: RunStore, run: StoredRun) -> ToldRun:
    records, _ = await store.record_of(run.id)
    if not records:
        return ToldRun(run=run, records=records, story=Story())
    if run.tree not in LOOPS.values():
        problem = "only a run of the agent's own tree says what was decided"
        return ToldRun(run=run, records=records, story=tell_records(records), not_replayed=problem)
    try:
        has_end = records[-1].kind == "end"
        story = tell(await chunks_of(store, run.id, has_end=has_end, has_resumptions=True))
    except OracleError as problem:
        story, why = tell_records(records), str(problem).partition(";")[0]
        is_damaged = isinstance(problem, JournalError) and not isinstance(problem, ReplayDiverged)
        return ToldRun(
            run=run, records=records, story=story, not_replayed=why, is_damaged=is_damaged
        )
    return ToldRun(run=run, records=records, story=story)


def _tell_resumption(event: Event, listen: Listen) -> None:
    if event.payload["resumed"]:
        data = {"content": resumed_words(event.payload["model"]), "severity": "warning"}
        listen(OracleStreamChunk(type=ChunkType.SYSTEM, turn=event.turn or 0, data=data))


async def chunks_of(
    store: RunStore, run_id: str, *, has_end: bool = True, has_resumptions: bool = False
) -> list[OracleStreamChunk]:
    """What a recorded run said, in a replay. A run without an end is said as far as it came.

    `has_resumptions` adds a chunk where another process went on. The run itself has not said it, so
    it would shift the numbers of those who follow a stream.
    """
    chunks: list[OracleStreamChunk] = []
    run = await store.runs.get(run_id)
    record = await store.record_of(run_id)
    await retell(
        record,
        run,
        chunks.append,
        has_end=has_end,
        has_resumptions=has_resumptions,
        leaves=store.leaves,
    )
    return chunks


async def retell(
    record: tuple[Sequence[Record], Mapping[str, str]],
    run: StoredRun,
    listen: Listen,
    *,
    has_end: bool = True,
    has_resumptions: bool = False,
    look: Look | None = None,
    leaves: LeafRegistry = LEAVES,
) -> None:
    """Say it again to `listen`. The tree of the replay is given to `look` before it begins."""
    tree: RecordedTree | None = None

    def hear(chunk: OracleStreamChunk) -> None:
        # What a replay says after the end of the record never happened.
        if tree is None or tree.journal.diverged is None:
            listen(chunk)

    end = RunEnd()
    live = AgentServices(say=hear)
    tree = RecordedTree.replay(*record, leaves=leaves, services=partial(services_from, live=live))
    if has_resumptions:
        tree.bus.subscribe(lambda event: _tell_resumption(event, hear), ["run.started"])
    end.of(tree)
    if look is not None:
        look(tree)
    # In the context of this task: other runs of the process are reported as ever.
    is_quiet.set(not has_end)
    for warning in end.warnings():
        hear(warning)
    try:
        outcome = await tree.settle()
    except ReplayDiverged:
        if has_end:
            raise
        return
    finally:
        is_quiet.set(False)
    if has_end:
        for chunk in end.words_for_the_tree(outcome):
            listen(chunk)
        # An exchange has the id of its run.
        context_id = run.id if run.session_id and run.shadow_of is None else None
        data = {**end.done(), "context_id": context_id}
        turn = tree.tree_run.context.turn
        listen(OracleStreamChunk(type=ChunkType.DONE, turn=turn, data=data))
