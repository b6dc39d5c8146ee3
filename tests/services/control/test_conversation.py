"""Messages are measured once, shortened with a note, and in an order that providers accept."""

import pytest

from oracle.services.control.conversation import Weight, rough_tokens, with_result, without_data
from oracle.services.prompting.tokens import estimate_tokens
from tests.tables import each_row


def message(role, content="x", **more):
    return {"role": role, "content": content, **more}


DATA = {
    "sources": [{"kind": "code", "where": "a.py:1", "text": "x" * 900}],
    "more_uses": {"name": "x"},
    "tool_role": "search",
    "coverage": {"nothing": ["a.py"]},
}
MESSAGES = [message("system", "prompt"), message("user", "why?"), message("assistant", "so")]


def test_weighing_in_steps_is_weighing_at_once():
    stepwise = Weight()
    for count in range(len(MESSAGES) + 1):
        stepwise = stepwise.with_all(MESSAGES[:count])
    assert stepwise == Weight().with_all(MESSAGES)
    assert Weight.from_dict(stepwise.to_dict()) == stepwise


def test_the_digest_names_content_and_order():
    turned = Weight().with_all(MESSAGES[::-1])
    assert turned.tokens == Weight().with_all(MESSAGES).tokens
    assert turned.digest != Weight().with_all(MESSAGES).digest


def test_calls_weigh_something():
    call = {"id": "1", "name": "search_code", "arguments": {"query": "login " * 20}}
    plain, calling = message("assistant", ""), message("assistant", "", tool_calls=[call])
    assert Weight().with_all([calling]).tokens > Weight().with_all([plain]).tokens + 15


@each_row("text", ["", "word", "word " * 200, "word and other words " * 5_000, "größer als " * 900])
def test_a_rough_count_is_never_below_and_not_far_above_the_exact_one(text):
    exact = estimate_tokens(text)
    assert exact <= rough_tokens(text) <= exact * 1.5 + 1


@pytest.mark.parametrize("unit", ["f3Q/9+xZ0a8K=1", "8 17 26 35 ", "({[<>]});:,.", "中文字符"])
def test_dense_text_is_not_taken_for_prose(unit):
    text = unit * 2_000
    assert rough_tokens(text) >= 0.85 * estimate_tokens(text)


def test_data_beside_the_content_has_no_weight():
    with_data = [{**each, **DATA} for each in MESSAGES]
    assert Weight().with_all(with_data) == Weight().with_all(MESSAGES)
    assert without_data(with_data) == MESSAGES


@each_row(
    ("roles", "expected"),
    [
        (["user", "assistant"], 2),
        (["user", "assistant", "system"], 2),
        (["user", "assistant", "system", "system"], 2),
        (["user", "assistant", "tool", "system"], 3),
        (["system"], 0),
        ([], 0),
    ],
)
def test_a_result_follows_its_call_and_precedes_the_messages_of_the_tree(roles, expected):
    result = message("tool", "result")
    messages = with_result([message(role) for role in roles], result)
    assert messages.index(result) == expected
    assert len(messages) == len(roles) + 1
