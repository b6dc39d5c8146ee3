"""Advice can be followed: each setting, variable, flag and command that a text names exists.

Texts are the messages in the code, the help of the commands, and the pages of the docs.
"""

import ast
import re
from inspect import cleandoc
from pathlib import Path

import pytest
from typer.main import get_command

from oracle.cli.main import app
from oracle.cli.routing import routed
from oracle.errors import InputError
from oracle.services.ans.event_types import EVENT_TYPES
from oracle.services.llm.providers import PROVIDERS
from oracle.services.settings.keys import VARIABLES
from oracle.services.settings.sections import SECTIONS
from oracle.services.settings.trust import VARIABLE as TRUST
from oracle.settings import SETTINGS
from tests.tables import each_row

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/oracle"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GAP = "…"
"""Stands for what a message fills in."""


# -- the texts -------------------------------------------------------------------------------------


def _joined(node):
    if isinstance(node, ast.JoinedStr):
        return "".join(_joined(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) else GAP


def messages_in(code):
    """Texts of several words, with the line of each. A single word is a name, not a message.

    Docstrings are skipped, also those of constants: they are for developers.
    """
    skipped = set()
    # A parent comes before its children.
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        is_text = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        if is_text and id(node) not in skipped:
            text = _joined(node)
            if " " in text.strip():
                yield node.lineno, text


def _messages():
    for file in sorted(SOURCE.rglob("*.py")):
        if SOURCE / "evaluation/data" in file.parents:
            continue  # a made-up project, to ask questions about
        for line, text in messages_in(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(ROOT)}:{line}", text


def _helps(command, path="oracle"):
    yield path, command.help or ""
    for parameter in command.params:
        yield f"{path} {parameter.name}", getattr(parameter, "help", None) or ""
    for name, inner in getattr(command, "commands", {}).items():
        yield from _helps(inner, f"{path} {name}")


COMMANDS = get_command(app)
_SHOWN_AS_MISTAKE = re.compile(r"^\| .* \| an error .*$", re.MULTILINE)


@pytest.fixture(scope="module")
def messages():
    return [*_messages(), *_helps(COMMANDS)]


@pytest.fixture(scope="module")
def texts(messages):
    files = [*PAGES, *sorted((SOURCE / "prompts").rglob("*.md"))]
    read = (_SHOWN_AS_MISTAKE.sub("", file.read_text(encoding="utf-8")) for file in files)
    return [*messages, *((file.name, text) for file, text in zip(files, read, strict=True))]


# -- what they may name ----------------------------------------------------------------------------

_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_VARIABLE = re.compile(r"\b(?:ORACLE_[A-Z_]*[A-Z]|[A-Z]+_(?:API_KEY|BASE_URL))\b")
_SETTING = re.compile(rf"(?<![\w./\"'-])({'|'.join(SECTIONS)})\.([a-z_]+)(?![\w(/])")
_IN_SECTION = re.compile(rf"\[({'|'.join(SECTIONS)})\] ([a-z]+_[a-z_]+)")
_BARE = re.compile(r"(?<![\w.])[a-z]+_[a-z_]+(?![\w(=])")
_ADVISED = re.compile(r"\b(?:raise|lower|set|unset|change|check|increase|reduce) $")
_IN_TICKS = re.compile(r"`oracle ([a-z][^`\n|;&<>#]*)")
_AT_A_PROMPT = re.compile(
    r"(?:^|[|;&] |[A-Z]=\S+ )(?:\$ )?oracle ([a-z][^\n|;&<>#]*)", re.MULTILINE
)
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _flags_of(command):
    own = {flag for option in command.params for flag in option.opts + option.secondary_opts}
    return own.union(*(_flags_of(inner) for inner in getattr(command, "commands", {}).values()))


FLAGS = _flags_of(COMMANDS) | {
    "--help",  # of every command
    "--git",  # in the first line of a diff
    "--force",  # of `git add`
    "--oneline",  # of `git log`
    "--schema",  # of `llm`, in the comparison
    "--test",  # of `node`
    "--rm",  # of `docker run`
    "--transport",  # of `claude mcp add`
    "--openai-api-base",  # of aider
    "--openai-api-key",  # of aider
    "--weak-model",  # of aider
    "--message",  # of aider
    "--no-show-model-warnings",  # of aider
    "--key",  # of `llm`
    "--seeds",  # of scripts/chaos.py
}
KNOWN_VARIABLES = {
    *(row.variable for row in SETTINGS.values()),
    *(row.other_variable for row in SETTINGS.values() if row.other_variable),
    *VARIABLES.values(),
    *(provider.address_variable for provider in PROVIDERS.values()),
    TRUST,
    "ORACLE_HOME",  # named as a variable of another program
}
IN_EXAMPLES = {"server.port", "server.stderr", "server.url"}
"""Not settings: a key of another program, and attributes of a variable that is called `server`."""
KNOWN_NAMES = {*SETTINGS, *EVENT_TYPES, *IN_EXAMPLES}
LONG_KEYS = {name.partition(".")[2] for name in SETTINGS if "_" in name}
FILE_ENDINGS = {"md", "py", "toml", "lua", "json", "db"}
OF_OTHERS = {"secret_contexts.py", "secret_files.py"}
"""Their texts are patterns of files and flags of other programs."""


def commands_in(text):
    """The words after `oracle`, in code: between ticks, and in the examples of a page."""
    yield from (found[1].split() for found in _IN_TICKS.finditer(text))
    for language, example in _FENCE.findall(text):
        if language in ("", "sh", "console"):
            yield from (found[1].split() for found in _AT_A_PROMPT.finditer(example))


def _is_question(words):
    """`oracle where is the login`"""
    try:
        return routed(words, COMMANDS.commands)[0] == "ask"
    except InputError:
        return False


def problem_of_command(words):
    """Follow the words down the tree of commands, and look at the flags after them."""
    command, path = COMMANDS, "oracle"
    while words and getattr(command, "commands", None):
        if words[0] not in command.commands:
            if path == "oracle" and _is_question(words):
                return None
            if path == "oracle config" or words[0].startswith((GAP, "-")):
                break  # `oracle config limits` shows settings
            return f"{path} has no command {words[0]!r}"
        command, path = command.commands[words[0]], f"{path} {words.pop(0)}"
    flags = {found[0] for word in words if (found := _FLAG.match(word))} - {"--help"}
    unknown = flags - _flags_of(command)
    return f"{path} has no {', '.join(sorted(unknown))}" if unknown else None


def unknown_in(text):
    """What a text names and nobody could find."""
    yield from filter(None, map(problem_of_command, commands_in(text)))
    yield from set(_FLAG.findall(text)) - FLAGS
    yield from set(_VARIABLE.findall(text)) - KNOWN_VARIABLES
    for section, key in _SETTING.findall(text) + _IN_SECTION.findall(text):
        if f"{section}.{key}" not in KNOWN_NAMES and key not in FILE_ENDINGS:
            yield f"{section}.{key}"


def unclear_in(message):
    """Names of settings without their section, and advice to change what is no setting."""
    for found in _BARE.finditer(message):
        if found[0] in LONG_KEYS or _ADVISED.search(message[: found.start()]):
            yield found[0]


@pytest.mark.extra
def test_every_setting_variable_flag_and_command_that_a_text_names_exists(texts):
    found = {
        where: unknown
        for where, text in texts
        if Path(where.partition(":")[0]).name not in OF_OTHERS and (unknown := [*unknown_in(text)])
    }
    assert found == {}


def test_a_message_names_a_setting_with_its_section(messages):
    found = {where: unclear for where, text in messages if (unclear := [*unclear_in(text)])}
    assert found == {}


@each_row(
    ("text", "unknown"),
    [
        ("run `oracle doctor`, or `oracle config set limits.turns 3`", []),
        ("run `oracle dcotor`", ["oracle has no command 'dcotor'"]),
        ("run `oracle run shwo`", ["oracle run has no command 'shwo'"]),
        ("run `oracle init --prnt`", ["oracle init has no --prnt", "--prnt"]),
        ("`oracle doctor --yes` asks nothing", ["oracle doctor has no --yes"]),
        (f"`oracle config {GAP}` and `oracle {GAP}` are fine", []),
        ("give --max-turns 3 or --no-such-flag", ["--no-such-flag"]),
        ("set ORACLE_LIMITS_TURNS or ORACLE_LIMIT_TURNS", ["ORACLE_LIMIT_TURNS"]),
        ("set MISTRAL_API_KEY", ["MISTRAL_API_KEY"]),
        ("raise limits.turns or limits.rounds", ["limits.rounds"]),
        ("the variable that [model] key_name names", ["model.key_name"]),
        (
            "```console\n$ oracle ask x\n$ git diff | oracle aks y\n```\n",
            ["oracle has no command 'aks'"],
        ),
        ("```sh\noracle erase\n```\n", ["oracle has no command 'erase'"]),
        ("```python\noracle = x\n```\noracle answers", []),
    ],
)
def test_unknown_names_are_found(text, unknown):
    assert [*unknown_in(text)] == unknown


@pytest.mark.parametrize(
    ("message", "unclear"),
    [
        ("raise model.stall_seconds", []),
        ("raise stall_seconds", ["stall_seconds"]),
        ("check the name, and base_url", ["base_url"]),
        ("lower max_size, or read_file", ["max_size"]),
    ],
)
def test_unclear_advice_is_found(message, unclear):
    assert [*unclear_in(message)] == unclear


def test_messages_are_read_as_the_user_sees_them():
    code = 'X = 1\n"""docs of X"""\nprint("one " "two", f"a {b} c", "--flag")\n'
    assert [text for _, text in messages_in(code)] == ["one two", f"a {GAP} c"]


def test_an_example_of_a_command_fits_the_usual_terminal():
    """A line that is wrapped cannot be pasted: the break may be inside of quotes."""
    lines = ((path, line) for path, text in _helps(COMMANDS) for line in cleandoc(text).split("\n"))
    assert [pair for pair in lines if pair[1].startswith("  ") and len(pair[1]) > 78] == []


def test_no_message_sends_the_user_to_a_page_that_is_not_installed(messages):
    """The pages of docs/ are not in the package; in a project of the user, `docs/` is another."""
    assert [where for where, text in messages if re.search(r"\bdocs/[a-z]+\.md", text)] == []
