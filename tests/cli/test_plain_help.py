"""`--help` shows words that people know, and no types of Python."""

import re

import pytest

from oracle.cli.main import GROUPS
from tests.cli.processes import PIPE, oracle


def test_an_option_that_is_counted_has_no_value_and_no_default():
    shown = oracle("ask", "--help", stdout=PIPE, env={"COLUMNS": "80"}).stdout.decode()
    [line] = [line for line in shown.splitlines() if "--verbose" in line]
    assert not re.search(r"\bN\b", line)
    assert "[default: 0]" not in shown


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("run show", "oracle run show [OPTIONS] [RUN]"),
        ("sessions rename", "oracle sessions rename [OPTIONS] SESSION TITLE"),
        ("search", "oracle search [OPTIONS] WORD..."),
        ("tree check", "oracle tree check [OPTIONS] [PATH]..."),
    ],
)
def test_usage_names_arguments_in_capitals(command, usage):
    shown = oracle(*command.split(), "--help", stdout=PIPE, env={"COLUMNS": "80"}).stdout.decode()
    assert f"Usage: {usage}\n" in shown
    assert not re.search(r"<\w+|\{\w+\}|int range", shown)


def test_help_in_a_pipe_has_no_boxes_and_keeps_examples_as_lines():
    shown = oracle("ask", "--help", stdout=PIPE, env={"COLUMNS": "80"}).stdout.decode()
    assert not re.search("[╭│─╰]", shown)
    assert '    oracle ask --diff "is this safe?"' in shown.splitlines()
    assert "  -q, --quiet              Print only the answer, and errors." in shown.splitlines()


def test_commands_are_listed_in_groups_with_asking_first():
    shown = oracle("--help", stdout=PIPE, env={"COLUMNS": "80"}).stdout.decode()
    headings = re.findall(r"^(\w[\w ]*):$", shown, re.MULTILINE)
    assert headings == ["Options", *GROUPS]
    assert re.search(r"^Ask:\n  ask  +Answer a question", shown, re.MULTILINE)
