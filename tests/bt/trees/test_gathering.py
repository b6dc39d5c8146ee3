"""A model that gathers on although enough is there is told, then refused, then asked to answer."""

import pytest

from oracle.testing import Reply, signal
from tests.asking import ask, enough, look

ENOUGH_THERE = "What was found has the words of the question"
FOUND = "auth.py:3 def login(): check_token()"


def reads(*paths):
    calls = [("read_file", {"path": path}) for path in paths]
    return Reply(text=signal("need_turn", reason=f"read {paths}"), calls=calls)


def tools(**more):
    """Each search finds another place with the same words of the question."""
    found = {
        "search_code": lambda a: f"auth.py:{len(str(a))} login {a['query']}",
        "read_file": lambda a: f"{a['path']}:1 login, from auth.py",
    }
    return {**found, **more}


async def test_three_calls_without_a_new_word_of_the_question_bring_the_advice_to_answer():
    heard = await ask(*map(look, "abcd"), enough(), tools=tools())
    assert ENOUGH_THERE not in heard.told(3)
    assert heard.told(4).count(ENOUGH_THERE) == 1
    assert heard.stop == "answered"


async def test_who_gathers_on_is_refused_and_then_has_no_tools():
    heard = await ask(*map(look, "abcdef"), enough(), tools=tools())
    assert len(heard.ran) == 4
    assert heard.results(6)[4].startswith("Not run: what was found has the words of the question")
    assert heard.offered[5] != []
    assert "Give the whole answer now" in heard.told(6)
    assert (heard.offered[6], heard.stop) == ([], "answered")


async def test_the_first_reads_are_run_all_the_same():
    heard = await ask(*map(look, "abcd"), reads("a.py", "b.py"), reads("c.py", "d.py"), enough(),
                      tools=tools())  # fmt: skip
    assert heard.ran.count("read_file") == 3


async def test_who_follows_a_name_that_was_read_is_let_search():
    found = {"search_code": [FOUND, "auth.py:4 login", "auth.py:5 login", "auth.py:6 login", "x"]}
    heard = await ask(*map(look, "abcd"), look("check_token"), enough(), tools=found)
    assert ENOUGH_THERE in heard.told(4)
    assert len(heard.ran) == 5


async def test_who_insists_on_a_call_gets_it():
    again = look("e", "the open part")
    heard = await ask(*map(look, "abcd"), look("e"), again, enough(), tools=tools())
    assert len(heard.ran) == 5
    assert heard.stop == "answered"


async def test_a_source_that_was_not_tried_is_not_more_of_the_same():
    wants = Reply(text=signal("need_capability", capability="web search", reason="compare"))
    net = look("x", tool="web_search")
    heard = await ask(*map(look, "abcd"), wants, net, enough(), tools=tools(web_search="w"))
    assert heard.ran[-1] == "web_search"


async def test_a_new_word_of_the_question_begins_anew():
    found = {"search_code": [*[f"auth.py:{n} x" for n in range(4)], "login", "auth.py:9 login"]}
    again = [look("check_token"), look("f")]
    found["search_code"][3] = "auth.py:3 check_token"
    heard = await ask(*map(look, "abcd"), *again, enough(), tools=found)
    assert ENOUGH_THERE in heard.told(4)
    assert len(heard.ran) == 6


async def test_results_without_a_word_of_the_question_are_not_enough():
    found = {"search_code": lambda a: f"f{a['query']}.py:1 x"}
    heard = await ask(*map(look, "abcdef"), enough(), tools=found)
    assert len(heard.ran) == 6
    assert ENOUGH_THERE not in heard.told()


# -- many calls in one response --------------------------------------------------------------------


async def test_of_fifty_calls_in_one_response_a_few_are_run():
    calls = [("search_code", {"query": f"word {n}"}) for n in range(25)]
    calls += [("read_file", {"path": f"{n}.py"}) for n in range(25)]
    heard = await ask(Reply(calls=calls), enough(), tools=tools())
    assert heard.ran == ["search_code"] * 2
    assert heard.stop == "answered"


async def test_a_search_whose_words_another_search_has_is_not_run():
    calls = [("search_code", {"query": query}) for query in ("login token", "token", "login token")]
    heard = await ask(Reply(calls=calls), enough(), tools=tools())
    assert [arguments["query"] for _, arguments in heard.tools.calls] == ["login token"]
    assert "another search of this response has its words" in heard.results()[1]


async def test_calls_that_were_spared_are_not_failures():
    calls = [("search_code", {"query": "login"})] * 6
    stuck = "Hm." + signal("stuck", attempted=["a"], blocker="b")
    heard = await ask(Reply(calls=calls), stuck, enough(), tools=tools())
    (decided,) = heard.events("fallback.triggered")
    assert decided["classification_action"] == "retry_with_hint"


# -- an answer beside the question -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "stop"),
    [("auth.py:3 the queue", "partial_answer"), ("auth.py:3 KafkaQueue", "answered")],
)
async def test_an_answer_is_whole_only_if_what_the_question_names_was_found(found, stop):
    heard = await ask(
        look(),
        enough("In auth.py:3."),
        query="How does our code set up the Kafka consumer group for orders?",
        tools={"search_code": found},
    )
    assert heard.stop == stop
    assert heard.done["missing"] == ([] if stop == "answered" else ["anything that mentions Kafka"])
