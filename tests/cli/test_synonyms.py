"""Words from other programs lead to commands and options that exist."""

import pytest
from typer.main import get_command

from oracle.cli import synonyms
from oracle.cli.main import app
from oracle.cli.routing import FLAGS, TAKES_VALUE, routed
from oracle.cli.synonyms import meant_by
from oracle.cli.terminal.failures import fail
from oracle.errors import InputError
from tests.tables import each_row

SUGGESTED = {
    *synonyms._COMMANDS.values(),
    *(each for commands in synonyms._SUBCOMMANDS.values() for each in commands.values()),
}


@each_row(
    ("typed", "meant"),
    [
        ("run last", "oracle run show last"),
        ("run LAST", "oracle run show LAST"),
        ("run 3f9a0011", "oracle run show 3f9a0011"),
        ("run list", "oracle runs"),
        ("runs last", "oracle run show last"),
        ("runs show last", "oracle run show last"),
        ("runs show", "oracle run show"),
        ("runs list", "oracle runs"),
        ("keys rm openai", "oracle keys remove openai"),
        ("keys add openai", "oracle keys set openai"),
        ("keys get openai", "oracle keys list"),
        ("config get limits.turns", "oracle config show limits.turns"),
        ("models set sonnet", "oracle models use sonnet"),
        ("sessions rm 3f9a", "oracle sessions delete 3f9a"),
        ("sessions list more", ""),
        ("audit last", ""),
        ("sessions 3f9a", "oracle sessions show 3f9a"),
        ("run shwo", ""),
        ("tree last", ""),
        ("", ""),
    ],
)
def test_a_wrong_pair_of_words_suggests_the_command_that_exists(typed, meant):
    assert meant_by(typed.split()) == meant


@pytest.mark.parametrize("suggested", sorted(SUGGESTED))
def test_what_is_suggested_exists(suggested):
    group = get_command(app)
    for word in suggested.partition(" --")[0].split():
        if not word.startswith("-"):
            group = group.commands[word]


def test_no_synonym_hides_a_command():
    commands = get_command(app).commands
    assert not set(synonyms._COMMANDS) & set(commands)
    for group, table in synonyms._SUBCOMMANDS.items():
        own = set(getattr(commands[group], "commands", ()))
        wrong = {
            word for words, meant in table.items() for word in words if meant.split()[1:] != [word]
        }
        assert not wrong & own, group


def test_options_of_other_programs_are_suggested():
    for meant in synonyms._OPTIONS.values():
        assert meant.split()[0] in TAKES_VALUE | FLAGS
    with pytest.raises(InputError, match="'-c'; did you mean `--session last`"):
        routed(["-c", "and why?"], ["ask"])


def test_an_option_is_not_similar_because_of_its_dashes():
    with pytest.raises(InputError) as raised:
        routed(["--list"], ["ask"])
    assert "did you mean" not in str(raised.value)


def test_an_option_after_the_question_is_suggested_too(capsys):
    command = get_command(app)
    with pytest.raises(Exception, match="-c") as raised:
        command.main(["ask", "and why?", "-c"], standalone_mode=False)
    fail(raised.value, ["ask", "and why?", "-c"])
    assert "did you mean `--session last`?" in capsys.readouterr().err
