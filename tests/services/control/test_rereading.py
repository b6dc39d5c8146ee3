"""Reads of lines that an earlier read shows."""

import pytest

from oracle.models.tool_spec import ToolSpec
from oracle.services.control.rereading import is_shown, lines_shown

READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    parameters={"type": "object", "properties": {"path": {}}, "required": ["path"]},
)


def read(**source):
    return {"role": "tool", "tool_role": "read", "sources": [source]}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "whole.py"}, True),
        ({"path": "whole.py", "start": 70, "end": 90}, True),
        ({"path": "part.py", "start": 12, "end": 18}, True),
        ({"path": "part.py", "start": 12, "end": None}, False),
        ({"path": "part.py", "start": 5, "end": 18}, False),
        ({"path": "part.py", "start": 12, "end": 21}, False),
        ({"path": "part.py"}, False),
        ({"path": "whole.py", "symbol": "login"}, False),
        ({"path": "whole.py", "symbol": None}, True),
        ({"path": "other.py"}, False),
        ("{", False),
    ],
)
def test_lines_that_one_read_shows_need_no_other(arguments, expected):
    shown = lines_shown(
        [
            read(path="whole.py", start=1, end=9, whole=True),
            read(path="part.py", start=10, end=20),
        ]
    )
    assert is_shown({"name": "read_file", "arguments": arguments}, READ, shown) is expected


def test_what_a_search_shows_and_what_was_shortened_may_be_read():
    search = read(path="a.py", start=1, end=9, whole=True) | {"tool_role": "search"}
    shortened = {"role": "tool", "tool_role": "read", "content": "a.py …"}
    assert lines_shown([search, shortened]) == {}
