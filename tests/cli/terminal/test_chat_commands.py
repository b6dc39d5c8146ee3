"""What is typed into a chat: commands, questions, and what completes them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.cli.terminal.chat_commands import COMMANDS, Command, Question, help_text, parse
from oracle.errors import InputError
from tests.tables import each_row


@each_row(("line", "command", "argument"), [
    ("/help", "/help", ""),
    ("/?", "/help", ""),
    ("?", "/help", ""),
    ("help", "/help", ""),
    ("/HELP  ", "/help", ""),
    ("exit", "/exit", ""),
    ("Quit", "/exit", ""),
    ("exit()", "/exit", ""),
    ("/quit", "/exit", ""),
    ("/q", "/exit", ""),
    ("/model", "/model", ""),
    ("/ help", "/help", ""),
    ("/ model sonnet", "/model", "sonnet"),
    ("/model  openai:gpt-5 ", "/model", "openai:gpt-5"),
    ("/save 'my talk.md'", "/save", "my talk.md"),
    ("/save ~/talks/a.md", "/save", "~/talks/a.md"),
    ("/edit what is a 'b'?", "/edit", "what is a 'b'?"),
])  # fmt: skip
def test_a_command_is_recognised(line, command, argument):
    assert parse(line) == Command(name=command, argument=argument)


@each_row("line", [
    "/usr/lib is what?",
    "/etc/hosts",
    "/usr is what?",
    "// means what?",
    "/ is which route?",
    "/login is handled where?",
    " /help",
    " exit",
    "exit codes, please",
    "help me",
    "/help\nis what?",
    "quit\nexit",
    "where is /help handled?",
])  # fmt: skip
def test_what_only_looks_like_a_command_is_a_question(line):
    assert parse(line) == Question(text=line.strip())


@pytest.mark.parametrize("line", ["", "  ", "\n \n", "\t"])
def test_a_blank_line_is_nothing(line):
    assert parse(line) is None


@each_row(("line", "part"), [
    ("/nwe", "no command '/nwe'; did you mean '/new'?"),
    ("/sesion last", "did you mean '/session'?"),
    ("/quti", "did you mean '/quit'?"),
    ("/xyzzy", "/help lists the commands"),
    ("/", "/help lists the commands"),
    ("//", "/help lists the commands"),
    ("/save a.md b.md", "/save takes one file; put a name with blanks in quotes"),
    ("/\x1b[31m", "no command '/[31m'"),
    ("/undo everything", "/undo takes no argument; to ask this as a question, begin with a blank"),
])  # fmt: skip
def test_a_mistyped_command_is_named_and_asks_nothing(line, part):
    with pytest.raises(InputError, match=re.escape(part)) as raised:
        parse(line)
    assert "\n" not in str(raised.value)


@given(st.text())
def test_any_text_is_a_command_a_question_or_a_mistake(text):
    try:
        entry = parse(text)
    except InputError:
        assert text.lstrip().startswith("/")
        return
    if isinstance(entry, Question):
        assert entry.text == text.strip()


def test_the_help_names_every_command_and_fits_80_columns():
    lines = help_text().splitlines()
    assert all(any(line.startswith(command.name) for line in lines) for command in COMMANDS)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_help_breaks_no_word_on_a_narrow_terminal(width):
    text = help_text(width)
    assert max(map(len, text.splitlines())) <= width
    assert text.split() == help_text().split()
