"""A tree with its journal: run live, replayed, or resumed after a crash."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.effects import Effects
from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.core.runtime import Outcome, TreeRun
from oracle.bt.lua.builder import TreeBuilder
from oracle.bt.lua.library import TreeLibrary, all_declared
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.wrappers.lease import Lease
from oracle.bt.wrappers.recipe import Recipe, import_our_leaves
from oracle.bt.wrappers.spending import raise_limits
from oracle.errors import BlackboardError, InputError, JournalError, TreeFileError
from oracle.services.ans.bus import EventBus, emitting_to, get_event_bus
from oracle.services.ans.event import Event, Severity, running_in
from oracle.services.journal import Journal, MemorySink, Record, Sink
from oracle.services.journal.run_clock import REAL_TIME, TimeSource

ServicesOf: TypeAlias = Callable[[Recipe], Any]
"""Makes what the leaves of a run may call on; a replay needs some of it again."""

PortOf: TypeAlias = Callable[["RecordedTree"], Effects]

Keep: TypeAlias = Callable[[Outcome], Awaitable[None]]
"""Keeps the result of a run before the run counts as done: after a crash it is called again."""


@lru_cache(maxsize=16)
def definition_from(
    tree: str, sources: tuple[tuple[str, str], ...], leaves: LeafRegistry
) -> TreeDefinition:
    """Thousands of runs share one definition. A tree that is given or found in a record may name
    our leaves as well.
    """
    if leaves is LEAVES:
        import_our_leaves()
    files = dict(sources)
    # Building all trees takes several times as long. Whoever reads the files checks them all.
    try:
        trees = all_declared(files)
        if tree in trees:
            return TreeBuilder(trees, leaves).definition(tree)
    except TreeFileError:
        # It may be a tree that works only inside another one. The library knows, or says it better.
        pass
    return TreeLibrary(sources=files, leaves=leaves)[tree]


def forget_definitions() -> None:
    """To be called when leaves were registered again: a definition holds their functions."""
    definition_from.cache_clear()


class RunBus(EventBus):
    """The events of one run. Those that come from its record are not passed to the outside."""

    def __init__(self, journal: Journal, outside: EventBus) -> None:
        super().__init__(self._pass_on)
        self._journal = journal
        self._outside = outside

    def hears(self, type_: str) -> bool:
        for _, types in self._subscriptions[1:]:
            if types is None or type_ in types:
                return True
        return self._outside.hears(type_) and self._journal.is_live

    def _pass_on(self, event: Event) -> None:
        if self._journal.is_live:
            self._outside.emit(event)


class RecordedTree:
    """A tree whose effects, clock and commands pass a journal.

    With `records` it begins with what is on record; one that may not act ends there, as a replay.
    A run of a database has a `lease`; without one nothing of it is kept.
    """

    def __init__(
        self,
        recipe: Recipe,
        sink: Sink | None = None,
        *,
        records: Sequence[Record] = (),
        may_act: bool = True,
        leaves: LeafRegistry = LEAVES,
        services: ServicesOf | None = None,
        lease: Lease | None = None,
        port: PortOf | None = None,
        time_source: TimeSource = REAL_TIME,
    ) -> None:
        """A `port` stands between the leaves and the journal, to watch or to answer."""
        self.recipe = recipe
        self.records = records
        self.lease = lease
        self.outcome: Outcome | None = None
        self._sink = sink or MemorySink()
        self._may_act = may_act
        # The journal's clock counts from an arbitrary moment: this one, in seconds since 1970.
        self._epoch = 0.0
        self._began: float | None = None
        serving = None if services is None else services(recipe)
        model: Any = getattr(serving, "model", None)
        self.journal = Journal(
            self._sink,
            records=records,
            may_act=may_act,
            on_command=self._obey,
            resumed_with={} if model is None else {"model": model.name},
            time_source=time_source,
        )
        self.bus = RunBus(self.journal, get_event_bus())
        definition = self._load(leaves)
        self.board = TypedBlackboard(scope_name=recipe.tree, schema=definition.schema)
        try:
            self.board.restore(recipe.board)
        except BlackboardError as problem:
            if not records:
                raise
            raise JournalError(
                f"run {recipe.run_id} cannot be played again: its board does not fit its tree "
                f"({problem})"
            ) from None
        self.tree_run = TreeRun(
            definition,
            TickContext(
                blackboard=self.board,
                tick_budget=recipe.tick_budget,
                services=serving,
                effects=self.journal if port is None else port(self),
                clock=self.journal,
            ),
        )
        # Last: a lease whose tree could not be made is given back too.
        if lease is not None:
            lease.usage = self._used_so_far

    def _load(self, leaves: LeafRegistry) -> TreeDefinition:
        """A recorded tree names the leaves of the version that recorded it."""
        recipe = self.recipe
        try:
            return definition_from(recipe.tree, tuple(recipe.sources.items()), leaves)
        except TreeFileError as problem:
            if not self.records:
                raise
            # With a leaf of a project or a package, the error says what to do about that one.
            is_own = "no leaf" in str(problem) and "no leaf 'oracle." not in str(problem)
            next_step = "" if is_own else "; use the version that recorded it"
            raise InputError(
                f"run {recipe.run_id} cannot be played again: its tree names what is missing here "
                f"({problem}){next_step}"
            ) from None

    @classmethod
    def replay(
        cls, records: Sequence[Record], contents: Mapping[str, str], **options: Any
    ) -> RecordedTree:
        """Run it again from the record alone; no effect is performed."""
        recipe = Recipe.from_records(records, contents)
        return cls(recipe, records=records, may_act=False, **options)

    @classmethod
    def resume(
        cls, records: Sequence[Record], contents: Mapping[str, str], sink: Sink, **options: Any
    ) -> RecordedTree:
        """Continue where the record ends. What it holds is not done a second time."""
        return cls(Recipe.from_records(records, contents), sink, records=records, **options)

    @property
    def id(self) -> str:
        return self.recipe.run_id

    @property
    def seconds(self) -> float:
        """How long it has been running, by its own clock: the same in each replay."""
        return 0.0 if self._began is None else round(self.journal.time - self._began, 4)

    async def settle(self, keep: Keep | None = None) -> Outcome:
        """Play the tree to its end. What `keep` does is done before the run counts as done."""
        async with self.lease or nullcontext():
            self.outcome = outcome = await self._play()
            if keep is not None:
                await keep(outcome)
        if self.lease is not None:
            await self.lease.finish(*self.ending(outcome))
        return outcome

    def cancel(self, reason: str = "cancelled") -> None:
        self.journal.command({"cancel": reason})

    def raise_limits(self, wanted: Mapping[str, float]) -> None:
        self.journal.command({"raise": dict(wanted)})

    def check_record(self) -> None:
        """Raises if what it said last is not on record, whatever was committed since then."""
        self._sink.check()

    def read(self, key: str, default: Any = None) -> Any:
        """A value of the board; a tree of one's own need not have all our keys."""
        return self.board.get(key) if key in self.board else default

    def summary(self, outcome: Outcome) -> dict[str, Any]:
        """What a replay must come to as well."""
        return {
            "status": outcome.status.value,
            "stop": outcome.stop,
            "detail": outcome.detail,
            "ticks": self.tree_run.context.ticks,
            "board": self.board.contents(),
        }

    def ending(self, outcome: Outcome) -> tuple[str, dict[str, Any]]:
        """Why it ended and what it used; a tree that knows better than the runtime says so."""
        return self.read("stop_reason") or outcome.stop, self.read("usage") or {}

    def _used_so_far(self) -> Mapping[str, Any]:
        """By the ledger, which a tree of one's own need not have."""
        return self.read("ledger") or {}

    async def _play(self) -> Outcome:
        context = self.tree_run.context
        if not self.records:
            # A run may wait between its recipe and its beginning, for the disk or for others.
            self.recipe = replace(self.recipe, began_at=time.time())
        self._began = self.journal.now()
        self._epoch = self.recipe.began_at - self._began
        turn, clock = (lambda: context.turn), (lambda: self._epoch + self.journal.time)
        with emitting_to(self.bus), running_in(self.id, turn=turn, clock=clock):
            try:
                if not self.records:
                    await self.journal.begin(self.recipe.as_body(self._sink.keep))
                self._emit_start(resumed=False)
                self.journal.attach(self.tree_run)
                self._sink.on_failure(self._stop)
                outcome = await self.tree_run.settle()
                # A leaf may have swallowed it, so the outcome alone does not tell.
                if self.journal.diverged is not None:
                    raise self.journal.diverged
                self._emit_end(outcome)
                if self._may_act:
                    await self.journal.end(self.summary(outcome))
                return outcome
            finally:
                self.journal.detach()
                if self._may_act:
                    await self.journal.close()

    def _stop(self, problem: Exception) -> None:
        """End what cannot be recorded: nothing more is asked or done, and what there is is kept."""
        # Not as a command: that would need a record.
        self.tree_run.cancel(str(problem))

    def _obey(self, command: Any) -> None:
        if "cancel" in command:
            self.tree_run.cancel(command["cancel"])
        elif "raise" in command:
            raise_limits(self.board, self.tree_run, command["raise"])
        elif "resumed" in command:
            # The journal's clock goes on from the crash, so that deadlines do. Events that follow
            # happen later, by the time in between.
            if "at" in command:
                self._epoch = command["at"] - self.journal.time
            self._emit_start(resumed=True, model=command.get("model"))

    def _emit_start(self, *, resumed: bool, model: str | None = None) -> None:
        """A run may be resumed with another model than it was begun with."""
        recipe = self.recipe
        payload = {"question": recipe.question, "tree": recipe.tree, "model": model or recipe.model}
        self._emit("run.started", {**payload, "resumed": resumed})

    def _emit_end(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            path, _, error = outcome.detail.partition(": ")
            self._emit("node.failed", {"node_path": path, "error": error}, Severity.ERROR)
        stop_reason, usage = self.ending(outcome)
        turns = self.tree_run.context.turn
        ended = {"stop_reason": stop_reason, "turns": turns, "usage": usage}
        self._emit("run.ended", {**ended, "missing": self.read("missing") or []})

    def _emit(
        self, type_: str, payload: Mapping[str, Any], severity: Severity = Severity.INFO
    ) -> None:
        self.bus.emit(Event(type=type_, source="run", severity=severity, payload=payload))
