"""What a response consists of: truth tables."""

import pytest

from oracle.bt.conditions.reply import has_calls, has_text, has_text_and_no_open_calls
from tests.asking import context

CALL = {"id": "1", "name": "search_code", "arguments": {}}
REFUSED = {**CALL, "not_run": "no"}
ACCEPTED = {**CALL, "not_run": None}


@pytest.mark.parametrize(
    ("text", "calls", "answers"),
    [
        ("", [], (False, False, False)),
        ("so", [], (True, False, True)),
        ("", [CALL], (False, True, False)),
        ("so", [CALL], (True, True, False)),
        ("so", [ACCEPTED], (True, True, False)),
        ("so", [REFUSED], (True, True, True)),
        ("so", [REFUSED, CALL], (True, True, False)),
        ("", [REFUSED], (False, True, False)),
    ],
)
def test_text_calls_and_whether_it_is_an_answer(text, calls, answers):
    ctx = context(response={"text": text}, calls=calls)
    assert (has_text(ctx), has_calls(ctx), has_text_and_no_open_calls(ctx)) == answers
