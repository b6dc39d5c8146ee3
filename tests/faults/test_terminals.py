"""Hostile text in every place that a command shows; the bytes on both streams stay harmless."""

import contextlib
import json
import os
import pty
import re
import sqlite3
import subprocess
import unicodedata
from enum import Enum
from pathlib import Path

import pytest
from typer.main import get_command

from oracle import cli as oracle_cli
from oracle.cli.main import app
from oracle.testing.servers import Reply
from tests.cli.processes import QUESTION, Terminal, model_serving, oracle, says
from tests.processes import ORACLE

pytestmark = pytest.mark.extra

FOREIGN_STYLE = "\x1b[38;5;123;7m"
"""Colours that oracle never uses, so that they can be told from its own."""
HOSTILE = (
    f"evil{FOREIGN_STYLE}\x1b]52;c;ZXZpbA==\x07\x1b]8;;javascript:x\x1b\\\x1bP1$q\x1b\\\x1b_x\x1b\\"
    "\x9b31m\x9d0;t\x9c\x90\x08\x08\x7f\x00\r\x0b\x0c\x85\u2028\u2029"
    "\u202e\u202a\u2066\u2069\u200b\u200d\u200e\u2060\ufeff\u3164\u00ad"
    "\U000e0041\U000e0100\ufe00[red][link=javascript:x][/]:bomb:" + "e" + "\u0301" * 40
)
LONE = "\udc9b\ud83d"
IN_A_NAME = HOSTILE.replace("\0", "").replace("/", "")[:90]
IN_A_SHELL = HOSTILE.replace("\0", "") + LONE[:1]

OURS = re.compile(
    r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]|\x1b\[\?2004[hl]|\x1b\[[0-9]*[ACDJKG]|\x1b\[\?(?:1|7|12)[hl]|\x08"
    r"|\x1b\]8;(?:id=\d+;(?:https?://|file:///)[!-~]*|;)\x1b\\"
)
MOST_MARKS = re.compile("\u0301{9}")


def assert_harmless(data, *, is_terminal):
    """Only our own styles, on a terminal; no other control, reordering or invisible character."""
    text = data.decode() if isinstance(data, bytes) else data
    assert FOREIGN_STYLE not in text
    if is_terminal:
        text = OURS.sub("", text).replace("\r", "")
    bad = [
        char
        for char in text
        if char not in "\n\t"
        and (
            unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            or 0xE0000 <= ord(char) < 0xE1000
            or char in "\u3164\ufe00"
        )
    ]
    assert not bad, (bad, text)
    assert not MOST_MARKS.search(text)
    assert "Traceback" not in text, text


# -- a project in which everything is hostile ------------------------------------------------------


def lua(text):
    return '"' + "".join(f"\\{byte:03d}" for byte in text.encode()) + '"'


def hostile_tree(name):
    shown = HOSTILE.replace("\0", "")
    return (
        f"BT.tree({lua(name)}, {{ description = {lua(shown)}, root = BT.sequence({lua(shown)}, {{"
        f' BT.condition({{ name = {lua(shown + "2")}, expression = "1 == 1" }}) }}) }})'
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Files, folders, notes, threads, trees, prompts, a recorded run, and tampered rows."""
    root = tmp_path_factory.mktemp("hostile") / f"folder{IN_A_NAME}"
    for folder in ("notes", "threads", ".oracle/prompts", "trees", f"sub{IN_A_NAME}"):
        (root / folder).mkdir(parents=True)
    (root / "oracle.toml").touch()
    evil = HOSTILE.replace("\0", "")  # a file with this character is not indexed
    code = f'MAX_IDLE = 1800  # a session expires after this {evil}\ndef idle(): "{evil}"\n'
    for name in ("session.py", f"session{IN_A_NAME}.py", f"sub{IN_A_NAME}/session.py"):
        (root / name).write_text(code, newline="")
    (root / os.fsdecode(b"session\xff\x9b.py")).write_text(code, newline="")
    (root / f"notes/note{IN_A_NAME}.md").write_text(f"# Session {HOSTILE}\n\nIt expires.\n")
    (root / f"threads/thread{IN_A_NAME}.md").write_text(f"## 2026-01-01 09:00 {HOSTILE}\n\nyes\n")
    (root / ".oracle/prompts/own.md").write_text(f"---\nid: own\n---\nMind sessions. {HOSTILE}")
    (root / "trees/t.lua").write_text(hostile_tree("evil"))
    (root / "trees/u.lua").write_text(hostile_tree(HOSTILE.replace("\0", "")))
    (root / f"broken{IN_A_NAME}.lua").write_text(f"BT.tree({lua(HOSTILE)}, 1) )")
    record_runs(root)
    tamper(root)
    return root


def record_runs(root):
    call = (HOSTILE, json.dumps({HOSTILE: HOSTILE}))
    search = ("search_code", json.dumps({"query": "session expires \x1b]52;c;eA==\x07"}))
    replies = (
        says(f"draft {HOSTILE}", type_="need_turn", reason=HOSTILE, calls=[call, search]),
        says(f"# Answer\n\n```{HOSTILE}\n{HOSTILE}\n```\n[x](javascript:x) session.py:1 {HOSTILE}"),
    )
    question = f"{QUESTION} \x1b]52;c;eA==\x07\x9b\u202e{LONE[0]}"
    for is_terminal in (False, True):
        with model_serving(*replies) as (env, _):
            shown = shown_by(root, is_terminal, "ask", "-v", question, **env)
            assert "Answer" in shown
            assert_harmless(shown, is_terminal=is_terminal)


def tamper(root):
    """Write hostile text into every column of text that holds no JSON and no key."""
    database = sqlite3.connect(root / ".oracle/oracle.db")
    with database:
        evil = HOSTILE.replace("\0", "")
        database.execute("UPDATE sessions SET title = ?", (evil,))
        database.execute("UPDATE context_nodes SET question = ?, answer = ?", (evil, evil))
        database.execute("UPDATE runs SET question = ?, tree = ?, stop_reason = ?", (evil,) * 3)
        database.execute("UPDATE events SET source = ?", (evil,))
        database.execute("UPDATE journal SET node_path = ? WHERE seq > 1", (evil,))
    database.close()


def shown_by(cwd, is_terminal, *arguments, **env):
    """Both streams, as text. Bytes that are not UTF-8 fail the test."""
    env = {"XDG_STATE_HOME": str(Path(cwd).parent), **env}
    if is_terminal:
        links = {"TERM": "xterm-kitty", "FORCE_HYPERLINK": "1"}
        terminal = Terminal(*arguments, cwd=cwd, env=links | env)
        if arguments[:1] == ("chat",):
            # Wrong options end it before its first prompt.
            for line in ("/x\r", "/session last\r", "hello\r"):
                if terminal.reaches("? "):
                    terminal.type(line)
            terminal.reaches("? ")
            terminal.leave()
        else:
            # For those that ask for a text, and for those that ask before they delete: there, what
            # is typed before the question does not count.
            terminal.type("n\n")
            while terminal.reaches("[y/N"):
                terminal.type("n\n")
            terminal.end()
        return terminal.raw
    result = oracle(*arguments, stdin=b"hello\n", cwd=cwd, env=env)
    return (result.stdout + result.stderr).decode()


def assert_quoted_safely(cwd, is_terminal, *arguments, **env):
    shown = shown_by(cwd, is_terminal, *arguments, **env)
    assert shown
    assert_harmless(shown, is_terminal=is_terminal)


# -- every command ---------------------------------------------------------------------------------


def commands(command, path=()):
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
    for name, each in (below or {}).items():
        yield from commands(each, (*path, name))


COMMANDS = dict(commands(get_command(app)))
ENDLESS = {"--watch", "--follow", "--allow-host"}
SLOW = {"eval", "serve", "worker"}
# They speak a protocol with a program: they wait for it, and have nothing to say without one.
SILENT = {"acp", "mcp"}
"""Measures on our own labelled sets show nothing foreign, and take many seconds. A server runs
until it is stopped; with a wrong value it ends at once.
"""


def ids_in(root):
    with sqlite3.connect(root / ".oracle/oracle.db") as database:
        (run,) = database.execute("SELECT id FROM runs LIMIT 1").fetchone()
        (session,) = database.execute("SELECT id FROM sessions LIMIT 1").fetchone()
    return {"run": run, "session": session}


def calls_of(command, root):
    """With values that exist, with hostile ones, and with each option and format."""
    known = {
        **ids_in(root),
        **dict.fromkeys(("query", "question"), "when does a session expire?"),
        "paths": "trees",
        "name": "evil",
        "older_than": "100w",
        "shell": "bash",
    }
    plain = required_words(command, known)
    yield plain
    yield required_words(command, {})
    for option in command.params:
        if option.param_type_name != "option" or ENDLESS & set(option.opts):
            continue
        is_choice = isinstance(option.default, Enum)
        choices = [each.value for each in type(option.default)] if is_choice else [IN_A_SHELL]
        if option.name in ("json", "as_json", "trace"):
            yield [*plain, option.opts[0]]
        elif not option.is_flag:
            yield from ([*plain, option.opts[0], each] for each in choices)


def required_words(command, known):
    words = []
    for each in command.params:
        if each.required or each.name == "question":
            words += each.opts[:1] if each.param_type_name == "option" else []
            words.append(known.get(each.name, IN_A_SHELL))
    return words


@pytest.mark.parametrize(
    "path",
    [path for path in COMMANDS if path[0] not in SLOW | SILENT],
    ids=" ".join,
)
def test_no_command_lets_a_control_character_through(path, project):
    plain, hostile, *_ = calls_of(COMMANDS[path], project)
    for is_terminal, arguments in ((False, hostile), (True, plain)):
        assert_quoted_safely(project, is_terminal, *path, *arguments)


@pytest.mark.parametrize("path", [p for p in COMMANDS if p[0] not in SILENT], ids=" ".join)
def test_no_option_lets_a_control_character_through(path, project):
    """In turn on pipes and on a terminal: an option is read alike on both."""
    for number, arguments in enumerate(calls_of(COMMANDS[path], project)):
        if path[0] not in SLOW or IN_A_SHELL in arguments:
            assert_quoted_safely(project, number % 2 == 1, *path, *arguments)


def test_options_that_are_not_known_are_quoted_safely(project):
    evil = IN_A_SHELL
    for arguments in (["--" + evil], [evil], ["runs", evil], ["ask", "-" + evil]):
        for is_terminal in (False, True):
            assert_quoted_safely(project, is_terminal, *arguments)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_hostile_variables_are_quoted_safely(is_terminal, project):
    evil = HOSTILE.replace("\0", "")
    for env in (
        {"ORACLE_MODEL_NAME": evil},
        {"ORACLE_LIMITS_TURNS": evil, "ORACLE_NO_SUCH": evil, f"ORACLE_{FOREIGN_STYLE}": evil},
        {"ORACLE_DATABASE_URL": evil},
        {"ORACLE_TREES_FOLDER": evil, "ORACLE_PROMPTS_FOLDER": evil},
        {"TERM": evil, "COLUMNS": "²", "LINES": evil, "TERMINAL_WIDTH": evil, "LANG": evil},
        {"COLUMNS": "9" * 30, "NO_COLOR": evil, "COLORTERM": evil, "TERM_PROGRAM": evil},
    ):
        for command in ("config", "--help") if "TERM" in env else ("config",):
            assert_quoted_safely(project, is_terminal, command, **env)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_hostile_settings_and_trees_are_quoted_safely(is_terminal, project, tmp_path):
    quoted = json.dumps(HOSTILE)
    for text in (f"[model]\nname = {quoted}\n", f"[{quoted}]\n{quoted} = 1\n", HOSTILE):
        (tmp_path / "oracle.toml").write_bytes(text.encode())
        for command in ("config", "doctor"):
            assert_quoted_safely(tmp_path, is_terminal, command)
    broken = next(each.name for each in project.glob("broken*"))
    for arguments in (["tree", "check", broken], ["tree", "show", "evil", "--in", "trees"]):
        assert_quoted_safely(project, is_terminal, *arguments)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_what_a_provider_says_is_quoted_safely(is_terminal, project):
    body = json.dumps({"error": {"message": HOSTILE, "type": HOSTILE, "code": HOSTILE}})
    refusal = Reply(body=[body.encode()], status=400, headers={"content-type": "application/json"})
    with model_serving(refusal) as (env, _):
        shown = shown_by(project, is_terminal, "ask", QUESTION, **env)
    assert "evil" in shown
    assert_harmless(shown, is_terminal=is_terminal)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_answers_hostile_words_safely(shell, project):
    for words in (f"oracle config {IN_A_NAME}", "oracle 'unclosed", f"oracle {IN_A_NAME}"):
        env = {
            "_ORACLE_COMPLETE": f"complete_{shell}",
            "_TYPER_COMPLETE_ARGS": words,
            "_TYPER_COMPLETE_WORD_TO_COMPLETE": IN_A_NAME,
            "COMP_WORDS": words,
            "COMP_CWORD": "1",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        assert_harmless(shown_by(project, False, **env), is_terminal=False)


def test_the_history_of_a_chat_is_shown_safely(project):
    """`.oracle/` may come with a project that someone else made."""
    line = f"evil{FOREIGN_STYLE}\x9b31m\u202e\x07"
    (project / ".oracle/chat_history").write_bytes(line.encode() + b"\xff\n")
    terminal = Terminal("chat", cwd=project)
    terminal.until("? ").type("\x1b[A").until("evil").type("\x15").leave()
    assert not re.search("[\x80-\x9f\u202e\x07]", terminal.raw)
    assert FOREIGN_STYLE not in terminal.raw


def test_a_history_that_is_a_pipe_does_not_hold_up_a_chat(tmp_path):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / ".oracle").mkdir()
    os.mkfifo(tmp_path / ".oracle/chat_history")
    terminal = Terminal("chat", cwd=tmp_path)
    assert terminal.until("? ").leave() == 0


WRITES_DIRECTLY = ("interrupts.py", "terminal_state.py")
"""At the end of the process, where the stream may be locked by what was interrupted."""


def test_only_the_console_writes_below_the_stream_that_cleans():
    """The way around `SafeStream` is its `styled`, and consoles that are not safe ones."""
    cli = Path(oracle_cli.__file__).parent
    for file in cli.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if file.name not in ("streams.py", "console.py"):
            around = r"\.styled\b|(out|err)\.buffer\b|__std(out|err)__|\bConsole\("
            assert not re.search(around, text), file
            assert "os.write" not in text or file.name in WRITES_DIRECTLY, file


def test_an_interpreter_that_imports_typer_late_draws_help_in_colour_and_errors_safely():
    """The fork server has imported everything before; this is the real order of imports."""
    for arguments in (["--help"], ["runs", IN_A_NAME], [IN_A_NAME]):
        ours, theirs = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        with subprocess.Popen([*ORACLE, *arguments], env=env | {"TERM": "xterm"}, **streams):
            os.close(theirs)
            shown = b""
            with contextlib.suppress(OSError):
                while piece := os.read(ours, 65_536):
                    shown += piece
            os.close(ours)
        assert b"\x1b[1m" in shown or arguments != ["--help"]
        assert_harmless(shown, is_terminal=True)
