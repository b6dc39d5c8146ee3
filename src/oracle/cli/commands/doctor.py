"""`oracle doctor`: check the configuration, and say how to fix it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from oracle.cli.options import JsonOption
from oracle.cli.terminal.output import counted, show, show_json
from oracle.cli.terminal.safe_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from oracle.cli.commands.checks import Finding

STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def doctor(json: JsonOption = False) -> None:
    """Check the configuration and say how to fix it.

    Nothing is sent to a model or to the web. It connects to the database that is set, and reads
    the key of the chosen model from the system keyring if it is there. It changes nothing, except
    that a file of keys that others can read becomes private.
    """
    from oracle.cli.commands.checks import examine

    findings = examine()
    if json:
        show_json([asdict(finding) for finding in findings])
    else:
        show(report(findings))
        typer.echo(f"oracle: {summary(findings)}", err=True)
    if any(finding.level == "problem" for finding in findings):
        raise typer.Exit(1)


def report(findings: Sequence[Finding]) -> Text:
    """One line for each finding; a next step goes on the line below."""
    from rich.text import Text

    lines: list[Text] = []
    for finding in findings:
        level = Text(f"{finding.level:<8} ", style=STYLES[finding.level])
        lines.append(level + Text(f"{finding.check:<9} {printable(finding.told)}"))
        if finding.next_step:
            lines.append(Text(f"{'':<18} → {printable(finding.next_step)}"))
    return Text("\n").join(lines)


def summary(findings: Sequence[Finding]) -> str:
    levels = [finding.level for finding in findings]
    problems, warnings = levels.count("problem"), levels.count("warning")
    if not problems and not warnings:
        return "no problems found"
    return f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}"
