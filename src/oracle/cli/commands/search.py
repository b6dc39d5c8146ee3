"""`oracle search "…"`: the passages of the project that match a question best."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.links import can_link, link, target_of
from oracle.cli.terminal.output import indexing_bar, printable, rebuilt, show_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oracle.services.search import Hit, Index

_SHOWN_LINES = 6


def search(
    query: Annotated[str, typer.Argument(help="A question in plain words, or a name.")],
    kind: Annotated[
        Literal["code", "vault", "threads"], typer.Option(help="What to search.")
    ] = "code",
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Maximum number of passages.")] = 10,
    json: JsonOption = False,
) -> None:
    """Find passages in code, notes or threads.

    The index is updated first.

    Examples:
      oracle search "how are sessions expired?"
      oracle search SESSION_SECONDS -k 3
      oracle search --kind vault "why SQLite?"
      oracle search --json "retry" | jq -r '.[].path'
    """
    from oracle.services.project.root import find_root

    root = find_root(Path.cwd())
    hits = _found(root, lambda index: index.search(query, kind, k))
    if json:
        show_json([asdict(hit) for hit in hits])
        return
    has_links = can_link(os.environ, is_terminal=sys.stdout.isatty())
    shown = render_hits(hits, root if has_links else None) if hits else "nothing found"
    typer.echo(shown)


def _found(root: Path, search: Callable[[Index], list[Hit]]) -> list[Hit]:
    from oracle.errors import StoreError
    from oracle.services.search import Index
    from oracle.services.search.bound import IN_MEMORY, Bound

    settings = settings_with()
    kept, secrets = settings.vault.kept, settings.secrets.rules
    try:
        with Index.open(root, kept=kept, secrets=secrets) as index:
            _refresh(index)
            return search(index)
    except StoreError as problem:
        print(f"oracle: {problem}; searching with an index in memory", file=sys.stderr)
    # A person sees the progress and can stop it, so there is no time limit.
    bound = Bound(files=IN_MEMORY.files, bytes=IN_MEMORY.bytes)
    with Index.in_memory(root, kept=kept, secrets=secrets, bound=bound) as index:
        _refresh(index)
        return search(index)


def _refresh(index: Index) -> None:
    with indexing_bar() as progress:
        report = index.refresh(progress)
    if report.rebuilt:
        print(f"oracle: {rebuilt(report.rebuilt)}", file=sys.stderr)
    if report.left_out:
        print(f"oracle: files not searched: {report.left_out:,}", file=sys.stderr)


def render_hits(hits: Sequence[Hit], root: Path | None = None) -> str:
    """With a `root`, each place is a link to its file below it."""
    return "\n\n".join(_hit(hit, root) for hit in hits)


def _hit(hit: Hit, root: Path | None) -> str:
    symbol = f"  {printable(hit.symbol)}" if hit.symbol else ""
    lines = [line for line in hit.text.splitlines() if line.strip()][:_SHOWN_LINES]
    shown = "\n".join(f"    {_plain(line)}" for line in lines)
    place = f"{printable(hit.path)}:{hit.start}-{hit.end}"
    if root is not None:
        place = link(place, target_of({"path": hit.path, "start": hit.start}, root=root))
    return f"{place}  {hit.score:.2f}{symbol}\n{shown}"


def _plain(line: str) -> str:
    """The line with its indentation, without characters that could control the terminal."""
    return "".join(letter for letter in line.expandtabs(4) if letter.isprintable())[:160]
