"""`oracle index`: update the index, watch the files, or say why a file is not indexed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.project import settings_with
from oracle.cli.terminal.output import counted, indexing_bar, rebuilt
from oracle.cli.terminal.safe_text import printable
from oracle.errors import NotFound

if TYPE_CHECKING:
    from oracle.services.search import Index, RefreshReport


def index(
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running and index changes as they happen.")
    ] = False,
    explain: Annotated[
        Path | None,
        typer.Option(
            "--explain",
            metavar="FILE",
            readable=False,
            help="Say whether this file is indexed, and if not, why.",
        ),
    ] = None,
) -> None:
    """Index the project's files.

    After the first time, only changed files are read. Asking and searching do this by themselves.

    Examples:
      oracle index
      oracle index --explain deploy/.env
    """
    from oracle.services.project.root import find_root
    from oracle.services.search import Index

    root, settings = find_root(Path.cwd()), settings_with()
    with Index.open(root, kept=settings.vault.kept, secrets=settings.secrets.rules) as opened:
        if explain is not None:
            typer.echo(_explained(opened, explain))
        elif watch:
            _watch(opened)
        else:
            with indexing_bar() as progress:
                report = opened.refresh(progress)
            typer.echo(render_report(report))


def render_report(report: RefreshReport) -> str:
    total = report.added + report.changed + report.unchanged
    text = (
        f"{counted(total, 'file')} indexed: {report.added:,} new, {report.changed:,} changed, "
        f"{report.removed:,} removed, {report.skipped:,} skipped"
    )
    if report.rebuilt:
        text += f"\n{rebuilt(report.rebuilt)}"
    return text


def _explained(opened: Index, path: Path) -> str:
    # A broken link is there too, and the reason names it.
    if not os.path.lexists(path):
        raise NotFound(f"no file {str(path)!r}; the path is relative to the current folder")
    reason = opened.explain(Path.cwd() / path)
    name = printable(str(path))
    return f"{name}: not indexed: {printable(reason)}" if reason else f"{name}: indexed"


def _watch(opened: Index) -> None:
    from threading import Event

    from oracle.services.search.watch import follow

    stop = Event()
    print("oracle: watching the files; press Ctrl-C to stop", file=sys.stderr, flush=True)
    try:
        for report in follow(opened, stop):
            print(render_report(report), flush=True)
    except KeyboardInterrupt:
        stop.set()
        raise typer.Exit(130) from None
