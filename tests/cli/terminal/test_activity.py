"""The status line says in plain words what goes on."""

from oracle.cli.terminal.activity import Activity, doing
from tests.cli.chunks import QUESTION, chunk
from tests.tables import each_row


def call(name, number="1"):
    return chunk("tool_call", id=number, name=name, arguments={"path": "secret.py"})


def result(number="1"):
    return chunk(
        "tool_result", id=number, name="f", success=True, content="", sources=[], was_run=True
    )


def words_after(*chunks):
    activity = Activity()
    for each in chunks:
        activity.follow(each)
    return activity.words


@each_row(
    ("names", "words"),
    [
        (["search_code"], "searching code"),
        (["search_vault"], "searching notes"),
        (["search_code", "search_threads", "search_code"], "searching code and threads"),
        (["web_search"], "searching the web"),
        (["search"], "searching the project"),
        (["read_file"], "reading a file"),
        (["read_file"] * 3, "reading 3 files"),
        (["search_code", "read_file"], "reading a file"),
        (["read_note", "read_note"], "reading 2 notes"),
        (["web_fetch"], "reading a web page"),
        (["read_ticket"], "reading a source"),
        (["find_definition"], "looking up definitions"),
        (["get_repo_map"], "looking over the project"),
        (["list_notes"], "listing what there is"),
        (["write_note"], "writing a note"),
        (["push_thread"], "writing a thread"),
        (["deploy\x1b[2J"], "running deploy[2J"),
    ],
)
def test_tools_are_named_by_what_they_do(names, words):
    assert doing(names) == words


TURN = chunk("turn_start", offered=[], withheld=[], budgets={})


@each_row(
    ("chunks", "words"),
    [
        ((), "starting"),
        ((chunk("question", **QUESTION),), "thinking"),
        ((TURN,), "waiting for the model"),
        ((TURN, chunk("content", content="It")), "writing"),
        ((call("read_file"), call("read_file", "2")), "reading 2 files"),
        ((call("read_file"), call("read_file", "2"), result()), "reading a file"),
        ((call("read_file"), result(), TURN), "waiting for the model"),
        ((TURN, chunk("sources", sources=[], citations=None)), "waiting for the model"),
    ],
)
def test_the_words_follow_the_run(chunks, words):
    assert words_after(*chunks) == words
