"""`oracle search "…"`: the passages of the project that match best."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from oracle.cli.terminal import printable, show_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.services.index import Hit

_SHOWN_LINES = 6


def search(
    query: Annotated[str, typer.Argument(help="A question in plain words, or a name.")],
    kind: Annotated[
        Literal["code", "vault", "threads"], typer.Option(help="Where to look.")
    ] = "code",
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many at most.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> None:
    """Find passages in code, notes or threads; what changed is taken in first."""
    from oracle.services.index import Index
    from oracle.services.project import find_root

    with Index.open(find_root(Path.cwd())) as index:
        index.refresh()
        hits = index.search(query, kind, k)
    if as_json:
        show_json([asdict(hit) for hit in hits])
    else:
        typer.echo(render_hits(hits) if hits else "nothing found")


def render_hits(hits: Sequence[Hit]) -> str:
    return "\n\n".join(map(_hit, hits))


def _hit(hit: Hit) -> str:
    symbol = f"  {printable(hit.symbol)}" if hit.symbol else ""
    lines = [line for line in hit.text.splitlines() if line.strip()][:_SHOWN_LINES]
    shown = "\n".join(f"    {_plain(line)}" for line in lines)
    return f"{printable(hit.path)}:{hit.start}-{hit.end}  {hit.score:.2f}{symbol}\n{shown}"


def _plain(line: str) -> str:
    """Keeps indentation, and nothing that could steer the terminal."""
    return "".join(letter for letter in line.expandtabs(4) if letter.isprintable())[:160]
