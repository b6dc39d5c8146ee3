"""The outcome of a question: the exit code, and the notes below the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from oracle import errors
from oracle.cli.terminal.output import counted
from oracle.cli.terminal.safe_text import printable

INCOMPLETE: Final = 3
EXIT_CODES: Final[Mapping[str, int]] = {
    "answered": 0,
    "partial_answer": INCOMPLETE,
    "stuck": INCOMPLETE,
    "turn_limit": INCOMPLETE,
    "token_limit": INCOMPLETE,
    "money_limit": INCOMPLETE,
    "time_limit": INCOMPLETE,
    "refusal": INCOMPLETE,
    "content_filter": INCOMPLETE,
    "cancelled": 130,
    "model_unavailable": 69,
    "no_progress": 70,
    "tick_budget": 70,
    "internal_error": 70,
    "invalid_input": 2,
    "store_failed": 74,
    "held_elsewhere": 75,
    "settled": INCOMPLETE,
}
"""By stop reason. A user's own tree may have others; these count as incomplete."""

_CODES_OF_ERRORS: Final = {
    name: kind.exit_code
    for name, kind in vars(errors).items()
    if isinstance(kind, type)
    and issubclass(kind, errors.OracleError)
    and kind.exit_code != errors.OracleError.exit_code
}

MOST_SOURCES: Final = 8

Done = Mapping[str, Any]


def exit_code(done: Done) -> int:
    """The code of the error that ended the run, if its class has one; else that of the stop reason.

    A refused key and an unreachable model have the same stop reason, but the user must do
    different things: change the settings, or wait.
    """
    by_reason = EXIT_CODES.get(done["stop_reason"], INCOMPLETE)
    return _CODES_OF_ERRORS.get(done["error_kind"], by_reason)


def is_error(done: Done) -> bool:
    """Whether something must change before the same question can be answered."""
    return exit_code(done) not in (0, INCOMPLETE, 130)


def notes(done: Done, sources: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What the reader should know besides the answer, as pairs of heading and text."""
    if sources:
        yield "sources", _listed(sources)
    if done["caveat"]:
        yield "caveat", printable(done["caveat"])
    for missing in done["missing"]:
        yield "missing", printable(missing)
    if done["stop_reason"] != "answered" and not is_error(done):
        detail = f": {printable(done['detail'])}" if done["detail"] else ""
        yield "not whole", printable(done["stop_reason"].replace("_", " ")) + detail


def summary(done: Done) -> str:
    """`answered · 2 turns · 3 tool calls · 3,400 tokens · cost 0.0120 · 1.2 s · run 1a2b3c4d`"""
    usage = done["usage"]
    parts = [done["stop_reason"].replace("_", " ")]
    if usage:
        parts.append(counted(usage["turns"], "turn"))
        parts.append(counted(sum(usage["uses"].values()), "tool call"))
        parts.append(f"{usage['tokens']:,} tokens")
        if usage["money"]:
            parts.append(f"cost {usage['money']:.4f}")
        parts.append(f"{usage['seconds']:.1f} s")
    if done["run_id"]:
        parts.append(f"run {done['run_id'][:8]}")
    return " · ".join(parts)


def named(source: Mapping[str, Any]) -> str:
    return printable(str(source["where"]))


def unique_sources(sources: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each source once, cited sources first."""
    found: dict[str, Mapping[str, Any]] = {}
    for source in sorted(sources, key=lambda source: not source.get("cited")):
        found.setdefault(named(source), source)
    return list(found.values())


def _listed(sources: Sequence[Mapping[str, Any]]) -> str:
    places = list(map(named, unique_sources(sources)))
    more = f" and {len(places) - MOST_SOURCES} more" if len(places) > MOST_SOURCES else ""
    return ", ".join(places[:MOST_SOURCES]) + more
