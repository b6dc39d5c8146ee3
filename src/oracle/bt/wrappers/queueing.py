"""Stores a question as a run that another process begins, and reads it back there."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from oracle.bt.wrappers.recipe import AgentSetup
from oracle.bt.wrappers.run_store import BEFORE_FIRST, RunStore
from oracle.errors import InputError
from oracle.models.session import Exchange
from oracle.models.source import NOTHING_GIVEN, Given
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Prices
from oracle.services.project.diffs import without_secret_files
from oracle.services.project.redaction import redact, redacted
from oracle.services.signals.said import is_visible
from oracle.services.storage.budgets import need_of
from oracle.services.storage.runs import QUEUED, SERVER
from oracle.services.storage.spend import Hold


async def store_question(
    store: RunStore,
    agent: AgentSetup,
    question: str,
    context_id: str | None = None,
    *,
    session_id: str | None = None,
    given: Given = NOTHING_GIVEN,
    history: Sequence[Exchange] | None = None,
    limits: Limits | None = None,
    run_id: str,
    approve: Literal["as usual"] | None = "as usual",
    may_write: bool = True,
    priority: int = 0,
) -> None:
    """The options are those of `OracleBTWrapper.new_run`.

    Secrets are removed before anything is stored, as they are before a record is written.
    """
    if not is_visible(question):
        raise InputError("the question is empty; ask something")
    parent: Exchange | None = None
    if history is None:
        found = await store.history(context_id, session_id)
        parent = found[-1] if found else None
        opens_session = parent is None and session_id is None
        if parent is not None:
            session_id = parent.session_id
        elif opens_session:
            session_id = uuid.uuid4().hex
    else:
        opens_session = False
    request: dict[str, Any] = {
        **_asked(question, given, limits, may_write=may_write),
        # The place is fixed now: what is asked meanwhile in the same session is another branch.
        "context_id": BEFORE_FIRST if parent is None else parent.id,
        "session_id": session_id,
        "history": None if history is None else [*map(_without_secrets, history)],
        # Whom the worker may ask: decided here, where the user is known.
        "can_ask": approve is not None,
    }
    await store.runs.begin(
        run_id=run_id,
        question=request["question"],
        tree=agent.tree,
        at=time.time(),
        owner=None,
        session_id=session_id,
        context_id=None if parent is None else parent.id,
        opens_session=opens_session,
        project=agent.project,
        door=QUEUED,
        request=request,
        priority=priority,
        hold=_check(agent, limits),
    )


async def store_in_line(
    store: RunStore,
    agent: AgentSetup,
    question: str,
    context_id: str | None = None,
    *,
    line: str,
    run_id: str,
    session_id: str | None = None,
    given: Given = NOTHING_GIVEN,
    limits: Limits | None = None,
    may_write: bool = True,
) -> None:
    """For a question that this process begins in a moment. If it dies before that, another one
    does. The place in the conversation is found when it begins.
    """
    request: dict[str, Any] = {
        **_asked(question, given, limits, may_write=may_write),
        "context_id": context_id,
        "session_id": session_id,
        "history": None,
        "can_ask": True,
    }
    await store.runs.begin(
        run_id=run_id,
        question=request["question"],
        tree=agent.tree,
        at=time.time(),
        owner=line,
        project=agent.project,
        door=SERVER,
        request=request,
    )


def _asked(
    question: str, given: Given, limits: Limits | None, *, may_write: bool
) -> dict[str, Any]:
    return {
        "question": redact(question),
        "given": redacted({**asdict(given), "text": without_secret_files(given.text)}),
        "may_write": may_write,
        "limits": None if limits is None else limits.check().to_dict(),
    }


def _check(agent: AgentSetup, limits: Limits | None) -> Hold:
    """Refuses a question at once if nothing is left. The worker holds what it may cost."""
    model = agent.live.model
    prices = Prices(input=0, output=0) if model is None else model.prices
    asked = (limits or agent.limits).to_dict()
    need = need_of(asked, None if prices is None else asdict(prices))
    return Hold(need=need, budgets=agent.budgets, project=agent.project, only_checks=True)


def _without_secrets(exchange: Exchange) -> dict[str, Any]:
    # Not the ids, some of which look like keys.
    said = {"question": exchange.question, "answer": exchange.answer}
    return {**asdict(exchange), **redacted({**said, "metadata": dict(exchange.metadata)})}


def options_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `OracleBTWrapper.new_run` for a stored question."""
    history, limits = request["history"], request["limits"]
    kept = history is None
    return {
        "context_id": request["context_id"] if kept else None,
        "session_id": request["session_id"] if kept else None,
        "given": Given(**request["given"]),
        "history": None if kept else [Exchange(**exchange) for exchange in history],
        "limits": None if limits is None else Limits(**limits),
        "approve": "as usual" if request["can_ask"] else None,
    }
