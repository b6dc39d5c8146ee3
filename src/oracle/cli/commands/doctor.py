"""`oracle doctor`: check the configuration, and say how to fix it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from oracle.cli.options import JsonOption
from oracle.cli.terminal.output import counted, say, show, show_json
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import shown_width, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from oracle.cli.commands.checks import Finding

ROOMY = 70
"""Columns from which the texts are below each other."""

STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def doctor(json: JsonOption = False) -> None:
    """Check the configuration and say how to fix it.

    Nothing is sent to a model or to the web. It connects to the database that is set, and to a
    server of models on this machine. It may read the key of the chosen model from the system
    keyring. It changes nothing, except that a file of keys that others can read becomes private.
    """
    from oracle.cli.commands.checks import examine

    findings = examine()
    if json:
        show_json([asdict(finding) for finding in findings])
    else:
        # The terminal folds what is too long for a line: a command or a path can be copied then.
        show(report(findings, width=shown_width()), wraps=False)
        say(summary(findings))
    if any(finding.level == "problem" for finding in findings):
        raise typer.Exit(1)


def report(findings: Sequence[Finding], *, width: int | None = None) -> Text:
    """What was found, and below it the next step. Lines are broken at words to fit a width."""
    from rich.text import Text

    indent = " " * (19 if width is None or width >= ROOMY else 4)
    lines: list[Text] = []
    for finding in findings:
        head = f"{finding.level:<8} {finding.check:<9} "
        told = Text("\n".join(wrapped(printable(finding.told), width, first=head, rest=indent)))
        told.stylize(STYLES[finding.level], 0, len(finding.level))
        lines.append(told)
        if finding.next_step:
            arrow = f"{indent}→ "
            step = wrapped(printable(finding.next_step), width, first=arrow, rest=f"{indent}  ")
            lines.append(Text("\n".join(step)))
    return Text("\n").join(lines)


def summary(findings: Sequence[Finding]) -> str:
    levels = [finding.level for finding in findings]
    problems, warnings = levels.count("problem"), levels.count("warning")
    if not problems and not warnings:
        return "no problems found"
    return f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}"
