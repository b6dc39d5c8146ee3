"""The pages on settings and commands leave nothing out."""

import html
import re
from pathlib import Path

import pytest
from typer.main import get_command

from oracle import errors
from oracle.cli.main import app
from oracle.errors import OracleError
from oracle.services.settings.sections import KEY_VARIABLES
from oracle.services.settings.template import as_toml
from oracle.settings import SETTINGS
from tests.tables import each_row

DOCS = Path(__file__).parents[1] / "docs"
CONFIGURATION = (DOCS / "configuration.md").read_text(encoding="utf-8")
CLI = (DOCS / "cli.md").read_text(encoding="utf-8")
CODES = {
    int(code): set(re.findall(r"`(\w+)`", classes))
    for code, classes in re.findall(r"^\| (\d+) \| .* \|(.*)\|$", CLI, re.MULTILINE)
}
ERRORS = [
    found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, OracleError)
]


@each_row("row", SETTINGS.values(), ids=SETTINGS)
def test_each_setting_is_documented_with_its_default(row):
    default = "not set" if row.default is None else f"`{as_toml(row.default)}`"
    flag = f"`{row.flag}`" if row.flag else ""
    line = f"| `{row.name}` | {default} | {row.kind.words} | {flag} | {row.meaning} |"
    assert line in CONFIGURATION.splitlines()


def test_no_setting_is_documented_that_does_not_exist():
    assert set(re.findall(r"^\| `(\w+\.\w+)`", CONFIGURATION, re.MULTILINE)) == SETTINGS.keys()


@pytest.mark.parametrize("variable", KEY_VARIABLES.values())
def test_the_variables_of_keys_are_named(variable):
    assert f"`{variable}`" in CONFIGURATION


def leaves_of(command, path="oracle"):
    below = getattr(command, "commands", None)
    if below is None:
        yield path
    else:
        for name, inner in below.items():
            yield from leaves_of(inner, f"{path} {name}")


@each_row("command", list(leaves_of(get_command(app))))
def test_each_command_is_in_the_table(command):
    assert f"| `{command}` |" in CLI


@each_row("error", ERRORS, ids=lambda error: error.__name__)
def test_the_exit_code_of_each_error_is_in_the_table(error):
    assert error.exit_code in CODES
    if "exit_code" in vars(error):
        assert error.__name__ in CODES[error.exit_code]


def test_no_error_is_listed_under_a_code_that_is_not_its_own():
    for code, names in CODES.items():
        assert all(getattr(errors, name).exit_code == code for name in names)


def test_the_picture_in_the_readme_shows_the_quiet_terminal_of_today():
    """`scripts/terminal_picture.py` writes it. It was once older than what it shows."""
    picture = html.unescape((DOCS / "images/terminal.svg").read_text()).replace("\xa0", " ")
    shown = re.sub(r"<[^>]+>", "", picture)
    assert '$ oracle "how does' in shown
    assert re.search(r"sources: \S+:\d+.* · \d+\.\d s", shown)
    assert not re.search(r"signal +need_turn|tool +search_code|\btokens\b", shown)
