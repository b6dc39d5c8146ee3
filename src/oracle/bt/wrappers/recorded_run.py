"""A run with a journal: begun, replayed, or taken up again after a crash.

The first record holds what the run depends on besides its effects: the trees themselves and the
values on the board. So a record is enough to run it again, on any machine that has the leaves.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from oracle.bt.core.context import DEFAULT_TICK_BUDGET, TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.core.runtime import Outcome, TreeRun
from oracle.bt.lua.library import TreeLibrary
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.wrappers.our_leaves import import_our_leaves
from oracle.errors import JournalError
from oracle.services.ans.bus import EventBus, emitting_to, get_event_bus
from oracle.services.ans.event import Event, Severity, running_in
from oracle.services.journal import Journal, MemorySink, Record, Sink

KEPT_BY_CONTENT = ("sources", "prompts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """What a run is made of, as the first record has it."""

    tree: str
    sources: Mapping[str, str]
    board: Mapping[str, Any]
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    question: str = ""
    model: str = ""
    tick_budget: int = DEFAULT_TICK_BUDGET
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    began_at: float = field(default_factory=time.time)

    def as_body(self, keep: Callable[[str], str]) -> dict[str, Any]:
        """The form for the record: texts are kept by content, once for all runs."""
        kept = {kind: _kept(getattr(self, kind), keep) for kind in KEPT_BY_CONTENT}
        facts = {slot: getattr(self, slot) for slot in self.__slots__}
        return {**facts, "board": dict(self.board), **kept}

    @classmethod
    def from_records(cls, records: Sequence[Record], contents: Mapping[str, str]) -> Recipe:
        if not records or records[0].kind != "start":
            raise JournalError("the record has no beginning; the run died before it was begun")
        known: dict[str, Any] = dict(records[0].body)
        for kind in KEPT_BY_CONTENT:
            known[kind] = {file: contents[name] for file, name in known.get(kind, {}).items()}
        return cls(**known)


ServicesOf: TypeAlias = Callable[[Recipe], Any]
"""Makes what the leaves of a run may call on; a replay needs some of it again."""


def _kept(texts: Mapping[str, str], keep: Callable[[str], str]) -> dict[str, str]:
    return {file: keep(text) for file, text in texts.items()}


@lru_cache(maxsize=16)
def _definition(
    tree: str, sources: tuple[tuple[str, str], ...], leaves: LeafRegistry
) -> TreeDefinition:
    """Thousands of runs share one definition. A tree that is given or found on record, rather than
    shipped, may name our leaves as well.
    """
    if leaves is LEAVES:
        import_our_leaves()
    return TreeLibrary(sources=dict(sources), leaves=leaves)[tree]


class RunBus(EventBus):
    """The events of one run. Those that are told again from its record stay among themselves."""

    def __init__(self, journal: Journal, outside: EventBus) -> None:
        super().__init__(lambda event: outside.emit(event) if journal.is_live else None)


class RecordedRun:
    """A tree run whose effects, clock and commands pass a journal."""

    def __init__(
        self,
        recipe: Recipe,
        sink: Sink | None = None,
        *,
        records: Sequence[Record] = (),
        may_act: bool = True,
        leaves: LeafRegistry = LEAVES,
        services: ServicesOf | None = None,
    ) -> None:
        self.recipe = recipe
        self._sink = sink or MemorySink()
        self.records = records
        self._may_act = may_act
        self.journal = Journal(self._sink, records=records, may_act=may_act, on_command=self._obey)
        self.bus = RunBus(self.journal, get_event_bus())
        definition = _definition(recipe.tree, tuple(recipe.sources.items()), leaves)
        board = TypedBlackboard(scope_name=recipe.tree, schema=definition.schema)
        board.restore(recipe.board)
        self.tree_run = TreeRun(
            definition,
            TickContext(
                blackboard=board,
                tick_budget=recipe.tick_budget,
                services=None if services is None else services(recipe),
                effects=self.journal,
                clock=self.journal,
            ),
        )
        self.board = board

    @classmethod
    def replay(
        cls,
        records: Sequence[Record],
        contents: Mapping[str, str],
        *,
        leaves: LeafRegistry = LEAVES,
        services: ServicesOf | None = None,
    ) -> RecordedRun:
        """Run it again from the record alone; no effect is performed."""
        recipe = Recipe.from_records(records, contents)
        return cls(recipe, records=records, may_act=False, leaves=leaves, services=services)

    @classmethod
    def resume(
        cls,
        records: Sequence[Record],
        contents: Mapping[str, str],
        sink: Sink,
        *,
        leaves: LeafRegistry = LEAVES,
        services: ServicesOf | None = None,
    ) -> RecordedRun:
        """Go on where the record ends; what is on it is not done a second time."""
        recipe = Recipe.from_records(records, contents)
        return cls(recipe, sink, records=records, leaves=leaves, services=services)

    async def settle(self) -> Outcome:
        context = self.tree_run.context
        epoch = self.recipe.began_at - self.journal.now()
        with (
            emitting_to(self.bus),
            running_in(
                self.recipe.run_id,
                turn=lambda: context.turn,
                clock=lambda: epoch + context.now,
            ),
        ):
            try:
                return await self._settle()
            finally:
                self.journal.detach()
                if self._may_act:
                    await self.journal.close()

    async def _settle(self) -> Outcome:
        if not self.records:
            await self.journal.begin(self.recipe.as_body(self._sink.keep))
        self._tell_start(resumed=False)
        self.journal.attach(self.tree_run)
        outcome = await self.tree_run.settle()
        if self.journal.diverged is not None:
            raise self.journal.diverged
        self._tell_end(outcome)
        if self._may_act:
            await self.journal.end(self.summary(outcome))
        return outcome

    def cancel(self, reason: str = "cancelled") -> None:
        self.journal.command({"cancel": reason})

    def summary(self, outcome: Outcome) -> dict[str, Any]:
        """What a replay must come to as well."""
        return {
            "status": outcome.status.value,
            "stop": outcome.stop,
            "detail": outcome.detail,
            "ticks": self.tree_run.context.ticks,
            "board": self.board.contents(),
        }

    def _obey(self, command: Any) -> None:
        if "cancel" in command:
            self.tree_run.cancel(command["cancel"])
        elif "resumed" in command:
            self._tell_start(resumed=True)

    def _tell_start(self, *, resumed: bool) -> None:
        recipe = self.recipe
        payload = {"question": recipe.question, "tree": recipe.tree, "model": recipe.model}
        self._tell("run.started", {**payload, "resumed": resumed})

    def _tell_end(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            path, _, error = outcome.detail.partition(": ")
            self._tell("node.failed", {"node_path": path, "error": error}, Severity.ERROR)
        stop_reason, usage = self.ending(outcome)
        turns = self.tree_run.context.turn
        self._tell("run.ended", {"stop_reason": stop_reason, "turns": turns, "usage": usage})

    def ending(self, outcome: Outcome) -> tuple[str, dict[str, Any]]:
        """Why it ended and what it used; a tree that knows better than the runtime says so."""
        said = {key: self.board.get(key) for key in ("stop_reason", "usage") if key in self.board}
        return said.get("stop_reason") or outcome.stop, said.get("usage") or {}

    def _tell(
        self, type_: str, payload: Mapping[str, Any], severity: Severity = Severity.INFO
    ) -> None:
        self.bus.emit(Event(type=type_, source="run", severity=severity, payload=payload))
