"""Lines of progress are functions of chunks."""

import pytest

from oracle.cli.terminal.progress import draft_line, line_for
from oracle.models.stream_chunk import CHUNKS, ChunkType, OracleStreamChunk
from tests.cli.chunks import QUESTION, chunk
from tests.tables import each_row

CALL = chunk("tool_call", id="1", name="search_code", arguments={"query": "x"})
LINES = [
    (chunk("question", **QUESTION), "question   code (0.99) · search_code, read_file"),
    (chunk("question", **QUESTION | {"tools": []}), "question   code (0.99) · no tools"),
    (chunk("node", path="question/turns", status="halted", tick=3), "halted     question/turns"),
    (CALL, 'tool       search_code "x"'),
    (
        chunk("tool_call", id="1", name="read_file", arguments={"path": "a.py", "line": 3}),
        'tool       read_file path="a.py" line=3',
    ),
    (chunk("tool_call", id="1", name="f", arguments="{bro\x1b[2Jken"), "tool       f {bro[2Jken"),
    (
        chunk(
            "tool_result",
            id="1",
            name="f",
            success=True,
            content="",
            sources=[{}, {}],
            was_run=True,
        ),
        "           → f: 2 places",
    ),
    (
        chunk("tool_result", id="1", name="f", success=True, content="", sources=[], was_run=True),
        "           → f: nothing to quote",
    ),
    (
        chunk(
            "tool_result",
            id="1",
            name="f",
            success=False,
            content="f failed: no\nway",
            sources=[],
            was_run=True,
        ),
        "failed     f: no way",
    ),
    (
        chunk("signal", signal={"type": "stuck", "confidence": 0.5, "attempted": ["a"]}),
        "signal     stuck (0.50) attempted: ['a']",
    ),
    (chunk("system", content="So it is.", severity="info"), "note       So it is."),
    (chunk("system", content="Beware.", severity="warning"), "oracle: warning: Beware."),
    (
        chunk("budget", budget="turns", used=29, limit=30, at="reserve"),
        "budget     turns: 29 of 30 used; the rest is kept for the answer",
    ),
]


@each_row(("given", "line"), LINES, ids=lambda value: str(value)[:20])
def test_a_chunk_is_one_line(given, line):
    assert str(line_for(given)) == line


@each_row("type_", sorted(set(ChunkType) - {each.type for each, _ in LINES}))
def test_other_chunks_have_no_line_of_their_own(type_):
    other = OracleStreamChunk(type=type_, data=dict.fromkeys(CHUNKS[type_], "word"))
    assert line_for(other) is None


def test_a_status_is_printed_however_quiet_the_command_is():
    node = line_for(chunk("node", path="a/b", status="running", tick=3))
    assert node.is_for("quiet")
    assert not line_for(CALL).is_for("normal")


EVERYTHING = [
    (
        chunk("prompt", segments=[{"id": "base"}], tokens=9),
        "prompt     9 tokens: base",
    ),
    (
        chunk("turn_start", offered=[{"name": "f", "reason": "why"}], withheld=[], budgets={}),
        "turn       0 · f (why)",
    ),
    (
        chunk("verdict", signal=None, verdict="refused", reason="no", node="a/b"),
        "verdict    refused: no · a/b",
    ),
    (
        chunk("cost", node="a", tokens=1200, money=0.5, seconds=1.0, is_estimate=False),
        "cost       1,200 tokens · 0.5000 · 1.0 s · a",
    ),
]


@pytest.mark.parametrize(("given", "line"), EVERYTHING, ids=lambda value: str(value)[:20])
def test_everything_has_lines_for_what_is_usually_left_out(given, line):
    assert (str(line_for(given, is_whole=True)), line_for(given)) == (line, None)


def test_everything_has_the_arguments_in_full():
    long = chunk("tool_call", id="1", name="f", arguments={"query": "x" * 300})
    assert len(line_for(long).text) < 120
    assert "x" * 300 in line_for(long, is_whole=True).text


def test_a_draft_is_folded_into_a_line():
    assert str(draft_line("I look\n\nfor it.")) == "draft      I look for it."
    assert len(draft_line("word " * 100).text) == 100
    assert draft_line(" \n") is None
