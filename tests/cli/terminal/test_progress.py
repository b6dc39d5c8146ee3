"""Lines of progress are functions of chunks."""

import pytest

from oracle.cli.terminal.progress import activity, classified, folded, told
from oracle.models.stream_chunk import OracleStreamChunk


def chunk(type_, **data):
    return OracleStreamChunk.from_dict({"type": type_, **data})


CALL = chunk("tool_call", id="1", name="search_code", arguments={"query": "x"})
LINES = [
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
def test_a_chunk_is_told_in_one_line(given, line):
    assert str(told(given)) == line


@pytest.mark.parametrize("type_", ["content", "reasoning"])
def test_words_have_no_line_of_their_own(type_):
    assert told(chunk(type_, content="word")) is None


def test_a_classification_is_told_with_the_tools_on_offer():
    found = {"query_type": "code", "confidence": 0.987}
    assert str(classified(found, ["a", "b"])) == "question   code (0.99) · a, b"
    assert str(classified(found, [])).endswith("no tools")


def test_a_draft_is_folded_into_a_line():
    assert str(folded("I look\n\nfor it.")) == "draft      I look for it."
    assert len(folded("word " * 100).text) == 100
    assert folded(" \n") is None


def test_what_goes_on_is_said_in_a_few_words():
    assert activity(CALL) == 'search_code "x"'
    assert activity(chunk("content", content="a")) == "writing"
    assert activity(chunk("sources", sources=[], citations=None)) is None
