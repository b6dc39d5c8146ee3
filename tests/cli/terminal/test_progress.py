"""Lines of progress are functions of chunks."""

import pytest

from oracle.cli.terminal.progress import activity, draft_line, line_for
from oracle.models.stream_chunk import CHUNKS, ChunkType, OracleStreamChunk
from tests.cli.chunks import QUESTION, chunk

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
        chunk("tool_result", id="1", name="f", success=True, content="", sources=[{}, {}]),
        "           → f: 2 places",
    ),
    (
        chunk("tool_result", id="1", name="f", success=True, content="", sources=[]),
        "           → f: nothing to quote",
    ),
    (
        chunk("tool_result", id="1", name="f", success=False, content="no\nway", sources=[]),
        "failed     f: no way",
    ),
    (
        chunk("signal", signal={"type": "stuck", "confidence": 0.5, "attempted": ["a"]}),
        "signal     stuck (0.50) attempted: ['a']",
    ),
    (chunk("system", content="So it is.", severity="info"), "note       So it is."),
    (chunk("system", content="Beware.", severity="warning"), "warning    Beware."),
    (
        chunk("budget", budget="turns", used=29, limit=30, at="reserve"),
        "budget     turns: 29 of 30 used; the rest is kept for the answer",
    ),
]


@pytest.mark.parametrize(("given", "line"), LINES, ids=lambda value: str(value)[:20])
def test_a_chunk_is_one_line(given, line):
    assert str(line_for(given)) == line


@pytest.mark.parametrize("type_", sorted(set(ChunkType) - {each.type for each, _ in LINES}))
def test_other_chunks_have_no_line_of_their_own(type_):
    other = OracleStreamChunk(type=type_, data=dict.fromkeys(CHUNKS[type_], "word"))
    assert line_for(other) is None


def test_a_status_is_printed_however_quiet_the_command_is():
    assert line_for(chunk("node", path="a/b", status="running", tick=3)).asked_for
    assert not line_for(CALL).asked_for


def test_a_draft_is_folded_into_a_line():
    assert str(draft_line("I look\n\nfor it.")) == "draft      I look for it."
    assert len(draft_line("word " * 100).text) == 100
    assert draft_line(" \n") is None


def test_what_goes_on_is_said_in_a_few_words():
    assert activity(CALL) == 'search_code "x"'
    assert activity(chunk("content", content="a")) == "writing"
    assert activity(chunk("question", **QUESTION)) == "thinking"
    assert activity(chunk("sources", sources=[], citations=None)) is None
