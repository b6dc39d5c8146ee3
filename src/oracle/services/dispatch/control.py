"""What a person can do about a run that is not done, from any process."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from oracle.errors import InputError, OracleError
from oracle.models.session import StoredRun
from oracle.services.dispatch.commands import Commands
from oracle.services.dispatch.protocol import Dispatcher
from oracle.services.dispatch.queue import Queue
from oracle.services.dispatch.streams import Streams
from oracle.services.storage.budgets import Amount, Budget, millionths
from oracle.services.storage.database import Database
from oracle.services.storage.runs import NEVER_BEGUN, Runs, new_owner
from oracle.services.storage.spend import Account
from oracle.services.storage.transactions import Transaction


async def cancel(database: Database, dispatcher: Dispatcher, run: StoredRun, reason: str) -> None:
    """A run that has begun still ends with an answer from what it has."""
    await Commands(database).give(run.id, {"cancel": reason})
    await dispatcher.cancel(run.id)
    queue = Queue(database, run.project)
    # Nobody has begun it yet, and perhaps nobody would for a while.
    if await queue.request_of(run.id) is not None:
        await queue.failed(run.id, {"detail": reason, "stop_reason": "cancelled"})
        await end_unbegun(database, run.id)


async def retry(database: Database, dispatcher: Dispatcher, run: StoredRun) -> None:
    if run.status == "done":
        raise InputError(f"run {run.id} is done; there is nothing to retry")
    await Queue(database, run.project).forgive(run.id)
    await dispatcher.enqueue(run.id)


async def raise_limits(
    database: Database, run: StoredRun, wanted: Mapping[str, float], budgets: Sequence[Budget]
) -> None:
    """Let a run spend more. What it may cost is held for it first, or `SpendLimitReached`."""

    def hold(connection: Transaction) -> None:
        amount = Amount(millionths(wanted.get("money", 0.0)), int(wanted.get("tokens", 0)))
        Account(connection, run.user_id, run.project).raise_hold(run.id, amount, budgets)

    await Commands(database).give(run.id, {"raise": dict(wanted)}, also=hold)


async def end_unbegun(database: Database, run_id: str) -> None:
    """End a run that has no record. One that a process has just taken is left to it."""
    runs, owner = Runs(database), new_owner()
    with suppress(OracleError):
        await runs.claim(run_id, owner)
        await runs.finish(run_id, owner=owner, stop_reason=NEVER_BEGUN, usage={}, at=time.time())
    await Streams(database).ended(run_id)
