"""What a chat says about itself: its header, its costs, its sources. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from oracle.cli.terminal.output import counted
from oracle.cli.terminal.places import places
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.times import shown_tokens
from oracle.services.settings.sections import EMBEDDED

if TYPE_CHECKING:
    from oracle.models.session import Exchange, Session
    from oracle.services.control.ledger import Limits


def header(model: str, session: Session | None, width: int) -> str:
    """One line, if it fits: the title of the session is shortened before anything else."""
    first, last = f"model {printable(model)}; ", "/help lists the commands"
    if session is None:
        return first + last
    name = f"continues session {session.id[:8]}: "
    room = max(10, width - len(f"oracle: {first}{name}; {last}"))
    return f"{first}{name}{shortened(printable(session.title), room)}; {last}"


def session_line(session: Session) -> str:
    return f"session {session.id[:8]}: {printable(session.title)}"


def dropped_line(question: str) -> str:
    shown = shortened(printable(question), 60)
    return f"the next question continues from before {shown!r}, which stays stored"


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def source_lines(sources: Sequence[Mapping[str, Any]], tools: Collection[str] = ()) -> list[str]:
    """Every file once with all its lines, numbered. `*` marks those that the answer cites."""
    found = places(sources, tools, most_ranges=len(sources))
    width = len(str(len(found)))
    lines = [
        f"{number:>{width}}  {place}{' *' if place.is_cited else ''}"
        for number, place in enumerate(found, start=1)
    ]
    return [*lines, "* cited in the answer"] if any(place.is_cited for place in found) else lines


def cost_lines(
    exchanges: Sequence[Exchange], limits: Limits, model: str, *, has_price: bool = True
) -> list[str]:
    """What the questions of a conversation have cost together, and what one of them may cost.

    Without a price nobody knows the costs, and no limit holds for them.
    """
    usages = [_usage(exchange) for exchange in exchanges]
    money, seconds = _total(usages, "money"), _total(usages, "seconds")
    calls = sum(_total([_uses(usage)], name) for usage in usages for name in _uses(usage))
    parts = [counted(len(exchanges), "question"), counted(int(_total(usages, "turns")), "turn")]
    parts.append(counted(int(calls), "tool call"))
    # The embedded model costs nothing, so its tokens mean nothing to the user.
    if model != EMBEDDED or money:
        is_estimate = any(usage.get("is_estimate") for usage in usages)
        tokens = shown_tokens(int(_total(usages, "tokens")), is_estimate=is_estimate)
        parts += [tokens, f"cost {money:.4f}" if money or has_price else "cost not known"]
    else:
        parts.append("no cost (embedded model)")
    parts.append(f"{seconds:.1f} s")
    return [
        f"this conversation: {' · '.join(parts)}",
        f"each question may use: {_shown(limits, has_price=has_price)}",
    ]


def _shown(limits: Limits, *, has_price: bool) -> str:
    money = "any cost" if limits.money is None else f"cost {limits.money:.2f}"
    money = money if has_price else "any cost (no price is known)"
    tokens = f"{limits.tokens:,} tokens"
    return f"{counted(limits.turns, 'turn')} · {tokens} · {money} · {limits.seconds:g} s"


def tools_used(exchange: Exchange) -> Collection[str]:
    return _uses(_usage(exchange))


def _usage(exchange: Exchange) -> Mapping[str, Any]:
    return _mapping(exchange.metadata.get("usage"))


def _uses(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(usage.get("uses"))


def _mapping(value: object) -> Mapping[str, Any]:
    """A damaged database may hold anything here. Only a sum is made of it."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _total(usages: Sequence[Mapping[str, Any]], name: str) -> float:
    values = (usage.get(name) for usage in usages)
    return sum(value for value in values if isinstance(value, int | float))
