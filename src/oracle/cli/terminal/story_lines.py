"""The story of a run as lines of text, for a terminal of any width or for a pipe."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from oracle.cli.terminal.output import counted
from oracle.cli.terminal.places import MOST_RANGES, Place, Source, places
from oracle.cli.terminal.safe_text import printable, safe_text
from oracle.cli.terminal.tables import StyledLine, Tone, cut, wrapped
from oracle.cli.terminal.times import shown_duration, shown_money, shown_tokens
from oracle.lazy_dataclass import dataclass
from oracle.services.story.story import Step, Story, Turn
from oracle.services.story.words import stop_words

LONGEST_DRAFT: Final = 300
MOST_FOUND: Final = 4
_INDENT: Final = "  "
_BELOW: Final = "      "


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    """What the record knows besides the story, ready to be shown."""

    run: str
    question: str
    about: Sequence[str]
    has_costs: bool
    state: str
    not_replayed: str = ""


def story_lines(heading: Heading, story: Story, width: int | None) -> Iterator[StyledLine]:
    yield StyledLine(f"Run {printable(heading.run)}", "bold")
    yield from _paragraph(" · ".join(map(printable, heading.about)), width, tone="dim")
    yield from _section("Question", heading.question, width)
    if heading.not_replayed:
        text = f"Told from the record alone: {printable(heading.not_replayed)}."
        yield StyledLine("")
        yield from _paragraph(text, width, tone="yellow")
    has_costs = heading.has_costs
    for turn in story.turns:
        yield StyledLine("")
        yield from _heading(_turn_heading(turn, has_costs=has_costs), width)
        for step in turn.steps:
            yield from _step_lines(step, width)
    if story.answer:
        yield from _section("Answer", story.answer, width)
    yield from _ending(heading, story, width, has_costs=has_costs)


def _turn_heading(turn: Turn, *, has_costs: bool) -> str:
    title = f"Turn {turn.number}" if turn.number else "Before the first turn"
    costs = [shown_duration(turn.seconds)] if turn.seconds >= 0.05 else []
    if has_costs and turn.tokens:
        costs.append(shown_tokens(turn.tokens, is_estimate=turn.is_estimate))
    if turn.money:
        costs.append(f"cost {shown_money(turn.money)}")
    return " · ".join([title, *costs])


def _step_lines(step: Step, width: int | None) -> Iterator[StyledLine]:
    is_bad = step.kind in ("warning", "error") or not step.ok
    yield from _lines(
        _sentence(step), width, first=_INDENT, rest=_BELOW, tone="yellow" if is_bad else ""
    )
    if len(step.found) > 1:
        # A single place is in the first line of its result already.
        found = f"at {_listed(_places(step.found, width), MOST_FOUND if width else None)}"
        yield from _lines(found, width, first=_BELOW, rest=f"{_BELOW}   ", tone="dim")
    if step.node:
        by = f"by {printable(branch_words(step.node))}"
        yield from _lines(by, width, first=_BELOW, rest=f"{_BELOW}   ", tone="dim")


def short_path(node: str) -> str:
    """A subtree and its root often have the same name, which a reader needs once."""
    return "/".join(name for name, _ in groupby(node.split("/")))


def branch_words(node: str) -> str:
    """The way to a node from the root of the innermost subtree that it is in.

    What is above is the same for nearly all decisions of a run, and `--json` has it.

    >>> branch_words("question/turns/turn/turn/decide/decide/stuck/try another way")
    'decide › stuck › try another way'
    """
    names = node.split("/")
    roots = [at for at in range(1, len(names)) if names[at] == names[at - 1]]
    return " › ".join(names[roots[-1] :] if roots else names)


def _sentence(step: Step) -> str:
    text, result = printable(step.text), printable(step.result)
    if step.kind == "text":
        return f"the model wrote: {cut(text, LONGEST_DRAFT)}"
    if step.kind == "signal":
        return f"the model {text} ({result})" if result else f"the model {text}"
    if step.kind == "decision":
        return f"the tree {text}"
    if step.kind == "call":
        return f"{text} → {result if step.ok else _failure(text, result)}"
    return text if step.kind == "note" else f"{step.kind}: {text}"


def _failure(call: str, result: str) -> str:
    """Why a call has no result, without the words that the line has already."""
    if result.startswith("Not run: "):
        return f"not run: {result.removeprefix('Not run: ')}"
    name = call.partition("(")[0]
    return "failed: " + result.removeprefix(f"{name} failed: ")


def _ending(
    heading: Heading, story: Story, width: int | None, *, has_costs: bool
) -> Iterator[StyledLine]:
    yield StyledLine("")
    ended = stop_words(story.stop_reason) if story.stop_reason else heading.state
    yield from _heading(f"Ended: {printable(ended)}" if story.stop_reason else ended, width)
    if story.detail:
        yield from _paragraph(printable(story.detail), width)
    if story.caveat:
        yield from _paragraph(f"caveat: {printable(story.caveat)}", width, tone="yellow")
    for missing in story.missing:
        yield from _paragraph(f"missing: {printable(missing)}", width, tone="yellow")
    if found := _places(story.sources, width, _tools_of(story)):
        yield from _paragraph(f"sources: {_listed(found, None)}", width)
    if costs := usage_words(story.usage, has_costs=has_costs):
        yield from _paragraph(costs, width, tone="dim")


def _places(
    sources: Sequence[Source], width: int | None, tools: Collection[str] = ()
) -> Sequence[Place]:
    """Merged by file. A pipe gets all ranges of a file."""
    return places(sources, tools, most_ranges=MOST_RANGES if width else len(sources))


def _tools_of(story: Story) -> set[str]:
    calls = (step.text for turn in story.turns for step in turn.steps if step.kind == "call")
    return {text.partition("(")[0] for text in calls}


def _listed(found: Sequence[Place], most: int | None) -> str:
    """The first places on a terminal; in a pipe, all of them. What is left out is counted."""
    shown = found[:most]
    left = sum(each.count for each in found) - sum(len(each.texts) for each in shown)
    return ", ".join(map(str, shown)) + (f" and {left} more" if left else "")


def usage_words(usage: Mapping[str, Any], *, has_costs: bool = True) -> str:
    """`2 turns · 3 tool calls · 1.2 s · 3,400 tokens · cost 0.012`"""
    if not usage:
        return ""
    calls = sum(usage.get("uses", {}).values())
    parts = [counted(usage.get("turns", 0), "turn"), counted(calls, "tool call")]
    parts.append(shown_duration(usage.get("seconds", 0)))
    if has_costs and usage.get("tokens"):
        is_estimate = usage.get("is_estimate", False)
        parts.append(shown_tokens(usage["tokens"], is_estimate=is_estimate))
    if usage.get("money"):
        parts.append(f"cost {shown_money(usage['money'])}")
    return " · ".join(parts)


def _section(title: str, text: str, width: int | None) -> Iterator[StyledLine]:
    yield StyledLine("")
    yield StyledLine(title, "bold")
    for line in safe_text(text).strip("\n").splitlines():
        # The indent of a line of code is a part of it.
        own = " " * min(len(line) - len(line.lstrip()), (width or 1_000) // 3)
        yield from _lines(line.strip(), width, first=f"{_INDENT}{own}", rest=f"{_INDENT}{own}")


def _heading(text: str, width: int | None) -> Iterator[StyledLine]:
    return _lines(text, width, first="", rest=_INDENT, tone="bold")


def _paragraph(text: str, width: int | None, *, tone: Tone = "") -> Iterator[StyledLine]:
    return _lines(text, width, first=_INDENT, rest=_INDENT, tone=tone)


def _lines(
    text: str, width: int | None, *, first: str, rest: str, tone: Tone = ""
) -> Iterator[StyledLine]:
    for line in wrapped(text, width, first=first, rest=rest):
        yield StyledLine(line.rstrip(), tone)
