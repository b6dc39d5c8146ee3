"""Commands are loaded when they are called, and nobody can tell."""

import os
import subprocess
import sys
from copy import copy

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from oracle.cli.lazy_commands import LazyCommand
from oracle.cli.main import COMMANDS, app
from oracle.cli.plain_parameters import KNOWN_TYPER, read_plainly
from tests.default_run import thinned
from tests.tables import each_row

RUN = "from oracle.cli.main import run; run()"
# A command leaves with `os._exit`, so the modules are printed before that.
MODULES = (
    "import os, sys; leave = os._exit; "
    "os._exit = lambda code: (os.write(2, ('\\n' + ' '.join(sys.modules)).encode()), leave(code)); "
)
LIGHT = {"asyncio", "lupa", "pydantic", "pydantic_ai", "tantivy", "tree_sitter"}
RICH = {"rich"}
HEAVY = {
    "--help": LIGHT | {"markdown_it", "pygments", "oracle.services", "oracle.cli.commands"},
    "--version": LIGHT | RICH | {"oracle.services", "oracle.cli.commands"},
    "ask --help": LIGHT | {"markdown_it", "oracle.services", "oracle.cli.commands.chat"},
    "classify where": LIGHT | RICH | {"oracle.settings", "oracle.cli.commands.ask"},
    "config": LIGHT - {"pydantic"} | {"oracle.bt"},
    "runs": LIGHT - {"asyncio"} | {"oracle.bt", "pathspec"},
    "search where": LIGHT - {"tantivy", "tree_sitter"} | {"oracle.bt"},
    "ask --model embedded thanks": {
        "pydantic",
        "pydantic_ai",
        "openai",
        "anthropic",
        "httpx",
        "rich",
        "psycopg",
    },
}


def imported(arguments, cwd, **env):
    """The modules that a fresh process has imported when it ends."""
    result = subprocess.run(
        [sys.executable, "-c", MODULES + RUN, *arguments],
        cwd=cwd,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    modules = set(result.stderr.rpartition("\n")[2].split())
    assert "oracle.cli.main" in modules
    return modules


@pytest.mark.extra
@pytest.mark.parametrize("command", thinned(HEAVY, 2))
def test_a_command_imports_nothing_heavy_that_it_does_not_need(command, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("where = 1\n")
    assert not HEAVY[command] & imported(command.split(), tmp_path)


def test_telling_a_command_from_a_question_loads_no_command():
    root = get_command(app)
    root.make_context("oracle", ["config"])
    assert not root.commands._loaded.keys() & root.table.keys()


def test_completion_imports_no_command_and_no_rich(tmp_path):
    words = {"_ORACLE_COMPLETE": "complete_bash", "COMP_WORDS": "oracle cl", "COMP_CWORD": "1"}
    assert not (LIGHT | RICH | {"oracle.cli.commands"}) & imported([], tmp_path, **words)


def everything_loaded():
    """The root with real commands instead of the table."""
    group = copy(get_command(app))
    group.commands = dict(group.commands.items())
    return group


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_help_of_the_root_is_that_of_the_real_commands(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    eager = everything_loaded()
    monkeypatch.setattr(
        type(eager), "format_help", lambda self, *rest: TyperGroup.format_help(eager, *rest)
    )
    expected = CliRunner().invoke(app, ["--help"]).output
    monkeypatch.undo()
    monkeypatch.setenv("COLUMNS", str(width))
    assert CliRunner().invoke(app, ["--help"]).output == expected


@each_row(("name", "place", "line", "group"), COMMANDS)
def test_the_table_has_the_first_line_of_a_command_s_help(name, place, line, group):
    command = LazyCommand(name, f"oracle.cli.commands.{place}", line, group).load()
    assert command.name == name
    assert " ".join(command.help.partition("\n\n")[0].split()) == line
    assert not command.hidden


def test_completion_offers_the_commands_with_their_help():
    words = {"_ORACLE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "oracle au"}
    result = CliRunner().invoke(app, prog_name="oracle", env=words)
    assert result.output.strip() == (
        """_arguments '*: :(("audit":"Print stored events, oldest first."))'"""
    )


def commands(command, path=()):
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
    for name, inner in (below or {}).items():
        yield from commands(inner, (*path, name))


VALUES = ["", "text", "ümläut", "1", "-1", "0.5", "a\udcffb", "true", "\0", "/tmp", "json"]
PARAMETERS = [
    pytest.param(parameter, id=" ".join((*path, parameter.name)))
    for path, command in commands(get_command(app))
    for parameter in command.params
    if hasattr(parameter, "type_descriptor")
]


@pytest.mark.extra
@pytest.mark.skipif(not KNOWN_TYPER, reason="this version of typer reads parameters itself")
@each_row("parameter", PARAMETERS)
def test_a_parameter_is_read_as_typer_would_read_it(parameter, monkeypatch):
    from typer._click.core import Context
    from typer._coercion import build_runtime_param
    from typer.core import _TyperParameter

    monkeypatch.setattr(_TyperParameter, "get_runtime_param", None)
    read_plainly()
    context = Context(get_command(app))
    theirs = build_runtime_param(parameter.type_descriptor)
    several = parameter.multiple or parameter.nargs == -1
    for value in [None, parameter.default, *([[text] for text in VALUES] if several else VALUES)]:
        ours = outcome(parameter.get_runtime_param(), value, parameter, context)
        assert ours == outcome(theirs, value, parameter, context)


def outcome(runtime, value, parameter, context):
    try:
        return runtime.coerce(value, param=parameter, ctx=context)
    except Exception as problem:
        return type(problem), str(problem)
