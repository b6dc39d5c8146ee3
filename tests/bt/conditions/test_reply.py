"""What a response contains: truth tables."""

from oracle.bt.conditions.reply import has_calls, has_text
from tests.asking import context
from tests.tables import each_row

CALL = {"id": "1", "name": "search_code", "arguments": {}}


@each_row("text", ["", "so"])
@each_row("calls", [[], [CALL], [{**CALL, "not_run": "no"}]])
def test_text_and_calls(text, calls):
    ctx = context(response={"text": text}, calls=calls)
    assert (has_text(ctx), has_calls(ctx)) == (bool(text), bool(calls))
