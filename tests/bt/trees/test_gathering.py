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


KAFKA = "How does our code set up the Kafka consumer group for orders?"
SET_UP = "kafka.py:3 def consumer_group(orders)"


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("The consumer group for orders is set up at the start of the worker.", "answered"),
        ("See `kafka.py:3`, it is called at the start and never again by anything.", "answered"),
        ("Yes.", "answered"),
        ("It is certain: all mails are sent at night, and parked if that fails.", "partial_answer"),
        ("I could find nothing about this in the whole project, sorry.", "partial_answer"),
    ],
)
async def test_an_answer_is_whole_only_if_it_or_what_it_cites_speaks_of_the_question(text, stop):
    place = {"kind": "code", "where": "kafka.py:3", "path": "kafka.py", "start": 3, "end": 3}
    found = {"success": True, "content": SET_UP, "sources": [{**place, "text": SET_UP}]}
    heard = await ask(look(), enough(text), query=KAFKA, tools={"search_code": found})
    assert heard.stop == stop
    words = "an answer that speaks of Kafka, consumer, group, orders"
    assert heard.done["missing"] == ([] if stop == "answered" else [words])


async def test_an_answer_to_one_of_two_parts_is_partial():
    query = "How does login work in auth.py, and who is told about a failure?"
    text = "The function login in auth.py checks the token first."
    heard = await ask(look(), enough(text), query=query)
    assert heard.stop == "partial_answer"
    assert heard.done["missing"] == ["an answer to “who is told about a failure?”"]
    heard = await ask(look(), enough(text + " Nobody is told about a failure."), query=query)
    assert heard.stop == "answered"


def maps(what):
    """A call of a tool that shows what there is."""
    return Reply(
        text=signal("need_turn", reason=f"see {what}"), calls=[("get_repo_map", {"question": what})]
    )


async def test_after_three_overviews_without_a_word_of_the_question_it_has_to_search():
    found = {"get_repo_map": lambda a: f"m.py:1 {a['question']}", "search_code": FOUND}
    heard = await ask(*map(maps, ("ab", "cd", "ef", "gh")), look(), enough(), tools=found)
    assert heard.ran == [*["get_repo_map"] * 3, "search_code"]
    assert "search for the words of the question" in heard.results()[3]


async def test_a_model_that_never_searches_is_given_what_the_tree_finds():
    found = {
        "get_repo_map": lambda a: f"m.py:1 {a['question']}",
        "search_code": FOUND,
        "read_file": FOUND,
    }
    heard = await ask(*map(maps, "abcdefghijk"), enough(), tools=found)
    assert "search_code" in heard.ran
    assert "auth.py:3" in "".join(heard.results())


async def test_a_model_whose_searches_tell_nothing_is_given_what_the_tree_finds():
    found = {
        "search_code": lambda a: FOUND if "login" in a["query"] else "",
        "read_file": FOUND,
    }
    heard = await ask(*map(look, "abcdefghijk"), enough(), tools=found)
    assert "auth.py:3" in "".join(heard.results())
    assert sum(name == "search_code" for name in heard.ran) < 5


# -- reads of places that nobody has named ---------------------------------------------------------


def missing(arguments):
    content = f"there is no file '{arguments['path']}'"
    return {"success": False, "content": content, "sources": []}


def only_auth(arguments):
    return FOUND if arguments["path"] == "auth.py" else missing(arguments)


async def test_after_two_reads_that_failed_a_place_that_nothing_names_is_not_read():
    found = {"search_code": FOUND, "read_file": missing}
    guesses = [reads(f"lib/{name}.py") for name in ("one", "two", "three")]
    heard = await ask(*guesses, look(), enough(), tools=found)
    assert [call[1]["path"] for call in heard.tools.calls if "path" in call[1]][:2] == [
        "lib/one.py",
        "lib/two.py",
    ]
    assert "lib/three.py" not in str(heard.tools.calls)
    assert "search for it first" in heard.results()[2]


async def test_a_place_that_a_result_names_is_read_although_others_failed():
    found = {"search_code": FOUND, "read_file": only_auth}
    guesses = [reads(f"lib/{name}.py") for name in ("one", "two")]
    heard = await ask(*guesses, look(), reads("auth.py"), enough(), tools=found)
    assert heard.ran == ["read_file", "read_file", "search_code", "read_file"]


async def test_for_a_model_that_only_guesses_at_places_the_tree_searches():
    found = {"search_code": FOUND, "read_file": only_auth}
    guesses = [reads(f"lib/{name}.py") for name in ("one", "two", "three")]
    heard = await ask(*guesses, enough("In auth.py:3."), tools=found)
    assert "search_code" in heard.ran
    assert heard.stop == "answered"


# -- lines that were shown before ------------------------------------------------------------------


def whole_file(arguments):
    source = {"kind": "code", "where": "auth.py:1-9", "text": FOUND}
    source |= {"path": arguments["path"], "start": 1, "end": 9, "whole": True}
    return {"success": True, "content": FOUND, "sources": [source]}


def window(start):
    arguments = {"path": "auth.py", "start": start, "end": start + 4}
    reason = signal("need_turn", reason=f"from {start}")
    return Reply(text=reason, calls=[("read_file", arguments)])


async def test_lines_of_a_file_that_was_read_whole_are_not_read_again():
    found = {"search_code": FOUND, "read_file": whole_file}
    heard = await ask(reads("auth.py"), window(2), window(4), enough(), tools=found)
    assert heard.ran == ["read_file"]
    assert "an earlier result shows all these lines" in heard.results()[1]


async def test_after_a_write_a_file_may_be_read_again():
    found = {"write_note": "notes/x.md", "read_file": whole_file}
    write = Reply(calls=[("write_note", {"query": "q"})])
    query = "Write a note about the login function in auth.py: it checks a token."
    heard = await ask(reads("auth.py"), write, window(2), "Done.", query=query, tools=found)
    assert heard.ran == ["read_file", "write_note", "read_file"]
