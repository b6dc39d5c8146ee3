"""`oracle search "…"`: the passages of the project that match a question best."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.links import can_link, linked_roots, target_of
from oracle.cli.terminal.output import indexing_bar, rebuilt, say, show, show_json, shown_error
from oracle.cli.terminal.safe_text import printable, safe_text
from oracle.cli.terminal.tables import cut, shown_width
from oracle.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.text import Text

    from oracle.services.project.roots import Roots
    from oracle.services.project.secret_files import SecretFiles
    from oracle.services.search import Hit, Index, Kind
    from oracle.settings import Settings

INCOMPLETE = 3
KINDS: tuple[Kind, ...] = ("code", "vault", "threads")
_SHOWN_LINES = 6
_SHOWN_LETTERS = 160
_INDENT = "    "


def search(
    words: Annotated[
        list[str],
        typer.Argument(metavar="WORD", help="A question in plain words, or a name."),
    ],
    kind: Annotated[
        Literal["code", "vault", "threads"], typer.Option(help="What to search.")
    ] = "code",
    limit: Annotated[
        int,
        typer.Option(
            "--limit", "-n", "-k", metavar="N", min=1, max=100, help="Maximum number of passages."
        ),
    ] = 10,
    json: JsonOption = False,
) -> None:
    """Find passages in code, notes or threads.

    The index is updated first. If nothing is found, the exit code is 3.

    Examples:
      oracle search the login
      oracle search "how are sessions expired?"
      oracle search SESSION_SECONDS -n 3
      oracle search --kind vault "why SQLite?"
      oracle search --json "retry" | jq -r '.[].path'
    """
    from oracle.services.project.root import find_root

    query = " ".join(words).strip()
    if not query:
        raise InputError('there is nothing to search for; write some words: oracle search "retry"')
    root, settings = find_root(Path.cwd()), settings_with()
    hits = _found(root, settings, query, kind, limit)
    if json:
        show_json([asdict(hit) for hit in hits])
    elif not hits:
        others: list[Kind] = [each for each in KINDS if each != kind]
        with_it = [each for each in others if _found(root, settings, query, each, 1)]
        say(nothing_found(query, kind, with_it))
    elif can_link(os.environ, is_terminal=sys.stdout.isatty()):
        linked = linked_roots(settings) or root
        show(linked_hits(hits, linked, shown_width()), wraps=False)
    else:
        print(render_hits(hits, shown_width()))
    if not hits:
        raise typer.Exit(INCOMPLETE)


def nothing_found(query: str, kind: str, others: Sequence[str]) -> str:
    """`others` are the kinds that have something: most people do not know what counts as which."""
    told = f"nothing found in {kind} for {printable(query)!r}"
    if not others:
        rest = " or ".join(each for each in KINDS if each != kind)
        return f"{told}, nor in {rest}; try other words"
    also = " and ".join(f"`--kind {each}`" for each in others)
    return f"{told}; {also} {'finds' if len(others) == 1 else 'find'} something"


def _found(root: Path, settings: Settings, query: str, kind: Kind, limit: int) -> list[Hit]:
    kept, secrets = settings.vault.kept, settings.secrets.rules
    with ExitStack() as opened:
        main = _opened(opened, root, kept, secrets)
        if not settings.roots:
            return main.search(query, kind, limit)
        from oracle.services.project.root import KEPT_FOLDERS
        from oracle.services.search.several import search_several

        indexes = {"": main}
        for other in settings.roots:
            if problem := other.problem:
                say(f"warning: {printable(problem)}")
                continue
            home = partial(other.index_folder, root)
            index = _opened(opened, other.path, KEPT_FOLDERS, other.secrets, home)
            indexes[f"{other.name}/"] = index
        return search_several(indexes, query, kind, limit)


def _opened(
    opened: ExitStack,
    root: Path,
    kept: tuple[str, ...],
    secrets: SecretFiles,
    folder: Callable[[], Path] | None = None,
) -> Index:
    """An index that is up to date: on disk, or else in memory."""
    from oracle.errors import StoreError
    from oracle.services.search import Index
    from oracle.services.search.bound import IN_MEMORY, Bound

    try:
        place = folder and folder()
        index = opened.enter_context(Index.open(root, folder=place, kept=kept, secrets=secrets))
        _refresh(index)
        return index
    except StoreError as problem:
        say(f"{shown_error(problem)}; searching with an index in memory")
    # A person sees the progress and can stop it, so there is no time limit.
    bound = Bound(files=IN_MEMORY.files, bytes=IN_MEMORY.bytes)
    index = opened.enter_context(Index.in_memory(root, kept=kept, secrets=secrets, bound=bound))
    _refresh(index)
    return index


def _refresh(index: Index) -> None:
    with indexing_bar() as progress:
        report = index.refresh(progress)
    if report.rebuilt:
        say(rebuilt(report.rebuilt))
    if report.left_out:
        say(f"files not searched: {report.left_out:,}")


def render_hits(hits: Sequence[Hit], width: int | None = None) -> str:
    return "\n\n".join(f"{_place(hit)}{_passage(hit, width)}" for hit in hits)


def linked_hits(hits: Sequence[Hit], root: Path | Roots, width: int | None = None) -> Text:
    """Like `render_hits`; each place is a link to its file below `root`."""
    from rich.style import Style
    from rich.text import Text

    def linked(hit: Hit) -> Text:
        target = target_of({"path": hit.path, "start": hit.start}, root=root)
        return Text().append(_place(hit), Style(link=target or None)).append(_passage(hit, width))

    return Text("\n\n").join(map(linked, hits))


def _place(hit: Hit) -> str:
    return f"{printable(hit.path)}:{hit.start}-{hit.end}"


def _passage(hit: Hit, width: int | None) -> str:
    symbol = f"  {printable(hit.symbol)}" if hit.symbol else ""
    lines = [safe_text(line.expandtabs(4)) for line in hit.text.splitlines() if line.strip()]
    most = _SHOWN_LETTERS if width is None else min(_SHOWN_LETTERS, width - len(_INDENT))
    shown = "\n".join(f"{_INDENT}{cut(line, most)}" for line in lines[:_SHOWN_LINES])
    heading = f"  {hit.score:.2f}{symbol}"
    # The place is never cut: it can be copied, and a terminal makes a link of it.
    return f"{heading if width is None else cut(heading, width - len(_place(hit)))}\n{shown}"
