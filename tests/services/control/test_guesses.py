"""Reads of places that nobody has named."""

import pytest

from oracle.services.control.guesses import is_guess, places_named
from oracle.testing.models import tool_spec

READ = tool_spec("read_file")


def asked(path):
    return {"id": "1", "name": "read_file", "arguments": {"path": path}}


@pytest.mark.parametrize(
    ("path", "named", "expected"),
    [
        ("src/auth.py", "how does login work?", True),
        ("src/auth.py", "from src/auth.py:3", False),
        ("auth.py", "from src/auth.py:3", False),
        ("lib/auth.py", "the folder src has auth.py", False),
        ("src/app/store.py", "from app.store import save", False),
        ("SRC/Auth.py", "from src/auth.py:3", False),
    ],
)
def test_a_place_that_nothing_names_is_a_guess(path, named, expected):
    assert is_guess(asked(path), READ, named) is expected


def test_arguments_that_cannot_be_read_are_not_judged():
    assert not is_guess({**asked("x"), "arguments": "{"}, READ, "")


def test_a_failed_read_names_what_there_is_but_not_what_it_asked_for():
    named = places_named(
        [
            {"role": "assistant", "content": "An earlier answer: docs/old.md"},
            {"role": "user", "content": "How does login work?"},
            {"role": "assistant", "content": "a guess: b.py", "tool_calls": [asked("src/a.py")]},
            {
                "role": "tool",
                "call_id": "1",
                "content": "there is no file 'src/a.py'; there are Real.py",
                "success": False,
            },
        ]
    )
    assert "docs/old.md" in named
    assert "real.py" in named
    assert "a.py" not in named.replace("real.py", "")
    assert "b.py" not in named
