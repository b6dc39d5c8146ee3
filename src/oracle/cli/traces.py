"""`oracle run export --otlp`: a run as a trace, to a file or to a collector."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from oracle.errors import InputError, NotFound, WebProblem

if TYPE_CHECKING:
    from oracle.services.storage.database import Database
    from oracle.services.telemetry.span import Span


async def traced(
    database: Database, typed: str, project: str | None, *, content: bool
) -> list[Span]:
    """The spans of a run. `content` adds what was asked, called and answered."""
    from oracle.services.background import in_thread
    from oracle.services.storage.database import default_url
    from oracle.services.storage.exchanges import Exchanges
    from oracle.services.storage.naming import Naming
    from oracle.services.telemetry.live import wants_content
    from oracle.services.telemetry.stored import spans_of_run
    from oracle.settings import load_settings

    run = await Naming(database, project).run(typed)
    content = content or wants_content(os.environ)
    answer = ""
    if content:
        with suppress(NotFound):
            # An exchange has the id of its run.
            answer = (await Exchanges(database).get(run.id)).answer
    url = default_url(load_settings())
    return await in_thread(lambda: spans_of_run(url, run.id, content=content, answer=answer))


def send(spans: list[Span], address: str) -> None:
    """Raises if the collector did not take them."""
    from oracle.services.installing import install_command

    try:
        from oracle.services.telemetry.otlp_http import open_export
    except ImportError as problem:
        raise InputError(
            f"sending traces needs more packages ({problem}); run `{install_command('otel')}`, "
            "or write the trace to a file with -o"
        ) from None
    if not open_export()(spans):
        raise WebProblem(
            f"{address} did not take the trace; check that a collector for OTLP over HTTP listens "
            "there, or write the trace to a file with -o"
        )
