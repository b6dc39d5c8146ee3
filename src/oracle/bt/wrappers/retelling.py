"""A stored run with its story: replayed, so that what the tree decided is known too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from oracle.bt.wrappers.recipe import TREE, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.bt.wrappers.run_end import RunEnd
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import OracleError, ReplayDiverged
from oracle.models.session import StoredRun
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import AgentServices
from oracle.services.journal import Record
from oracle.services.story.from_records import tell_records
from oracle.services.story.story import Story, tell


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldRun:
    """`not_replayed` says why the story is told from the record alone, if it is."""

    run: StoredRun
    records: Sequence[Record]
    story: Story
    not_replayed: str = ""

    @property
    def model(self) -> str:
        return str(self._start.get("model", ""))

    @property
    def attached_characters(self) -> int:
        board: Any = self._start.get("board")
        return len(board.get("attachment", "")) if isinstance(board, dict) else 0  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]

    @property
    def _start(self) -> Mapping[str, Any]:
        return self.records[0].body if self.records else {}

    @property
    def times_resumed(self) -> int:
        return sum(record.kind == "command" and "resumed" in record.body for record in self.records)

    def as_data(self) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "run": asdict(self.run),
            "story": asdict(self.story),
            "not_replayed": self.not_replayed or None,
            "records": [asdict(record) for record in self.records],
        }


async def retold(store: RunStore, run: StoredRun) -> ToldRun:
    records, _ = await store.record_of(run.id)
    if not records:
        return ToldRun(run=run, records=records, story=Story())
    if run.tree != TREE:
        problem = "only a run of the agent's own tree says what was decided"
        return ToldRun(run=run, records=records, story=tell_records(records), not_replayed=problem)
    try:
        story = await _replayed(store, run.id, has_end=records[-1].kind == "end")
    except OracleError as problem:
        story, why = tell_records(records), str(problem).partition(";")[0]
        return ToldRun(run=run, records=records, story=story, not_replayed=why)
    return ToldRun(run=run, records=records, story=story)


async def _replayed(store: RunStore, run_id: str, *, has_end: bool) -> Story:
    chunks: list[OracleStreamChunk] = []
    tree: RecordedTree | None = None

    def listen(chunk: OracleStreamChunk) -> None:
        # What a replay says after the end of the record never happened.
        if tree is None or tree.journal.diverged is None:
            chunks.append(chunk)

    end = RunEnd()
    live = AgentServices(say=listen)
    tree = await store.replay(run_id, services=partial(services_from, live=live))
    end.of(tree)
    try:
        await tree.settle()
    except ReplayDiverged:
        if has_end:
            raise
        return tell(chunks)
    if has_end:
        data = {**end.done(), "context_id": None}
        chunks.append(OracleStreamChunk(type=ChunkType.DONE, data=data))
    return tell(chunks)
