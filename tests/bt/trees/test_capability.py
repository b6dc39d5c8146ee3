"""Grants on request: the tree grants, asks a person, or admits the gap."""

import asyncio

from oracle.testing import Reply, signal
from tests.asking import SOON, ask, look


async def allow(_question):
    return True


async def forbid(_question):
    return False


def wants(capability, reason="to know", confidence=0.9):
    return signal("need_capability", confidence, capability=capability, reason=reason)


async def test_a_reading_tool_is_absent_until_it_is_asked_for_and_then_granted():
    web = Reply(calls=[("web_search", {"query": "q"})])
    heard = await ask("Hm." + wants("web search"), web, "Found.")
    assert heard.offered == [
        ["search_code"],
        ["search_code", "web_search"],
        ["search_code", "web_search"],
    ]
    assert heard.ran == ["web_search"]
    assert heard.events("grant.given") == [
        {"tool": "web_search", "reason": "to know", "by": "the tree"}
    ]


async def test_a_call_of_a_tool_that_was_not_in_the_request_is_not_run():
    heard = await ask(Reply(calls=[("web_search", {}), ("rm_rf", {})]), "Ok.")
    assert heard.ran == []
    assert heard.results() == [
        "Not run: web_search was not granted; you had search_code.",
        "Not run: rm_rf was not granted; you had search_code.",
    ]


GADGETS = ("a shell", "a debugger", "root access")
"""What no tool has."""

WRITING = {"search_code": "auth.py:3 x", "write_note": "notes/x.md"}


async def test_a_writing_tool_is_granted_after_a_persons_yes():
    save = Reply(calls=[("write_note", {"query": "q"})])
    heard = await ask("Hm." + wants("write a note"), save, "Saved.", tools=WRITING, approve=allow)
    assert heard.offered[:2] == [["search_code"], ["search_code", "write_note"]]
    assert heard.of_type("approval")[0]["tools"] == ["write_note"]
    assert heard.events("grant.given")[0]["by"] == "a person"
    assert heard.ran == ["write_note"]


async def test_a_writing_tool_is_refused_after_a_persons_no_and_the_person_is_not_asked_again():
    nag = "Hm." + wants("write a note")
    heard = await ask(nag, nag, "Not saved.", tools=WRITING, approve=forbid)
    assert heard.offered == [["search_code"], ["search_code"], []]
    assert len(heard.of_type("approval")) == 1
    assert heard.done["missing"] == [
        "write_note was not allowed (to know)",
        "any source, because nothing was looked at",
    ]


async def test_a_writing_tool_is_refused_where_nobody_can_be_asked():
    heard = await ask("Hm." + wants("write a note"), look(), "Not saved.", tools=WRITING)
    assert heard.offered == [["search_code"]] * 3
    assert heard.of_type("approval") == []
    assert "nobody could be asked" in heard.events("grant.refused")[0]["by"]
    assert heard.done["missing"] == ["write_note was not allowed (to know)"]


async def test_a_question_to_a_person_that_breaks_is_a_no():
    async def broken(_question):
        raise ConnectionError("the page is gone")

    replies = ["Hm." + wants("write a note"), look(), "Not saved."]
    heard = await ask(*replies, tools=WRITING, approve=broken)
    assert (heard.stop, heard.offered[1]) == ("answered", ["search_code"])


async def test_only_true_is_a_yes():
    async def says_no_in_words(_question):
        return "no"

    heard = await ask(
        "Hm." + wants("write a note"), "Not saved.", tools=WRITING, approve=says_no_in_words
    )
    assert heard.offered[1] == ["search_code"]


async def test_a_person_who_never_answers_does_not_keep_a_run_beyond_its_time():
    async def silent(_question):
        await asyncio.Event().wait()

    asked = "Hm." + wants("write a note")
    heard = await ask(asked, "Not saved.", tools=WRITING, approve=silent, limits=SOON)
    assert (heard.stop, heard.done["answer"]) == ("time_limit", "Not saved.")
    assert any("write_note was not allowed" in missing for missing in heard.done["missing"])
    (refused,) = heard.events("grant.refused")
    assert refused["by"] == "a person who did not answer in time"
    assert heard.events("grant.given") == []


async def test_a_capability_that_nothing_has_is_admitted():
    heard = await ask("Hm." + wants("run the tests", "to see"), "Untested.")
    assert heard.done["missing"] == ["run the tests (to see)"]
    assert heard.events("capability.missing") == [
        {"capability": "run the tests", "reason": "to see"}
    ]
    assert "There is no tool for this: run the tests" in heard.told(1)


async def test_who_keeps_asking_for_what_cannot_be_had_is_asked_for_the_answer():
    heard = await ask(*["Hm." + wants("run the tests", "to see")] * 2, "Untested.")
    assert (heard.offered[2], len(heard.model.requests)) == ([], 3)
    assert heard.done["missing"] == [
        "run the tests (to see)",
        "any source, because nothing was looked at",
    ]


async def test_a_tool_that_is_there_already_is_pointed_out():
    heard = await ask("Hm." + wants("search the code"), "Ok.")
    assert "You have it already: search_code" in heard.told(1)


async def test_a_person_is_not_asked_again_for_what_was_granted():
    nag = "Hm." + wants("write a note")
    heard = await ask(nag, nag, "Ok.", tools=WRITING, approve=allow)
    assert len(heard.of_type("approval")) == 1
    assert "You have it already: write_note" in heard.told(2)
    assert heard.offered[2] == ["search_code", "write_note"]


async def test_who_wishes_for_ever_new_things_is_asked_for_the_answer_from_what_was_found():
    wishes = ["Hm." + wants(each, "to see") for each in GADGETS]
    heard = await ask(look(), *wishes, "In auth.py:3." + signal("context_sufficient"))
    assert heard.offered[-1] == []
    assert len(heard.model.requests) == 5
    assert heard.done["missing"] == [f"{each} (to see)" for each in GADGETS]


async def test_calls_beside_a_wish_that_was_refused_go_on():
    wishes = [Reply(text=wants(each), calls=[("search_code", {"query": each})]) for each in GADGETS]
    heard = await ask(look(), *wishes, "In auth.py:3.")
    assert heard.ran == ["search_code"] * 4


async def test_a_wish_in_the_last_turn_is_not_the_answer():
    wishes = ["Hm." + wants(each) for each in (*GADGETS, "Slack")]
    heard = await ask(look(), *wishes, "In auth.py:3." + signal("partial_answer", missing="more"))
    assert heard.done["answer"] == "In auth.py:3."
    assert "Nothing more is granted." in heard.told(5)


async def test_a_model_that_only_wishes_comes_to_an_end():
    heard = await ask(look(), *["I need a shell." + wants(f"a shell {n}") for n in range(9)])
    assert (heard.stop, heard.done["answer"]) == ("stuck", "I need a shell.")
    assert len(heard.model.requests) == 7
