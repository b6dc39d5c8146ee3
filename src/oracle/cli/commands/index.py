"""`oracle index`: update the index, watch the files, or say why a file is not indexed."""

from __future__ import annotations

import os
from contextlib import ExitStack
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
    from collections.abc import Mapping

    from oracle.services.search import Index, RefreshReport
    from oracle.settings import Settings


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

    root, settings = find_root(Path.cwd()), settings_with()
    with ExitStack() as stack:
        opened = _opened(stack, root, settings)
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
            reports: dict[str, RefreshReport] = {}
            for name, each in opened.items():
                with indexing_bar() as progress:
                    reports[name] = each.refresh(progress)
            if json:
                own, others = reports.pop(""), {key: asdict(it) for key, it in reports.items()}
                show_json({**asdict(own), **({"roots": others} if settings.roots else {})})
            else:
                _show("\n".join(_named(name, report) for name, report in reports.items()))


def _opened(stack: ExitStack, root: Path, settings: Settings) -> dict[str, Index]:
    """The indexes of the project and of its further roots, by their names."""
    from oracle.services.project.root import KEPT_FOLDERS
    from oracle.services.project.roots import drop_other_indexes
    from oracle.services.search import Index

    kept, secrets = settings.vault.kept, settings.secrets.rules
    opened = {"": stack.enter_context(Index.open(root, kept=kept, secrets=secrets))}
    drop_other_indexes(root, settings.roots)
    for other in settings.roots:
        if problem := other.problem:
            say(f"warning: {printable(problem)}")
            continue
        folder = other.index_folder(root)
        index = Index.open(other.path, folder=folder, kept=KEPT_FOLDERS, secrets=other.secrets)
        opened[other.name] = stack.enter_context(index)
    return opened


def _named(name: str, report: RefreshReport) -> str:
    return f"{name}/: {render_report(report)}" if name else render_report(report)


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


def _why_not_indexed(opened: Mapping[str, Index], path: Path) -> str | None:
    # A broken link is there too, and the reason names it.
    place = Path(os.path.abspath(path))
    if not os.path.lexists(place):
        name, _, inner = str(path).partition("/")
        if name not in opened or not os.path.lexists(place := opened[name].root / inner):
            raise NotFound(f"no file {str(path)!r}; the path is relative to the current folder")
    # The folder is resolved, but not the file: a link is explained as a link.
    real = Path(os.path.realpath(place.parent)) / place.name
    inside = (each for each in opened.values() if real.is_relative_to(each.root))
    index = next(inside, opened[""])
    return index.explain(place if index is opened[""] else real)


def _watch(opened: Mapping[str, Index], *, as_json: bool) -> None:
    import json
    from threading import Event

    from oracle.services.search.watch import follow_several

    stop = Event()
    say("watching the files; press Ctrl-C to stop")
    try:
        for name, report in follow_several(opened, stop):
            about = {"root": name} if name else {}
            as_object = json.dumps({**about, **asdict(report)})
            print(as_object if as_json else _named(name, report), flush=True)
    except KeyboardInterrupt:
        stop.set()
        raise typer.Exit(130) from None
