"""The files of `oracle eval agent --results`, as commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from oracle.cli.terminal.output import say
from oracle.cli.terminal.safe_text import printable

if TYPE_CHECKING:
    from oracle.evaluation.agent_report import Results

MOST_NAMED = 10


def results_in(file: Path) -> Results:
    """What a file has. Lines that cannot be read are named on stderr: without them the figures are
    those of fewer questions.
    """
    from oracle.evaluation.agent_report import read_results

    found = read_results(file)
    if found.unreadable:
        shown = ", ".join(map(str, found.unreadable[:MOST_NAMED]))
        more = len(found.unreadable) - MOST_NAMED
        lines = f"{shown} and {more} more" if more > 0 else shown
        which = f"line {lines} is" if len(found.unreadable) == 1 else f"lines {lines} are"
        text = f"{file}: {which} not whole and left out, as after a crash"
        say(printable(text))
    return found
