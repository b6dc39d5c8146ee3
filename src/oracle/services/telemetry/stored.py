"""The spans of a run that has ended, or was interrupted, from its stored events."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from oracle.errors import NotFound
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import open_events, pages
from oracle.services.telemetry.run_spans import RunSpans

if TYPE_CHECKING:
    from oracle.services.storage.addresses import Address
    from oracle.services.telemetry.span import Span


def spans_of_run(url: Address, run_id: str, *, content: bool, answer: str = "") -> list[Span]:
    """They have the ids that were sent live. So a trace that arrived in part becomes whole."""
    run = RunSpans(run_id, content=content)
    spans: list[Span] = []
    with closing(open_events(url)) as table:
        for page in pages(table, EventQuery(run_id=run_id)):
            for stored in page:
                spans += run.feed(stored.event)
    run.answered(answer)
    spans += run.rest()
    if not spans:
        raise NotFound(f"run {run_id} has no stored events, so there is no trace of it")
    return spans
