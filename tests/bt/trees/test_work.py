"""What has come of the calls leads somewhere: enough, nothing, or another way."""

import asyncio

from oracle.testing import Reply, ScriptedTools
from tests.asking import ask, look, stuck


async def test_calls_that_add_nothing_bring_the_suggestion_to_answer_once():
    tools = {"search_code": "auth.py:3 x", "web_search": "w"}
    heard = await ask(*[look(n) for n in range(5)], "Ok.", tools=tools)
    assert "Answer now" not in heard.told(2)
    assert heard.told(5).count("1 place was found, and the last calls added little.") == 1
    assert heard.offered[5] == ["search_code"]


async def test_where_nothing_was_found_the_model_is_told_and_the_strategy_moves_on():
    heard = await ask(look(1), "There is none.", tools={"search_code": "", "web_search": "w"})
    assert "Nothing was found so far (code)" in heard.told(1)
    assert "Put the search differently" in heard.told(1)
    assert (heard.stop, heard.done["missing"]) == ("partial_answer", ["anything in code"])


async def test_where_nothing_comes_of_it_the_strategies_follow_one_another():
    tools = {"search_code": "", "web_search": ""}
    heard = await ask(*[look(n) for n in range(9)], "There is none.", tools=tools)
    assert heard.offered[5] == ["search_code"]
    assert heard.offered[6] == ["search_code", "web_search"]
    assert "No other way is left" in heard.told(9)
    assert (heard.offered[9], heard.stop) == ([], "stuck")


async def test_words_not_found_before_are_not_searched_for_and_the_strategy_moves_on():
    tools = {"search_code": "", "web_search": "w"}
    searches = [
        Reply(calls=[("search_code", {"query": query})]) for query in ("tide tables", "tide")
    ]
    heard = await ask(*searches, "There is none.", tools=tools)
    assert heard.results()[1].startswith(
        "Not run: an earlier search with these words found nothing"
    )
    assert heard.offered[1:3] == [["search_code"], ["search_code", "web_search"]]


async def test_a_name_that_nothing_mentions_is_looked_for_in_every_source_and_then_no_further():
    tools = {name: f"{name}.py:1 the login" for name in ("search_code", "search_vault")}
    looks = [Reply(calls=[(name, {"query": "x"})]) for name in (*tools, "web_search")]
    replies = [looks[0], stuck(), stuck(), *looks[1:], "None of them has it."]
    tools |= {"web_search": "https://a.org/ the login"}
    heard = await ask(*replies, tools=tools, query="where does the login use FrobnicateFlux?")
    assert heard.offered[3] == [*tools]
    assert "No other way is left" in heard.told(5)
    assert (heard.offered[5], heard.stop) == ([], "partial_answer")


async def test_calls_of_one_turn_run_side_by_side_and_are_answered_in_order():
    arrived = asyncio.Barrier(3)

    async def waits_for_the_others(arguments):
        await arrived.wait()
        return f"f{arguments['query']}.py:1 x"

    calls = [("search_code", {"query": n}) for n in range(3)]
    heard = await ask(Reply(calls=calls), "Ok.", tools={"search_code": waits_for_the_others})
    assert heard.results() == ["f0.py:1 x", "f1.py:1 x", "f2.py:1 x"]


async def test_what_was_found_is_listed_as_sources_once():
    tools = ScriptedTools({"search_code": ["a.py:1 x", "b.py:1 x", "a.py:1 x"]})
    heard = await ask(look(1), look(2), look(3), "Ok.", tools=tools)
    (found,) = heard.of_type("sources")
    assert [source["where"] for source in found["sources"]] == ["a.py:1", "b.py:1"]
