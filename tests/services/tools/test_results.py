"""What a tool returns is checked before other code relies on it."""

import pytest

from oracle.services.tools.results import well_formed
from tests.tables import each_row

SOURCE = {"kind": "code", "where": "auth.py", "text": "def login()"}


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({}, {"success": False, "content": "", "sources": []}),
        (
            {"success": True, "content": "x", "sources": (SOURCE,), "empty": False},
            {"success": True, "content": "x", "sources": [SOURCE], "empty": False},
        ),
        (
            {"success": True, "content": "x", "sources": None},
            {"success": True, "content": "x", "sources": []},
        ),
    ],
)
def test_a_result_is_plain_data_with_all_its_parts(answer, result):
    assert well_formed(answer) == result


@each_row(
    ("where", "lines"),
    [
        ("src/a.py:3", {"path": "src/a.py", "start": 3, "end": 3}),
        ("src/a.py:3-9", {"path": "src/a.py", "start": 3, "end": 9}),
        ("src/a.py", {}),
        ("https://x.example:80", {}),
        ("thread:a@2026-01-08T12:00:00Z", {}),
    ],
)
def test_a_source_that_says_its_lines_only_in_words_gets_them_as_data(where, lines):
    (source,) = well_formed({"content": "x", "sources": [{"where": where}]})["sources"]
    assert source == {"where": where, **lines}


def test_a_source_that_says_its_lines_as_data_keeps_them():
    given = {"where": "a.py:3", "path": "b.py", "start": 7}
    assert well_formed({"content": "x", "sources": [given]})["sources"] == [given]


@each_row(
    ("answer", "problem"),
    [
        (None, "returned a NoneType, not a result"),
        ("text", "returned a str, not a result"),
        ({"content": None}, "the content is a NoneType, not text"),
        ({"content": "x", "sources": [{}]}, "says where it is"),
        ({"content": "x", "sources": ["auth.py"]}, "says where it is"),
        ({"content": "x", "sources": 3}, "not iterable"),
        ({"content": "x", "more": object()}, "not JSON serializable"),
    ],
)
def test_any_other_shape_says_what_is_wrong_with_it(answer, problem):
    with pytest.raises(TypeError, match=problem):
        well_formed(answer)
