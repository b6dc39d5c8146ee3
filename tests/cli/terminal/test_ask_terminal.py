"""`oracle ask` on a pseudo-terminal: what people see."""

import os
import re
import subprocess

import pytest

from oracle.testing.servers import Reply, Stall, openai
from tests.cli.processes import (
    QUESTION,
    STYLES,
    Terminal,
    make_project,
    model_serving,
    says,
    searches,
)

pytestmark = pytest.mark.extra

ANSWER = "# Sessions\n\nAfter **30 minutes**, see `session.py:1`.\n\n- one\n- two\n"
STALLING = Reply(body=[*openai.beginning(), *openai.events(openai.text("It is so. ")), Stall()])
COLOURS = re.compile(r"\x1b\[[\d;]*3\d[\d;]*m")
CURSOR = ("\x1b[?25l", "\x1b[?25h")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


def asked(*replies, arguments=(), **options):
    with model_serving(*replies) as (env, _):
        env |= options.pop("env", {})
        terminal = Terminal("ask", *arguments, QUESTION, env=env, **options)
        code = terminal.end()
    return terminal, code


def test_a_status_line_then_the_rendered_answer_then_one_line(project):
    terminal, code = asked(searches("I look for it."), says(ANSWER))
    # What is left on the screen follows the last time that something was erased.
    left = STYLES.sub("", terminal.raw.split("\x1b[2K")[-1]).replace("\r", "")
    expected = r"Sessions\n\nAfter 30 minutes, see session.py:1.\n\n • one\n • two\n"
    expected += r"\nsources: session\.py:1 · \d+\.\d s · 36 tokens\n"
    assert (code, bool(re.fullmatch(expected, left))) == (0, True), left
    assert not {"search_code", "signal", "confidence"} & set(terminal.shown.split())
    assert terminal.raw.rindex(CURSOR[0]) < terminal.raw.rindex(CURSOR[1])


def test_verbose_keeps_the_progress_above_the_answer(project):
    terminal, code = asked(searches("I look for it."), says(ANSWER), arguments=["-v"])
    places = [
        terminal.shown.rindex(text)
        for text in (
            "draft     I look for it.",
            'tool      search_code "session expires"',
            "→ search_code: 1 place",
            "Sessions\n",
            "After 30 minutes, see session.py:1.",
            " • two",
            "sources: session.py:1",
            "answered · 2 turns · 1 tool call · 36 tokens",
        )
    ]
    assert (code, places) == (0, sorted(places))


def test_json_draws_nothing_beside_what_its_reader_prints(project):
    reading, writing = os.pipe()
    # Its reader would print on the same terminal, whenever a chunk arrives.
    terminal, code = asked(searches(), says(ANSWER), arguments=["--json"], stdout=writing)
    os.close(writing)
    os.close(reading)
    assert (code, terminal.raw) == (0, "")


def test_a_dumb_terminal_says_what_goes_on_on_lines_of_their_own(project):
    terminal, code = asked(searches(), says(ANSWER), env={"TERM": "dumb"})
    said = [line for line in terminal.shown.splitlines() if line.startswith("oracle: ")]
    assert said[:2] == ["oracle: thinking…", "oracle: waiting for the model…"]
    assert "oracle: searching code…" in said
    assert (code, "\x1b" in terminal.raw) == (0, False)


def test_a_reader_that_closes_the_pipe_leaves_nothing_on_the_screen(project):
    reading, writing = os.pipe()
    terminal = Terminal("ask", "--json", QUESTION, stdout=writing)
    os.close(writing)
    os.close(reading)
    assert terminal.end() == 141
    left = STYLES.sub("", re.split("\x1b\\[2?K", terminal.raw)[-1])
    assert left.strip() == ""
    assert "Traceback" not in terminal.shown
    assert terminal.raw.count(CURSOR[0]) == terminal.raw.count(CURSOR[1])


def test_words_appear_while_they_come_and_ctrl_c_keeps_them(project):
    with model_serving(STALLING) as (env, server):
        terminal = Terminal("ask", QUESTION, env=env).until("It is so.").until("writing")
        code = terminal.type("\x03").end()
    assert code == 130
    assert "It is so. […]" in terminal.shown
    assert "it was cancelled (Ctrl-C)" in terminal.shown
    assert "Traceback" not in terminal.shown
    assert server.left.is_set()


@pytest.mark.parametrize("columns", [20, 40])
def test_no_line_is_wider_than_a_narrow_terminal(project, columns):
    terminal, code = asked(searches("I look for it."), says(ANSWER), columns=columns)
    written = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.raw))
    assert code == 0
    assert max(map(len, written)) <= columns


LINKS = re.compile(r"\x1b]8;[^;]*;([^\x1b]+)\x1b\\([^\x1b]+)")


def test_citations_and_sources_are_links_where_the_terminal_has_them(project):
    answer = "See `session.py:1`, and `other.py:7`."
    terminal, _ = asked(searches("Looking."), says(answer), env={"TERM": "xterm-kitty"})
    target = f"{project.as_uri()}/session.py#1"
    assert LINKS.findall(terminal.shown) == [(target, "session.py:1")] * 2


@pytest.mark.parametrize(
    "env", [{}, {"TERM": "xterm-kitty", "NO_COLOR": "1"}, {"TERM": "dumb", "VTE_VERSION": "7600"}]
)
def test_other_terminals_get_no_links(project, env):
    terminal, _ = asked(searches("Looking."), says(ANSWER), env=env)
    assert "session.py:1" in terminal.shown
    assert "\x1b]8" not in terminal.raw


def test_a_pipe_gets_no_links_beside_a_terminal_that_does(project):
    env = {"TERM": "xterm-kitty"}
    terminal, _ = asked(searches("Looking."), says(ANSWER), env=env, stdout=subprocess.PIPE)
    assert terminal.output == ANSWER.encode()
    assert [text for _, text in LINKS.findall(terminal.shown)] == ["session.py:1"]


def write_many(project, count=600):
    text = "\n".join(f"def thing_{number}(): return {number}" for number in range(60))
    for number in range(count):
        (project / f"f{number}.py").write_text(text)


def test_indexing_is_shown_while_it_goes_on(project):
    write_many(project)
    terminal, code = asked(searches("Looking."), says(ANSWER))
    counts = re.findall(r"indexing ([\d,]+) of 602 files", terminal.shown)
    assert (code, counts == sorted(counts, key=int), len(counts) > 1) == (0, True, True)


def test_a_dumb_terminal_is_told_once_that_there_is_much_to_index(project):
    write_many(project, 100)
    terminal, _ = asked(searches("Looking."), says(ANSWER), env={"TERM": "dumb"}, arguments=["-v"])
    assert terminal.shown.count("index      102 files to check") == 1


def test_ctrl_c_ends_the_indexing_as_well(project):
    write_many(project, 2_000)
    with model_serving() as (env, _):
        terminal = Terminal("ask", QUESTION, env=env).until("indexing ")
        assert terminal.type("\x03").end() == 130
    assert "it was cancelled (Ctrl-C)" in terminal.shown
    assert "indexing 2,002 of 2,002" not in terminal.shown


def test_no_color_means_no_colours(project):
    terminal, _ = asked(searches("Looking."), says(ANSWER), env={"NO_COLOR": "1"})
    assert COLOURS.findall(terminal.raw) == []
    terminal, _ = asked(searches("Looking."), says(ANSWER))
    assert COLOURS.findall(terminal.raw) != []


def test_a_dumb_terminal_gets_plain_lines_and_no_control(project):
    terminal, code = asked(
        searches("I look."), says(ANSWER), env={"TERM": "dumb"}, columns=40, arguments=["-v"]
    )
    assert (code, "\x1b" in terminal.raw) == (0, False)
    assert "draft      I look." in terminal.shown
    assert "After 30 minutes, see session.py:1." in terminal.shown
    # Its own line breaks, and none that the terminal makes in the middle of a word.
    assert max(map(len, terminal.raw.split("\r\n"))) <= 40


def test_quiet_shows_the_answer_only(project):
    terminal, _ = asked(searches("I look for it."), says(ANSWER), arguments=["-q"])
    assert "search_code" not in terminal.shown
    assert "answered" not in terminal.shown
    assert "After 30 minutes" in terminal.shown


def test_a_pipe_on_stdout_gets_the_answer_while_the_terminal_shows_progress(project):
    terminal, _ = asked(searches("I look."), says(ANSWER), stdout=subprocess.PIPE)
    assert terminal.output == ANSWER.encode()
    assert "sources: session.py:1" in terminal.shown
    assert "30 minutes" not in terminal.shown


def test_what_a_model_writes_cannot_steer_the_terminal(project):
    terminal, _ = asked(searches("Looking."), says("Fine.\x1b[2J\x1b]0;owned\x07 Really."))
    assert "\x1b[2J" not in terminal.raw
    assert "\x1b]0" not in terminal.raw
    assert "Really." in terminal.shown


def test_letters_that_a_terminal_has_not_are_replaced(project):
    terminal, code = asked(
        searches("Looking."), says("- Tea: 茶"), env={"PYTHONIOENCODING": "ascii"}
    )
    assert code == 0
    assert " * Tea: ?" in terminal.shown


@pytest.mark.parametrize(("key", "is_granted"), [("y\r", True), ("\r", False), ("x\r", False)])
def test_a_person_is_asked_and_only_a_yes_is_one(project, key, is_granted):
    wanting = says(type_="need_capability", capability="write_note", reason="keep it")
    with model_serving(wanting, says("Done.")) as (env, server):
        terminal = Terminal("ask", "hello there", env=env)
        terminal.until("oracle: Allow write_note? keep it [y/N] ").type(key).end()
    offered = [tool["function"]["name"] for tool in server.requests[1].body.get("tools", [])]
    assert ("write_note" in offered) == is_granted


def test_ctrl_c_answers_a_question_with_no(project):
    wanting = says(type_="need_capability", capability="write_note", reason="keep it")
    with model_serving(wanting) as (env, _):
        terminal = Terminal("ask", "hello there", env=env).until("[y/N] ")
        assert terminal.type("\x03").end() == 130
    assert "Traceback" not in terminal.shown


def test_a_key_that_is_missing_leaves_the_terminal_as_it_was(project):
    terminal = Terminal("ask", "--model", "anthropic:x", QUESTION)
    assert terminal.end() == 78
    assert "oracle: there is no key for anthropic: set ANTHROPIC" in terminal.shown
    assert terminal.raw.count(CURSOR[0]) == terminal.raw.count(CURSOR[1])
