"""`oracle index`: update the index, watch the files, or say why a file is not indexed."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.output import counted, indexing_bar, rebuilt, say, show_json
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import StyledLine, show_lines, wrapped
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
    json: JsonOption = False,
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
            reason = _why_not_indexed(opened, explain)
            if json:
                show_json({"file": str(explain), "indexed": not reason, "reason": reason})
            else:
                name = printable(str(explain))
                _show(f"{name}: not indexed: {printable(reason)}" if reason else f"{name}: indexed")
        elif watch:
            _watch(opened, as_json=json)
        else:
            with indexing_bar() as progress:
                report = opened.refresh(progress)
            if json:
                show_json(asdict(report))
            else:
                _show(render_report(report))


def _show(text: str) -> None:
    show_lines(lambda width: (StyledLine(line) for line in lines_of(text, width)))


def lines_of(text: str, width: int | None) -> list[str]:
    return [each for line in text.splitlines() for each in wrapped(line, width, rest="  ")]


def render_report(report: RefreshReport) -> str:
    total = report.added + report.changed + report.unchanged
    text = (
        f"{counted(total, 'file')} indexed: {report.added:,} new, {report.changed:,} changed, "
        f"{report.removed:,} removed, {report.skipped:,} skipped"
    )
    if report.rebuilt:
        text += f"\n{rebuilt(report.rebuilt)}"
    return text


def _why_not_indexed(opened: Index, path: Path) -> str | None:
    # A broken link is there too, and the reason names it.
    if not os.path.lexists(path):
        raise NotFound(f"no file {str(path)!r}; the path is relative to the current folder")
    return opened.explain(Path.cwd() / path)


def _watch(opened: Index, *, as_json: bool) -> None:
    import json
    from threading import Event

    from oracle.services.search.watch import follow

    stop = Event()
    say("watching the files; press Ctrl-C to stop")
    try:
        for report in follow(opened, stop):
            print(json.dumps(asdict(report)) if as_json else render_report(report), flush=True)
    except KeyboardInterrupt:
        stop.set()
        raise typer.Exit(130) from None
