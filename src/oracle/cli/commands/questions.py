"""`oracle questions`: the named questions of the project and of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.options import JsonOption
from oracle.cli.terminal.output import say, show_json
from oracle.cli.terminal.safe_text import printable, safe_text
from oracle.cli.terminal.tables import StyledLine, show_lines, wrapped
from oracle.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.services.templates.template_files import TemplateFile


def questions(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Print the text of this one.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the named questions for `ask -t`, or print one.

    Those of a project are in its folder .oracle/questions, as NAME.md. Yours, for all projects,
    are in ~/.config/oracle/questions.

    Examples:
      oracle questions
      oracle questions review
      oracle ask -t review path=src/auth.py
    """
    from oracle.services.templates.template_files import find_template
    from oracle.settings import load_settings

    if name is None:
        list_questions(as_json=json)
    else:
        print(safe_text(find_template(name, load_settings().root).body.strip()))


def list_questions(*, as_json: bool) -> None:
    from oracle.services.settings.resolve import shown_path
    from oracle.services.templates.template_files import template_files
    from oracle.services.user_files import config_folder
    from oracle.settings import load_settings

    listed = described(template_files(load_settings().root))
    if as_json:
        show_json(listed)
    elif listed:
        show_lines(
            lambda width: (StyledLine(line) for row in listed for line in _lines(row, width))
        )
    else:
        say(
            "no questions yet; write one in .oracle/questions/review.md, or for all projects in "
            f"{shown_path(config_folder() / 'questions')}"
        )


def described(files: Sequence[TemplateFile]) -> list[dict[str, Any]]:
    """One row for each file; one that cannot be used has its `problem`."""
    rows: list[dict[str, Any]] = []
    names: set[str] = set()
    for file in files:
        row: dict[str, Any] = {"name": file.name, "from": file.origin, "file": str(file.path)}
        try:
            template = file.read()
        except InputError as problem:
            rows.append({**row, "problem": str(problem)})
        else:
            values = {name: template.defaults.get(name) for name in template.placeholders}
            row |= {"description": template.description, "placeholders": values}
            rows.append({**row, "hidden": file.name in names})
        names.add(file.name)
    return rows


def _lines(row: dict[str, Any], width: int | None) -> list[str]:
    head, about = _words(row)
    below = wrapped(about, width, first="  ", rest="  ")
    return [*wrapped(head, width, rest="    "), *below]


def _words(row: dict[str, Any]) -> tuple[str, str]:
    if "problem" in row:
        return printable(row["name"]), f"cannot be used: {printable(row['problem'])}"
    values = row["placeholders"].items()
    given = " ".join(f"{name}={'…' if value is None else value}" for name, value in values)
    hidden = ", hidden by the project's" if row["hidden"] else ""
    about = f"{row['description']} ({row['from']}{hidden})"
    return printable(f"{row['name']} {given}"), printable(about)
