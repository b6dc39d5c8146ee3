"""A decision diff as lines of text: which node decides differently, and what that changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from oracle.bt.wrappers.decisions.difference import GONE, NOT_REACHED, DecisionDiff, TurnDifference
from oracle.bt.wrappers.decisions.lookup import Note
from oracle.bt.wrappers.decisions.recording import Totals
from oracle.cli.terminal.output import counted
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import StyledLine, Tone, wrapped
from oracle.cli.terminal.times import shown_duration, shown_money
from oracle.services.story.words import stop_words

MOST_FACTS: Final = 6
LEAST_SECONDS: Final = 1.0
CALLS: Final = "calls "
"""How a fact about a tool call begins."""
_STATUSES: Final = {
    "success": "succeeded",
    "failure": "failed",
    "skipped": "was skipped",
    "halted": "was halted",
    NOT_REACHED: "was not reached",
    "": "did not exist",
}
_NOW: Final = {**_STATUSES, "success": "succeeds", "failure": "fails", "skipped": "is skipped"} | {
    "halted": "is halted",
    NOT_REACHED: "is not reached",
    GONE: "does not exist",
    "": "decides this",
}

_REASONS: Final = {
    "request": "the request is another one than recorded, and the recorded response of the same "
    "turn is used.",
    "prompt": "the recorded response is used, although the model was given another system prompt, "
    "or was another model. What the change makes it say is not known.",
}


def diff_lines(diff: DecisionDiff, width: int | None) -> Iterator[StyledLine]:
    yield StyledLine(f"Run {printable(diff.run_id)}: {verdict_words(diff)}", "bold")
    yield from _paragraph(f"question: {diff.question}", width, tone="dim")
    is_cut = diff.missing is not None
    gone = [turn for turn in diff.turns if turn.turn > diff.now.turns and not is_cut]
    for turn in diff.turns:
        if turn not in gone:
            yield StyledLine("")
            yield from _turn_lines(turn, diff, width)
    if gone:
        yield StyledLine("")
        yield from _gone_lines(gone, width)
    if diff.missing is not None:
        yield StyledLine("")
        yield from _missing_lines(diff, width)
    if diff.assumed:
        yield StyledLine("")
        for words in _assumed_words(diff.assumed):
            yield from _paragraph(words, width, tone="yellow")
    if diff.lived:
        yield StyledLine("")
        yield from _paragraph(_lived_words(diff.lived), width)
    if diff.turns or not diff.is_same or _costs_differ(diff):
        yield StyledLine("")
        yield from _totals_lines(diff, width)


def _costs_differ(diff: DecisionDiff) -> bool:
    """The same decisions may cost something else, with other prices or a shorter prompt."""
    return diff.missing is None and (
        diff.before.tokens != diff.now.tokens or diff.before.money != diff.now.money
    )


def verdict_words(diff: DecisionDiff) -> str:
    """The result in one line, which a table of many recordings shows too."""
    if diff.turns:
        first = diff.turns[0]
        where = f"first in turn {first.turn}" if first.turn else "already before the first turn"
        node = f", at {shown_node(first.node)}" if first.node else ""
        return f"decides differently, {where}{node}"
    if not diff.is_same:
        return f"ends differently: {_stop(diff.stop_before)} before, {_stop(diff.stop_now)} now"
    if diff.missing is None and diff.assumed:
        return "no decision differs, if the model answers as recorded"
    if diff.missing is None:
        return "no decision differs"
    if diff.is_followed:
        return "no decision differs up to the end of the recording; the run was interrupted there"
    return f"no decision differs up to turn {diff.missing.turn}, where the recording ends"


def shown_node(path: str) -> str:
    """`decide › context_sufficient › claim checked`: from the innermost tree on.

    A subtree and its root have the same name in our trees, so a tree begins where a name comes
    twice.
    """
    names = path.split("/")
    begins = [at for at, (name, after) in enumerate(pairwise(names), 1) if name == after]
    inner = names[begins[-1] if begins and begins[-1] < len(names) else 0 :]
    return printable(" › ".join(inner))


def _turn_lines(
    turn: TurnDifference, diff: DecisionDiff, width: int | None
) -> Iterator[StyledLine]:
    title = f"Turn {turn.turn}" if turn.turn else "Before the first turn"
    is_new = turn.turn > diff.before.turns
    yield StyledLine(f"{title} is new" if is_new else title, "bold")
    if turn.node and not is_new:
        yield from _paragraph(shown_node(turn.node), width, first="  ", tone="yellow")
        statuses = f"recorded: {_STATUSES[turn.before]} · now: {_NOW[turn.now]}"
        if turn.instead:
            statuses += f", because {shown_node(turn.instead)} comes first"
        yield from _paragraph(statuses, width, first="    ")
    yield from _facts("-", turn.no_longer, width)
    yield from _facts("+", turn.newly, width)


def _facts(sign: str, facts: Sequence[str], width: int | None) -> Iterator[StyledLine]:
    for fact in facts[:MOST_FACTS]:
        yield from _paragraph(f"{sign} {fact}", width, first="    ")
    if len(facts) > MOST_FACTS:
        yield StyledLine(f"    {sign} … and {len(facts) - MOST_FACTS} more")


def _gone_lines(turns: Sequence[TurnDifference], width: int | None) -> Iterator[StyledLine]:
    """Turns that do not happen any more, all together: there may be many."""
    first, last = turns[0].turn, turns[-1].turn
    which = f"Turn {first} does" if first == last else f"Turns {first} to {last} do"
    yield StyledLine(f"{which} not happen any more", "bold")
    facts = [fact for turn in turns for fact in turn.no_longer]
    yield from _facts("-", [fact for fact in facts if fact.startswith(CALLS)], width)


def _missing_lines(diff: DecisionDiff, width: int | None) -> Iterator[StyledLine]:
    assert diff.missing is not None
    turn, node, words, _ = diff.missing
    if diff.is_followed:
        return
    yield StyledLine("The recording ends here", "bold")
    by = f" (at {printable(' › '.join(node.split('/')[-2:]))})" if node else ""
    text = f"In turn {turn} the run needs {words}{by}. What follows is not known."
    yield from _paragraph(text, width, first="  ", tone="yellow")


def _assumed_words(assumed: Sequence[Note]) -> Iterator[str]:
    for why, reason in _REASONS.items():
        turns = sorted({note.turn for note in assumed if note.why == why})
        if turns:
            where = f"turn {turns[0]}" if len(turns) == 1 else f"turns {', '.join(map(str, turns))}"
            yield f"Assumed: in {where} {reason}"


def _lived_words(lived: Sequence[Note]) -> str:
    answers = counted(len(lived), "answer")
    return f"Live: {answers} came from the model or a tool, from turn {lived[0].turn} on."


def _totals_lines(diff: DecisionDiff, width: int | None) -> Iterator[StyledLine]:
    if diff.missing is not None:
        # A difference would compare a whole run with a part of one.
        yield StyledLine("Up to there", "bold")
        yield from _paragraph(_so_far(diff.before, diff.now), width, first="  ")
        return
    yield StyledLine("What it changes", "bold")
    for line in totals_words(diff.before, diff.now):
        yield StyledLine(f"  {line}")
    if diff.stop_before != diff.stop_now:
        ends = f"{_stop(diff.stop_before)} → {_stop(diff.stop_now)}"
        yield from _paragraph(f"end: {ends}", width, first="  ")
    yield StyledLine(f"  the answer is {'the same' if diff.same_answer else 'another one'}")


def totals_words(before: Totals, now: Totals) -> list[str]:
    rows = [
        _row("turns", before.turns, now.turns),
        _row("model requests", before.model_calls, now.model_calls),
        _row("tool calls", before.tool_calls, now.tool_calls),
        _row("tokens", before.tokens, now.tokens),
    ]
    if before.money is not None and now.money is not None and (before.money or now.money):
        rows.append(_cost_row(before.money, now.money))
    # Below that it is mostly the machine that differs.
    if abs(before.seconds - now.seconds) >= LEAST_SECONDS:
        rows.append(f"time: {shown_duration(before.seconds)} → {shown_duration(now.seconds)}")
    return rows


def _cost_row(before: float, now: float) -> str:
    was, is_ = shown_money(before), shown_money(now)
    if was == is_:
        return f"cost: {is_}, as before"
    sign = "-" if now < before else "+"
    return f"cost: {was} → {is_} ({sign}{shown_money(abs(now - before))})"


def _so_far(before: Totals, now: Totals) -> str:
    return (
        f"{counted(now.model_calls, 'model request')} of {before.model_calls} recorded, "
        f"{counted(now.tool_calls, 'tool call')} of {before.tool_calls}, "
        f"{now.tokens:,} tokens of {before.tokens:,}"
    )


def _row(name: str, before: int, now: int) -> str:
    if before == now:
        return f"{name}: {now:,}, as before"
    return f"{name}: {before:,} → {now:,} ({now - before:+,})"


def _stop(reason: str) -> str:
    return printable(stop_words(reason)) if reason else "no end"


def _paragraph(
    text: str, width: int | None, *, first: str = "", tone: Tone = ""
) -> Iterator[StyledLine]:
    for line in wrapped(printable(text), width, first=first, rest=f"{first}  "):
        yield StyledLine(line, tone)
