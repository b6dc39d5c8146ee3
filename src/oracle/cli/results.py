"""The files of `oracle eval agent --results`, as commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from oracle.cli.terminal.output import counted, say
from oracle.cli.terminal.safe_text import printable

if TYPE_CHECKING:
    from oracle.evaluation.agent_report import Results

MOST_NAMED = 10


def results_in(file: Path, agent: str | None = None) -> Results:
    """What a file has of this agent; of none given, the one that was asked last.

    What is left out is said on stderr: without it the figures are those of fewer questions.
    """
    from oracle.evaluation.agent_report import read_results

    every = read_results(file)
    found = every.of_the_last_agent() if agent is None else every.of_agent(agent)
    if others := len(every.outcomes) - len(found.outcomes):
        text = f"{file}: {counted(others, 'result')} of other trees, prompts or limits left out"
        say(printable(text))
    if found.unreadable:
        shown = ", ".join(map(str, found.unreadable[:MOST_NAMED]))
        more = len(found.unreadable) - MOST_NAMED
        lines = f"{shown} and {more} more" if more > 0 else shown
        which = f"line {lines} is" if len(found.unreadable) == 1 else f"lines {lines} are"
        text = f"{file}: {which} not whole and left out, as after a crash"
        say(printable(text))
    return found
