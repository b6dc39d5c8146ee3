"""`oracle index`: bring the index up to date, follow the files, or say why one is left out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.settings import settings_with
from oracle.cli.terminal.indexing_bar import bar, rebuilt
from oracle.cli.terminal.terminal import counted, printable

if TYPE_CHECKING:
    from oracle.services.search import Index, RefreshReport


def index(
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running, and index changes as they happen.")
    ] = False,
    explain: Annotated[
        Path | None,
        typer.Option(
            "--explain", readable=False, help="Say whether this file is indexed, or why not."
        ),
    ] = None,
) -> None:
    """Index the project's files, or only those that changed since the last time."""
    from oracle.services.project.root import find_root
    from oracle.services.search import Index

    with Index.open(find_root(Path.cwd()), kept=settings_with().vault.kept) as opened:
        if explain is not None:
            typer.echo(_explained(opened, explain))
        elif watch:
            _follow(opened)
        else:
            with bar() as progress:
                report = opened.refresh(progress)
            typer.echo(render_report(report))


def render_report(report: RefreshReport) -> str:
    total = report.added + report.changed + report.unchanged
    text = (
        f"{counted(total, 'file')} indexed: {report.added} new, {report.changed} changed, "
        f"{report.removed} gone, {report.skipped} left out"
    )
    if report.rebuilt:
        text += f"\n{rebuilt(report.rebuilt)}"
    return text


def _explained(opened: Index, path: Path) -> str:
    reason = opened.explain(Path.cwd() / path)
    name = printable(str(path))
    return f"{name}: not indexed: {printable(reason)}" if reason else f"{name}: indexed"


def _follow(opened: Index) -> None:
    from threading import Event

    from oracle.services.search.watch import follow

    stop = Event()
    print("oracle: following the files; Ctrl-C ends it", file=sys.stderr, flush=True)
    try:
        for report in follow(opened, stop):
            print(render_report(report), flush=True)
    except KeyboardInterrupt:
        stop.set()
        raise typer.Exit(130) from None
