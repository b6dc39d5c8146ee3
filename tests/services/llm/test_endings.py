"""Why a response ended: one vocabulary for what each provider says."""

from oracle.errors import ModelBrokeOff
from oracle.services.llm.endings import ending_of
from oracle.testing.servers import Reply, anthropic, openai
from tests.services.llm.dialects import DIALECTS
from tests.tables import each_row

KINDS = {
    "whole": ["stop", "end_turn", "tool_calls", "STOP", "stop_sequence", "eos"],
    "length": ["length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"],
    "pause": ["pause_turn"],
    "filter": ["content_filter", "SAFETY", "RECITATION", "guardrail_intervened"],
    "refusal": ["refusal"],
    "broken": ["error", "failed", "MALFORMED_FUNCTION_CALL"],
    "unknown": ["something_new", "", None],
}


@each_row(("kind", "reasons"), KINDS.items(), ids=KINDS)
def test_each_reason_has_its_kind(kind, reasons):
    assert {ending_of(reason)["kind"] for reason in reasons} == {kind}


def body(wire, reason):
    said = wire.text("It is in", " a.py") if wire is openai else [wire.text("It is in", " a.py")]
    blocks = [said] if wire is openai else said
    return [*wire.beginning(), *wire.events(*blocks), *wire.ending(reason=reason)]


SENT = [
    (openai, "length", "length"),
    (openai, "content_filter", "filter"),
    (openai, "guardrail_intervened", "filter"),
    (openai, "something_new", "unknown"),
    (anthropic, "max_tokens", "length"),
    (anthropic, "pause_turn", "pause"),
    (anthropic, "refusal", "refusal"),
    (anthropic, "model_context_window_exceeded", "length"),
]


@each_row(("wire", "reason", "kind"), SENT)
async def test_an_ending_that_is_not_whole_is_a_part_of_the_response(wire, reason, kind):
    name = "openai" if wire is openai else "anthropic"
    parts = await DIALECTS[name].answer(*body(wire, reason))
    assert [part["ending"]["kind"] for part in parts if "ending" in part] == [kind]
    assert "".join(part.get("text", "") for part in parts) == "It is in a.py"


async def test_a_whole_response_says_nothing_about_its_ending():
    parts = await DIALECTS["openai"].answer(*body(openai, "stop"))
    assert not any("ending" in part for part in parts)


async def test_text_that_ends_in_tool_calls_without_a_call_is_not_whole():
    parts = await DIALECTS["openai"].answer(*body(openai, "tool_calls"))
    assert [part["ending"]["kind"] for part in parts if "ending" in part] == ["unknown"]


async def test_a_provider_that_failed_in_the_middle_is_an_error():
    _, error = await DIALECTS["openai"].failing(Reply(body=body(openai, "error")))
    assert type(error) is ModelBrokeOff
