"""What the stream says next to the answer: question, prompt, tools, costs and verdicts."""

import pytest

from oracle.services.control.ledger import Limits
from oracle.testing import signal
from tests.asking import ask, enough, look, stuck
from tests.default_run import thinned
from tests.scenarios import NAMES, SCENES, play
from tests.tables import each_row


@pytest.mark.parametrize("name", thinned(NAMES, 4))
async def test_each_signal_of_a_whole_response_gets_a_verdict_in_its_turn(name):
    said = await play(SCENES[name])
    cut = {c.turn for c in said if c.type == "turn_end" and c["outcome"] == "cut"}
    cut |= {said[-1].turn} if said[-1]["stop_reason"] == "cancelled" else set()
    signals = {c.turn for c in said if c.type == "signal"} - cut
    assert signals <= {c.turn for c in said if c.type == "verdict"}


@each_row(
    ("replies", "verdict"),
    [
        ([look(), enough()], ("need_turn", "granted")),
        ([look(), enough()], ("context_sufficient", "believed")),
        ([enough(), look(), enough()], ("context_sufficient", "not_believed")),
        ([stuck(), "Ok."], ("stuck", "strategy_changed")),
        ([stuck(), "Ok."], ("stuck", "fallback_retry_with_hint")),
    ],
)
async def test_a_verdict_names_the_signal_and_the_node_that_decided(replies, verdict):
    heard = await ask(*replies)
    given = [
        each for each in heard.of_type("verdict") if (each["signal"], each["verdict"]) == verdict
    ]
    assert given
    subtree = "fallback" if verdict[1].startswith("fallback") else "decide"
    assert f"/{subtree}/" in given[0]["node"]


async def test_the_question_is_announced_with_its_class_and_its_tools():
    heard = await ask(look(), enough())
    (question,) = heard.of_type("question")
    assert (question["query_type"], question["tools"]) == ("code", ["search_code"])
    assert question["sources"] == ["code"]


async def test_the_prompt_is_announced_segment_by_segment():
    (prompt,) = (await ask(look(), enough())).of_type("prompt")
    assert [segment["id"] for segment in prompt["segments"]][:2] == ["base", "signals"]
    assert prompt["tokens"] == sum(segment["tokens"] for segment in prompt["segments"])


async def test_a_turn_starts_with_the_tools_it_offers_and_withholds_each_with_a_reason():
    wish = "Hm." + signal("need_capability", capability="web search", reason="it is news")
    first, second, *_ = (await ask(wish, look(), "Ok.")).of_type("turn_start")
    assert first["offered"] == [{"name": "search_code", "reason": "for a question about code"}]
    assert [tool["name"] for tool in first["withheld"]] == ["web_search"]
    assert {"name": "web_search", "reason": "it is news"} in second["offered"]


async def test_a_turn_starts_with_the_reserve_of_each_budget():
    (start, *_) = (await ask("Ok.", limits=Limits(turns=9))).of_type("turn_start")
    assert start["budgets"]["turns"] == {"used": 1, "limit": 9, "reserve": 1}
    assert start["budgets"]["tokens"]["reserve"] > 0
    assert start["budgets"]["money"]["limit"] is None


async def test_each_request_has_its_cost_by_node():
    costs = (await ask(look(), enough())).of_type("cost")
    assert len(costs) == 2
    assert all(cost["node"].endswith("/call model") and cost["tokens"] > 0 for cost in costs)
