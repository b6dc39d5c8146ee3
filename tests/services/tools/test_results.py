"""What a tool answers is checked before anything relies on it."""

import pytest

from oracle.services.tools.results import well_formed

SOURCE = {"kind": "code", "where": "auth.py:3", "text": "def login()"}


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


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "answered a NoneType, not a result"),
        ("text", "answered a str, not a result"),
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
