"""A session as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from oracle.models.session import Exchange, Session, attached_words


def as_json(session: Session, exchanges: Sequence[Exchange]) -> dict[str, Any]:
    """Everything, with the names of the fields."""
    return {"session": asdict(session), "exchanges": [asdict(exchange) for exchange in exchanges]}


def as_markdown(session: Session, exchanges: Sequence[Exchange]) -> str:
    """For reading: branch after branch, each exchange under a number that others refer to."""
    parts = [f"# {session.title}"]
    numbers: dict[str | None, int] = {None: 0}
    for number, exchange in enumerate(depth_first(exchanges), start=1):
        numbers[exchange.id] = number
        parts.append(f"## {number}")
        if (goes_on_from := numbers[exchange.parent_id]) != number - 1:
            parts.append(f"*{_origin(goes_on_from)}*")
        parts.append("\n".join(f"> {line}".rstrip() for line in exchange.question.splitlines()))
        if attached := attached_words(exchange.metadata):
            parts.append(f"*attached: {' '.join(attached.split())}*")
        parts.append(exchange.answer.strip("\n"))
    return "\n\n".join(parts) + "\n"


def _origin(number: int) -> str:
    return f"continues from {number}" if number else "starts again"


def depth_first(exchanges: Sequence[Exchange]) -> Iterator[Exchange]:
    below = children(exchanges)
    waiting = below.get(None, [])[::-1]
    while waiting:
        exchange = waiting.pop()
        yield exchange
        waiting += below.get(exchange.id, [])[::-1]


def children(exchanges: Sequence[Exchange]) -> dict[str | None, list[Exchange]]:
    """By the id of the parent; the first exchanges by None."""
    below: dict[str | None, list[Exchange]] = {}
    for exchange in exchanges:
        below.setdefault(exchange.parent_id, []).append(exchange)
    return below
