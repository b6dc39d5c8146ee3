"""What every way to ask over a connection shares: the agent of one project, its store, its runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Self

from oracle.api.approvals import Approvals
from oracle.api.live_runs import LiveRuns
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.run_store import RunStore
from oracle.lazy_dataclass import dataclass
from oracle.services.ans.table import EventsTable
from oracle.services.attachments.references import Reach
from oracle.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Workplace:
    """`approvals` has the questions of its runs that wait for a person."""

    settings: Settings
    root: Path
    agent: OracleBTWrapper
    store: RunStore
    runs: LiveRuns
    approvals: Approvals
    may_write: bool = True
    """Whether the user may allow a tool that writes: by a yes, or by an order in a question."""

    @property
    def project(self) -> str | None:
        return self.agent.project_id or None

    @property
    def reach(self) -> Reach:
        """Files that a client names: those of the project, by the rules for tools."""
        return Reach(
            folder=self.root,
            root=self.root,
            secrets=self.settings.secrets.rules,
            roots=self.settings.roots,
            is_confined=True,
        )

    def seen_by(self, user: str, *, may_write: bool) -> Self:
        """The same for one user: nothing of other users can be reached through it, and nothing is
        written without the right to. This is the one place that decides it.
        """
        runs = self.runs.seen_by(user, may_write=may_write)
        return replace(
            self,
            may_write=may_write,
            store=self.store.seen_by(user),
            runs=runs,
            approvals=self.approvals.seen_with(runs),
        )

    def open_events(self) -> EventsTable:
        return self.store.open_events()
