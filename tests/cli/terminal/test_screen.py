"""A screen shows what arrives in chunks, and nothing else."""

import pytest

from oracle.cli.terminal.screen import JsonLines, PlainText, Screen
from oracle.models.stream_chunk import CHUNKS, ChunkType
from tests.cli.chunks import QUESTION, chunk

NODE = {"path": "question/turns", "status": "success", "tick": 3}


def screen(volume="normal", output=None):
    return Screen(output or PlainText(), None, volume)


def test_the_class_and_the_tools_of_a_question_come_from_its_chunk(capsys):
    screen("verbose").show(chunk(ChunkType.QUESTION, **QUESTION))
    assert capsys.readouterr().err == "question   code (0.99) · search_code, read_file\n"


@pytest.mark.parametrize("volume", ["quiet", "normal", "verbose", "everything"])
def test_statuses_that_were_asked_for_are_printed_however_quiet_it_is(volume, capsys):
    screen(volume).show(chunk(ChunkType.NODE, **NODE))
    assert capsys.readouterr().err == "success    question/turns\n"


@pytest.mark.parametrize(
    ("volume", "severity", "printed"),
    [
        ("quiet", "warning", ""),
        ("normal", "warning", "oracle: warning: Beware.\n"),
        ("verbose", "warning", "oracle: warning: Beware.\n"),
        ("quiet", "info", ""),
        ("normal", "info", ""),
        ("verbose", "info", "note       Beware.\n"),
    ],
)
@pytest.mark.parametrize("output", [PlainText(), JsonLines()])
def test_a_warning_is_printed_in_a_pipe_unless_it_is_quiet(
    volume, severity, printed, output, capsys
):
    screen(volume, output).show(chunk(ChunkType.SYSTEM, content="Beware.", severity=severity))
    assert capsys.readouterr().err == printed


@pytest.mark.parametrize("type_", ["prompt", "verdict", "cost"])
def test_chunks_that_are_not_for_the_terminal_are_ignored(type_, capsys):
    kind = ChunkType(type_)
    screen("verbose").show(chunk(kind, **dict.fromkeys(CHUNKS[kind], None)))
    assert capsys.readouterr() == ("", "")


TURN = chunk("turn_start", offered=[], withheld=[], budgets={})


@pytest.mark.parametrize(
    ("volume", "has_model", "printed"),
    [
        ("normal", True, ""),
        ("verbose", True, "model      waiting for the model\n"),
        ("verbose", False, ""),
    ],
)
def test_a_pipe_is_told_to_wait_for_a_model_if_it_wants_progress(
    volume, has_model, printed, capsys
):
    Screen(PlainText(), None, volume, has_model=has_model).show(TURN)
    assert capsys.readouterr().err == printed


READER = "this reader only quotes, and `oracle models` lists language models"
CALL = chunk("tool_call", id="1", name="search_code", arguments={"query": "x"})
SIGNAL = chunk("signal", signal={"type": "stuck", "confidence": 0.5, "attempted": ["a"]})
SOURCES = chunk(
    "sources",
    sources=[{"where": "a.py:3", "path": "a.py", "start": 3, "end": 3}],
    citations=None,
)
DONE = dict.fromkeys(CHUNKS[ChunkType.DONE], "") | {
    "answer": "It is.",
    "stop_reason": "answered",
    "error_kind": None,
    "missing": [],
    "usage": {"turns": 1, "tokens": 9, "money": 0.0, "seconds": 1.0, "uses": {}},
    "run_id": "1a2b3c4d",
}


@pytest.mark.parametrize(
    ("volume", "errors"),
    [
        ("quiet", ""),
        (
            "normal",
            f"sources: a.py:3 · 1.0 s\nnot found: why; {READER}\n",
        ),
        (
            "verbose",
            "tool       search_code \"x\"\nsignal     stuck (0.50) attempted: ['a']\n"
            f"sources: a.py:3\nnot found: why; {READER}\n"
            "partial answer · 1 turn · 0 tool calls · 1.0 s · run 1a2b3c4d\n",
        ),
    ],
)
def test_the_answer_is_alone_on_stdout_and_one_line_is_below_it(volume, errors, capsys):
    shown = Screen(PlainText(), None, volume, has_model=False)
    ending = DONE | {"stop_reason": "partial_answer", "missing": ["why"]}
    for each in (chunk("question", **QUESTION), CALL, SIGNAL, SOURCES, chunk("done", **ending)):
        shown.show(each)
    output, printed = capsys.readouterr()
    assert output == "It is.\n"
    assert printed.removeprefix("question   code (0.99) · search_code, read_file\n") == errors


@pytest.mark.parametrize(
    ("cited", "has_model", "line"),
    [
        (False, False, "1.0 s"),
        (True, False, "sources: a.py:3 · 1.0 s"),
        (False, True, "sources: a.py:3 · 1.0 s · 9 tokens"),
    ],
)
def test_what_was_looked_at_in_vain_is_not_a_source(cited, has_model, line, capsys):
    ending = {"answer": "I found nothing.", "stop_reason": "partial_answer"}
    shown = below_answer(capsys, {"a.py": cited}, has_model=has_model, **ending)
    assert shown == line


@pytest.mark.parametrize(
    ("cited", "has_model", "line"),
    [
        ({"a.py": False, "b.py": True}, False, "sources: b.py:3 · 1.0 s"),
        ({"a.py": False, "b.py": True}, True, "sources: b.py:3, a.py:3 · 1.0 s · 9 tokens"),
        ({"a.py": False}, False, "sources: a.py:3 · 1.0 s"),
    ],
    ids=["reader", "model", "a count"],
)
def test_the_sources_of_our_reader_are_those_that_it_cites(cited, has_model, line, capsys):
    assert below_answer(capsys, cited, has_model=has_model) == line


def below_answer(capsys, cited, *, has_model, **ending):
    shown = Screen(PlainText(), None, "normal", has_model=has_model)
    sources = [
        {"where": f"{name}:3", "path": name, "start": 3, "end": 3, "cited": each}
        for name, each in cited.items()
    ]
    shown.show(chunk(ChunkType.SOURCES, sources=sources, citations=[]))
    shown.show(chunk("done", **DONE | ending))
    return capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize("type_", ChunkType)
def test_json_has_every_chunk(type_, capsys):
    JsonLines().chunk(chunk(type_, **dict.fromkeys(CHUNKS[type_], None)))
    assert capsys.readouterr().out.startswith(f'{{"type": "{type_}"')


@pytest.mark.parametrize("files", [(), ("a.py",)])
def test_a_project_without_files_is_named_as_the_reason(tmp_path, capsys, files):
    for name in files:
        (tmp_path / name).write_text("x = 1")
    usage = {"turns": 1, "tokens": 0, "money": 0.0, "seconds": 1.0, "uses": {}}
    told = dict.fromkeys(CHUNKS[ChunkType.DONE], None) | {"answer": "Nothing.", "usage": usage}
    told |= {"stop_reason": "partial_answer", "missing": [], "detail": "", "caveat": None}
    shown = Screen(PlainText(), None, "normal", searched=tmp_path, has_model=False)
    shown.show(chunk(ChunkType.DONE, **told))
    assert ("there are no files here" in capsys.readouterr().err) is (not files)
