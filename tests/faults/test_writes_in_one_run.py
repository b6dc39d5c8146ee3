"""Inside one run: no write is repeated, dropped in silence, or claimed without having happened."""

import itertools

import pytest

from oracle import Oracle, tool
from oracle.services.control.ledger import Limits
from oracle.testing import Reply, ScriptedModel, signal
from tests.asking import ask, enough, look

ORDER = "Write a note about the cache: it is fast"
TWO = "Write two notes about the cache: t and t2"
CALL = ("write_note", {"title": "t", "content": "c"})
OTHER = ("write_note", {"title": "t2", "content": "c"})
PUSH = ("push_thread", {"thread": "ops", "entry": "we restart on Sundays"})
READ = ("search_vault", {"query": "cache"})
WROTE = enough("I wrote the note.")
NEXT = signal("need_turn", reason="go on")
FAILS = {"success": False, "content": "the disk is full", "sources": []}


def vault(**tools):
    given = {"search_vault": "docs/a.md:1 x", "write_note": "notes/t.md:1 c"}
    return {**given, "search_code": "auth.py:3 x", **tools}


def notices(heard):
    return [s["content"] for s in heard.of_type("system") if s["severity"] == "notice"]


async def order(*replies, query=ORDER, tools=None, **options):
    model = ScriptedModel(*replies, repeats_last=True)
    return await ask(model=model, query=query, tools=tools or vault(), **options)


# -- once ------------------------------------------------------------------------------------------

BESIDE = {
    "need_turn": lambda n: signal("need_turn", reason=f"reason {n}"),
    "nothing": lambda n: "",
    "text": lambda n: "Logged.",
    "a claim": lambda n: enough("Logged."),
    "a partial answer": lambda n: "Logged." + signal("partial_answer", missing="more"),
    "stuck": lambda n: "Hm." + signal("stuck", attempted=["x"], blocker=f"b{n}"),
    "a spoilt signal": lambda n: "Logged.<signal type='x'></signal>",
}


@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
async def test_the_same_write_is_done_once_whatever_its_result_would_be(beside):
    numbers = itertools.count(1)

    def repeats(request):
        return Reply(text=beside(next(numbers)), calls=[PUSH]) if request.tools else WROTE

    ticks = itertools.count()
    tools = vault(push_thread=lambda _: f"thread:ops@{next(ticks)} we restart on Sundays")
    query = "Log in thread ops that we restart on Sundays"
    heard = await order(repeats, query=query, tools=tools)
    assert heard.ran.count("push_thread") == 1
    assert len(heard.model.requests) <= 10
    assert "nothing was written" not in str(heard.done["missing"])


async def test_the_model_and_the_user_learn_that_it_was_done_before():
    again = Reply(text=NEXT, calls=[CALL])
    heard = await order(again, again, again, WROTE)
    assert heard.results() == ["notes/t.md:1 c", *["Not run: it was done before, in turn 1."] * 2]
    told = 'not run: write_note(title="t", content="c"): it was done before, in turn 1'
    assert notices(heard) == ["wrote notes/t.md:1", told]
    assert "You are repeating yourself: the call of write_note" in heard.told()
    assert (heard.stop, heard.done["missing"]) == ("answered", [])


async def test_two_equal_writes_in_one_response_are_one():
    heard = await order(Reply(text=NEXT, calls=[CALL, CALL]), WROTE)
    assert heard.ran == ["write_note"]
    assert heard.stop == "answered"


async def test_a_write_that_failed_may_be_tried_again():
    heard = await order(
        *[Reply(text=NEXT, calls=[CALL])] * 2, WROTE, tools=vault(write_note=[FAILS, "notes/t.md"])
    )
    assert (heard.ran, heard.stop) == (["write_note", "write_note"], "answered")
    assert heard.done["missing"] == []


def test_an_own_tool_that_writes_runs_once(tmp_path):
    ran = []

    def restart_service(service: str) -> str:
        """Restart a service of the shop."""
        ran.append(service)
        return f"{service} was restarted, {len(ran)}"

    (tmp_path / "oracle.toml").touch()
    call = Reply(text=NEXT, calls=[("restart_service", {"service": "web"})])
    model = ScriptedModel(call, call, call, enough("It was restarted."))
    own = tool(restart_service, writes=True)
    agent = Oracle(project=tmp_path, model=model, tools=[own], approve=lambda _: True)
    answer = agent.ask_sync("Restart the web service")
    assert (ran, answer.stop_reason) == (["web"], "answered")


# -- never dropped in silence ----------------------------------------------------------------------

REFUSED = {
    "half-written": [READ, ("write_note", '{"title": "t", "conte')],
    "nested too deep": [
        READ,
        ("write_note", {"title": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}),
    ],
    "unknown": [READ, ("delete_note", {"title": "t"})],
    "too many": [*[("search_vault", {"query": str(n)}) for n in range(30)], CALL],
}


@pytest.mark.parametrize("calls", REFUSED.values(), ids=REFUSED)
async def test_a_write_that_is_not_run_is_said_and_missing(calls):
    heard = await order(Reply(text=NEXT, calls=calls), WROTE)
    name = calls[-1][0]
    assert (heard.stop, heard.ran.count("write_note")) == ("partial_answer", 0)
    assert heard.done["missing"] == [f"nothing was written: {name} was not run"]
    assert [line for line in notices(heard) if line.startswith(f"not run: {name}(")]


async def test_a_write_that_was_not_granted_is_said_and_missing():
    heard = await ask(Reply(text=NEXT, calls=[look().calls[0], CALL]), WROTE, tools=vault())
    assert (heard.stop, heard.ran) == ("partial_answer", ["search_code"])
    assert heard.done["missing"] == ["nothing was written: write_note was not run"]


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_write_of_a_tool_that_is_used_up_is_missing(at_once):
    turns = [[READ, CALL, OTHER]] if at_once else [[READ, CALL], [OTHER]]
    replies = [Reply(text=NEXT, calls=calls) for calls in turns]
    heard = await order(*replies, WROTE, query=TWO, limits=Limits(uses_of_a_tool=1))
    assert (heard.stop, heard.ran) == ("partial_answer", ["search_vault", "write_note"])
    assert heard.done["missing"] == ["not everything was written: write_note was not run"]


@pytest.mark.parametrize(
    "broken", [REFUSED["half-written"], [READ, ("create_note", {"title": "t"})]]
)
async def test_a_write_that_is_made_good_later_is_not_missing(broken):
    heard = await order(Reply(text=NEXT, calls=broken), Reply(text=NEXT, calls=[CALL]), WROTE)
    assert (heard.stop, heard.done["missing"]) == ("answered", [])


async def test_one_write_does_not_make_two_good():
    lost = [("write_note", '{"title": "t"'), ("write_note", '{"title": "t2"')]
    heard = await order(
        Reply(text=NEXT, calls=lost), Reply(text=NEXT, calls=[CALL]), WROTE, query=TWO
    )
    assert heard.done["missing"] == ["not everything was written: write_note was not run"]


async def test_a_reading_call_that_is_not_run_needs_no_mention():
    heard = await ask(Reply(text=NEXT, calls=[look().calls[0], ("grep", {"x": 1})]), enough())
    assert (heard.stop, heard.done["missing"]) == ("answered", [])


# -- an order to write -----------------------------------------------------------------------------


async def test_an_order_is_not_answered_by_words_alone():
    heard = await order(Reply(text=NEXT, calls=[READ]), WROTE)
    assert heard.told().count("nothing was written in this run. Do it now (write_note)") == 1
    assert [len(offer) for offer in heard.offered] == [2, 2, 2]
    assert (heard.stop, heard.done["missing"]) == ("partial_answer", ["nothing was written"])


@pytest.mark.parametrize("claim", [WROTE, "I wrote the note."])
async def test_who_writes_after_being_sent_back_is_answered(claim):
    heard = await order(claim, Reply(text=NEXT, calls=[CALL]), WROTE)
    assert (heard.stop, heard.done["missing"]) == ("answered", [])


async def test_a_write_that_failed_is_not_hidden_by_a_search_that_found_something():
    heard = await order(
        Reply(text=NEXT, calls=[READ, CALL]), WROTE, tools=vault(write_note=lambda _: FAILS)
    )
    assert (heard.stop, len(heard.model.requests)) == ("partial_answer", 2)
    assert heard.done["missing"] == ["nothing was written: write_note failed"]


async def test_a_planned_write_of_a_dry_run_counts():
    planned = {"success": True, "content": "would write notes/t.md", "sources": [], "plan": True}
    heard = await order(
        Reply(text=NEXT, calls=[CALL]), WROTE, tools=vault(write_note=lambda _: planned)
    )
    assert heard.stop == "answered"


async def test_a_write_of_which_nobody_knows_is_neither_done_nor_tried_again():
    late = {"success": False, "content": "not known", "sources": [], "is_unknown": True}
    heard = await order(
        Reply(text=NEXT, calls=[READ, CALL]), WROTE, tools=vault(write_note=lambda _: late)
    )
    assert (heard.stop, heard.ran.count("write_note")) == ("partial_answer", 1)
    assert heard.done["missing"] == ["it is not known whether write_note was done"]


def test_a_write_that_a_person_has_refused_is_not_asked_for_again(tmp_path):
    def send_report(to: str) -> str:
        """Mail a report."""
        raise AssertionError("a person said no")

    (tmp_path / "oracle.toml").touch()
    (tmp_path / "cache.md").write_text("The cache is fast.")
    call = Reply(text=NEXT, calls=[READ, ("send_report", {"to": "all"})])
    model = ScriptedModel(call, enough("You did not allow it."))
    own = tool(send_report, writes=True)
    asked = Oracle(project=tmp_path, model=model, tools=[own], approve=lambda _: False)
    answer = asked.ask_sync(ORDER)
    assert (answer.stop_reason, len(model.requests)) == ("partial_answer", 2)
    assert 'send_report(to="all") was not allowed (a person said no)' in answer.missing


async def test_who_asks_back_is_not_sent_back():
    which = "Which cache?" + signal("partial_answer", missing="which cache is meant")
    heard = await order(Reply(text=NEXT, calls=[READ]), which)
    assert (heard.stop, len(heard.model.requests)) == ("partial_answer", 2)
    assert heard.done["missing"] == ["which cache is meant", "nothing was written"]


# -- what is missing -------------------------------------------------------------------------------


async def test_a_run_without_evidence_that_ends_unfinished_names_it():
    numbers = itertools.count()
    model = ScriptedModel(
        lambda _: "I will look into it." + signal("need_turn", reason=f"reason {next(numbers)}"),
        repeats_last=True,
    )
    heard = await ask(model=model)
    assert (heard.stop, heard.done["missing"]) == (
        "stuck",
        ["any source, because nothing was looked at"],
    )
    assert "I will look" not in heard.done["answer"]
    assert "Nothing was found before that." in heard.done["answer"]


async def test_a_run_that_ends_at_a_limit_names_what_the_model_still_wanted():
    numbers = itertools.count()
    tools = {"search_code": lambda _: f"f{next(numbers)}.py:1 x"}
    model = ScriptedModel(lambda _: look(next(numbers), "the tests"), repeats_last=True)
    heard = await ask(model=model, tools=tools, limits=Limits(turns=3))
    assert heard.stop == "turn_limit"
    assert heard.done["missing"] == ["another turn (the tests)"]


async def test_an_unfinished_run_lacks_at_least_the_rest():
    heard = await ask(look(), "It is in auth.py.", limits=Limits(turns=2))
    assert (heard.stop, heard.done["missing"]) == ("turn_limit", ["the rest of the answer"])
