"""The outcome of a question: the exit code, and the lines below the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle import errors
from oracle.cli import INTERRUPTED
from oracle.cli.terminal.next_steps import ASK_ON, NEEDS_MODEL, ONE_TURN, next_steps
from oracle.cli.terminal.output import counted
from oracle.cli.terminal.places import Place
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.times import shown_tokens
from oracle.services.control.unfinished_answer import (
    EXPLAINED,
    NO_ANSWER,
    NO_SEARCH,
    NO_SURE_PLACE,
    NOT_COMPLETE,
    NOTHING_ATTACHED,
    NOTHING_CHANGED,
    NOTHING_LOOKED_AT,
    NOTHING_PIPED,
)

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
    "cancelled": INTERRUPTED,
    "model_unavailable": 69,
    "no_progress": 70,
    "tick_budget": 70,
    "internal_error": 70,
    "invalid_input": 2,
    "store_failed": 74,
    "held_elsewhere": 75,
    "spend_limit": 75,
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

MOST_PLACES: Final = 8
_SOURCES: Final = "sources: "
_NO_MODEL_HELPS: Final = (NOTHING_PIPED, NOTHING_ATTACHED, NOTHING_CHANGED)

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
    return exit_code(done) not in (0, INCOMPLETE, INTERRUPTED)


def fitting(found: Sequence[Place], done: Done, *, width: int, has_model: bool) -> Sequence[Place]:
    """The first places that fit on a line with the rest of it; at least one."""
    shown = found[:MOST_PLACES]
    while len(shown) > 1 and len(below(shown, found, done, has_model=has_model)) > width:
        shown = shown[:-1]
    return shown


def below(shown: Sequence[Place], found: Sequence[Place], done: Done, *, has_model: bool) -> str:
    """`sources: a.py:3-20, 40-52, b.py:7 and 2 more · 1.2 s · 3,400 tokens · cost 0.0120`

    The embedded model has no tokens that anybody pays for.
    """
    parts: list[str] = []
    if found:
        left = sum(each.count for each in found) - sum(len(each.texts) for each in shown)
        more = f" and {left} more" if left else ""
        parts.append(_SOURCES + ", ".join(map(str, shown)) + more)
    if usage := done["usage"]:
        spent = _spent(usage) if has_model else []
        # An error is one line: the time alone adds nothing to it.
        if found or spent or not is_error(done):
            parts += [f"{usage['seconds']:.1f} s", *spent]
    return " · ".join(parts)


def what_is_missing(
    done: Done,
    *,
    has_model: bool = True,
    is_answer_seen: bool = False,
    steps: Mapping[str, str] | None = None,
) -> str | None:
    """One line that says why the answer is not whole, and what to do; None if it is whole.

    What the answer says itself is not repeated to somebody who sees it. In a pipe the exit code 3
    always has a line.
    """
    said = [_why_it_ended(done, has_model=has_model, is_answer_seen=is_answer_seen)]
    missing = _missing(done)
    if missing == [NOTHING_PIPED]:
        # A line above says so, and what to check.
        missing = []
    elif NO_SURE_PLACE in missing:
        # The answer begins with that.
        said.append("" if is_answer_seen else "not sure that these places answer the question")
    elif missing and not (not has_model and NO_SEARCH in done["answer"]):
        # What was never looked for cannot be missing.
        said.append(_listed(missing, has_model=has_model))
    if done["caveat"]:
        said.append(_caveat(done["caveat"], is_first=not any(said)))
    if exit_code(done) == INCOMPLETE:
        said.append(_next_step(done, steps or next_steps(), has_model=has_model))
    return printable("; ".join(filter(None, said))) or None


def _why_it_ended(done: Done, *, has_model: bool, is_answer_seen: bool) -> str:
    reason: str = done["stop_reason"]
    if not has_model and NO_SEARCH in done["answer"]:
        return "not complete, because nothing was searched"
    if (
        reason == "answered"
        or is_error(done)
        or (is_answer_seen and NOT_COMPLETE in done["answer"])
    ):
        return ""
    if reason == "partial_answer":
        if not done["missing"]:
            return "not complete, because it answers only a part of the question"
        is_said = not _missing(done) and not is_answer_seen
        return "not complete, as the answer says itself" if is_said else ""
    detail = f" ({done['detail']})" if done["detail"] else ""
    return f"not complete, because {_in_words(reason)}{detail}"


def _missing(done: Done) -> list[str]:
    """What the answer does not name itself."""
    if done["stop_reason"] == "cancelled":
        # Those who stop an answer know that something is missing.
        return []
    missing = [each for each in done["missing"] if not _says(done["answer"], each)]
    return [each for each in missing if each != NO_ANSWER] if is_error(done) else missing


def _listed(missing: Sequence[str], *, has_model: bool) -> str:
    """The embedded model lists words of the question. All else is a thing that is missing."""
    words = ", ".join(missing).split(", ")
    are_words = not has_model and all(len(word.split()) == 1 for word in words)
    return f"{'not found' if are_words else 'missing'}: {'; '.join(missing)}"


def _caveat(text: str, *, is_first: bool) -> str:
    return f"caveat: {text}" if is_first else f"with the caveat “{text}”"


def _next_step(done: Done, steps: Mapping[str, str], *, has_model: bool) -> str:
    """Empty if the line, the answer or a line above it names one already."""
    reason: str = done["stop_reason"]
    has_no_source = NOTHING_LOOKED_AT in done["missing"] or NO_SEARCH in done["answer"]
    if has_no_source and _had_one_turn(done) and not reason.endswith("_limit"):
        # No tools were allowed. With more turns, a model that has not looked is sent back.
        return steps[ONE_TURN]
    if any("`" in each for each in done["missing"]):
        return ""
    if reason in steps:
        return steps[reason]
    if reason != "partial_answer" or any(each in _NO_MODEL_HELPS for each in done["missing"]):
        return ""
    return steps[ASK_ON if has_model else NEEDS_MODEL]


def _in_words(stop_reason: str) -> str:
    """A tree of the user may have reasons of its own."""
    return EXPLAINED.get(stop_reason) or stop_reason.replace("_", " ")


def _had_one_turn(done: Done) -> bool:
    return bool(done["usage"]) and done["usage"]["turns"] <= 1


def _says(answer: str, missing: str) -> bool:
    """Whether the answer says that it is missing, or at least what to do about it."""
    return missing in answer or missing.rpartition("; ")[2] in answer


def summary(done: Done, *, has_model: bool) -> str:
    """`answered · 2 turns · 3 tool calls · 3,400 tokens · cost 0.0120 · 1.2 s · run 1a2b3c4d`"""
    usage = done["usage"]
    parts = [done["stop_reason"].replace("_", " ")]
    if usage:
        parts.append(counted(usage["turns"], "turn"))
        parts.append(counted(sum(usage["uses"].values()), "tool call"))
        if has_model:
            parts += _spent(usage)
        parts.append(f"{usage['seconds']:.1f} s")
    if done["run_id"]:
        parts.append(f"run {done['run_id'][:8]}")
    return " · ".join(parts)


def _spent(usage: Mapping[str, Any]) -> list[str]:
    """Nothing for a run whose requests never arrived."""
    is_estimate = usage.get("is_estimate", False)
    tokens = [shown_tokens(usage["tokens"], is_estimate=is_estimate)] if usage["tokens"] else []
    about = "about " if is_estimate else ""
    money = [f"cost {about}{usage['money']:.4f}"] if usage["money"] else []
    return [*tokens, *money]
