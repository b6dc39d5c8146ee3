"""Whether the arguments of `oracle` are a command, a question or a mistake."""

import pytest
from typer.main import get_command

from oracle.cli.main import app
from oracle.cli.routing import FLAGS, OF_THE_ROOT, TAKES_VALUE, close_command, routed
from oracle.errors import InputError
from tests.tables import each_row

COMMANDS = [
    "ask",
    "chat",
    "init",
    "config",
    "doctor",
    "completion",
    "tree",
    "classify",
    "index",
    "search",
    "prompt",
    "runs",
    "run",
    "replay",
    "sessions",
    "purge",
    "audit",
    "eval",
    "models",
    "keys",
    "questions",
    "help",
]

QUESTIONS = [
    ["where is the login?"],
    ["runs of what?"],
    ["modls are where"],
    ["where", "is", "the", "login?"],
    ["where", "is", "the", "login"],
    ["what", "is", "this"],
    ["What", "does", "it", "do"],
    ["that", "test", "fails"],
    ["there", "is", "a", "bug"],
    ["three", "tests", "fail"],
    ["as", "a", "newcomer,", "where", "to", "start"],
    ["true", "or", "false"],
    ["under", "which", "licence"],
    ["explain", "auth.py"],
    ["how", "does it work"],
    ["login?"],
    ["@a.py", "explain"],
    ["这个项目是做什么的"],
    ["这个项目是做什么的？"],
    ["¿por", "qué?"],
    [""],
    ["-v", "why does it fail?"],
    ["-vv", "why does it fail?"],
    ["--json", "where", "is", "it"],
    ["why does it fail?", "-v"],
    ["why", "does", "it", "fail", "--json", "-q"],
    ["--model", "embedded", "why", "not"],
    ["--model=embedded", "why not"],
    ["-f", "a.py", "explain"],
    ["-f", "a.py", "-f", "b.py", "why?"],
    ["-fa.py", "explain it"],
    ["--diff", "is this safe?"],
    ["--diff", "HEAD~1", "is this safe?"],
    ["--diff", "index", "is this safe?"],
    ["--diff=main", "review"],
    ["review", "--diff"],
    ["-t", "review", "path=src/x.py"],
    ["--session", "last", "more"],
    ["--diff"],
    ["-v"],
    ["--", "runs"],
    ["--", "-x", "what is this flag?"],
    ["-v", "--", "runs"],
    ["runs?"],
    ["models?", "-v"],
    ["help?"],
    ["-"],
]


@each_row("arguments", QUESTIONS, ids=" ".join)
def test_a_question_is_asked(arguments):
    assert routed(arguments, COMMANDS) == ["ask", *arguments]


@each_row(
    ("arguments", "expected"),
    [
        ([], []),
        (["ask", "why?"], ["ask", "why?"]),
        (["runs"], ["runs"]),
        (["run", "show", "last"], ["run", "show", "last"]),
        (["search", "the login?"], ["search", "the login?"]),
        (["help", "me", "understand"], ["help", "me", "understand"]),
        (["--help"], ["--help"]),
        (["-h"], ["-h"]),
        (["-V"], ["-V"]),
        (["--version", "why?"], ["--version", "why?"]),
        (["--install-completion"], ["--install-completion"]),
        (["--json", "runs"], ["runs", "--json"]),
        (["-v", "ask", "why?"], ["ask", "-v", "why?"]),
        (["--model", "embedded", "chat"], ["chat", "--model", "embedded"]),
        (["-f", "a.py", "chat"], ["chat", "-f", "a.py"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_a_command_stays_a_command_and_takes_the_options_before_it(arguments, expected):
    assert routed(arguments, COMMANDS) == expected


@each_row(
    ("arguments", "meant"),
    [
        (["modls"], "models"),
        (["sesions", "list"], "sessions"),
        (["sessoins"], "sessions"),
        (["sesion"], "sessions"),
        (["aks", "where is it?"], "ask"),
        (["serach", "login"], "search"),
        (["Runs"], "runs"),
        (["CONFIG"], "config"),
        (["doctr"], "doctor"),
        (["docter"], "doctor"),
        (["tre", "show"], "tree"),
        (["classfy", "how is it?"], "classify"),
        (["compl"], "completion"),
        (["hlep"], "help"),
        (["replya", "last"], "replay"),
        (["-v", "modls"], "models"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_word_close_to_a_command_is_an_error_that_suggests_it(arguments, meant):
    with pytest.raises(InputError, match=f"did you mean '{meant}'") as raised:
        routed(arguments, COMMANDS)
    assert "To ask a question" in str(raised.value)


@pytest.mark.parametrize("arguments", [["login"], ["-v", "login"], ["login", "--json"], ["a"]])
def test_one_unknown_word_is_an_error_that_says_how_to_ask(arguments):
    with pytest.raises(InputError, match=r'oracle "what is (login|a)\?"'):
        routed(arguments, COMMANDS)


@pytest.mark.parametrize("word", ["what", "why", "Explain"])
def test_one_word_that_begins_a_question_is_not_asked_about(word):
    with pytest.raises(InputError, match=f'oracle "{word} …') as raised:
        routed([word], COMMANDS)
    assert "did you mean" not in str(raised.value)


@pytest.mark.parametrize("arguments", [["explain"], ["why"], ["-v", "login"]])
def test_one_word_with_piped_text_is_a_question(arguments):
    assert routed(arguments, COMMANDS, is_piped=True) == ["ask", *arguments]


def test_a_misspelt_command_with_piped_text_is_an_error():
    with pytest.raises(InputError, match="did you mean 'models'"):
        routed(["modls"], COMMANDS, is_piped=True)


@each_row(
    ("arguments", "expected"),
    [
        (["-h does what?"], ["ask", " -h does what?"]),
        (["--json is what?", "-v"], ["ask", " --json is what?", "-v"]),
        (["ask", "-q does what?"], ["ask", " -q does what?"]),
        (["where", "is", "-1", "used"], ["ask", "where", "is", " -1", "used"]),
        (["ask", "why", "-1?"], ["ask", "why", " -1?"]),
        (["ask", "--timeout", "-1", "x"], ["ask", "--timeout", "-1", "x"]),
        (["--model=a b", "why not"], ["ask", "--model=a b", "why not"]),
        (["-fa b.py", "why"], ["ask", "-fa b.py", "why"]),
        (["runs", "-n", "-1"], ["runs", "-n", "-1"]),
    ],
    ids=str,
)
def test_what_begins_with_a_dash_and_cannot_be_an_option_is_a_word(arguments, expected):
    assert routed(arguments, COMMANDS) == expected


@each_row(
    ("arguments", "expected"),
    [
        (["-h", "ask"], ["help", "ask"]),
        (["--help", "sessions", "show"], ["help", "sessions", "show"]),
        (["-h"], ["-h"]),
        (["-m", "sonnet", "why is it so?"], ["ask", "-m", "sonnet", "why is it so?"]),
        (["-msonnet", "chat"], ["chat", "-msonnet"]),
        (["-m", "sonnet", "chat"], ["chat", "-m", "sonnet"]),
    ],
)
def test_help_and_the_model_may_come_before_the_command(arguments, expected):
    assert routed(arguments, COMMANDS) == expected


def test_a_very_long_word_is_compared_quickly():
    assert close_command("x" * 1_000_000, COMMANDS) is None


def test_the_options_of_ask_are_those_that_it_has():
    ask = get_command(app).commands["ask"]
    options = [param for param in ask.params if param.param_type_name == "option"]
    # `-v` may count how often it is given, and has no value then either.
    alone = [param for param in options if param.is_flag or param.count]
    flags = {name for param in alone for name in param.opts}
    valued = {name for param in options if param not in alone for name in param.opts}
    assert valued - {"--diff"} == TAKES_VALUE
    assert flags | {"--diff", "-vv"} == FLAGS


def test_the_options_of_the_root_are_those_that_it_has():
    own = {name for param in get_command(app).params for name in param.opts}
    assert own | {"-h", "--help"} == OF_THE_ROOT


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("show last", "run show last"),
        ("show", "run show"),
        ("resume", "run resume"),
        ("export 3f9a", "sessions export 3f9a"),
    ],
)
def test_a_command_below_another_is_suggested(typed, meant):
    with pytest.raises(InputError, match=f"did you mean `oracle {meant}`"):
        routed(typed.split(), COMMANDS)


def test_a_sentence_that_begins_with_such_a_word_is_a_question():
    assert routed(["show", "me", "the", "login"], COMMANDS)[0] == "ask"
    assert routed(["show", "login"], COMMANDS)[0] == "ask"
