"""BERT in a run: it is asked where the heuristics are unsure, and a replay needs none of it."""

import threading
from dataclasses import replace

import pytest

from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.services.agent_services import AgentServices
from oracle.services.bert.bert import Bert
from oracle.services.bert.minilm import BertMissing
from oracle.services.journal import MemorySink
from oracle.testing import Reply, ScriptedModel, ScriptedTools, WordEncoder, signal
from tests.asking import ask, look

BLOCKED = "Permission denied. I have no access to it."
WEAK = signal("need_turn", 0.1, reason="to see")
ENOUGH = "It is so." + signal("context_sufficient", sources_found=1)
UNSURE = "padding?"
SCRIPT = (look(), Reply(text=BLOCKED + WEAK, calls=[("search_code", {"query": "x"})]), ENOUGH)


def ready(load=WordEncoder, **options):
    bert = Bert(load, **options)
    bert.model.start().exception(10)
    return bert


def missing():
    raise BertMissing("is not installed")


def broken():
    raise OSError("no weights")


async def test_what_the_model_says_last_decides_about_a_weak_signal():
    plain = await ask(*SCRIPT)
    heard = await ask(*SCRIPT, bert=ready())
    decided = [h.events("fallback.triggered")[0]["classification_action"] for h in (plain, heard)]
    assert decided == ["continue", "escalate"]
    assert heard.events("bert.unavailable") == []


async def test_a_run_with_clear_signals_never_loads_it():
    bert = Bert(WordEncoder, uses={"fallback"})
    await ask(look(), ENOUGH, bert=bert)
    assert bert.model._loading is None


async def test_a_class_that_is_sure_never_loads_it():
    bert = Bert(WordEncoder, uses={"classification"})
    await ask(look(), ENOUGH, query="How does the login function in auth.py work?", bert=bert)
    assert bert.model._loading is None


async def test_a_class_that_is_unsure_is_judged_by_both():
    encoder = WordEncoder()
    bert = ready(lambda: encoder, uses={"classification"})
    heard = await ask(look(), ENOUGH, query=UNSURE, bert=bert)
    assert encoder.asked[-1] == [UNSURE]
    assert heard.events("bert.unavailable") == []


@pytest.mark.parametrize(("load", "told"), [(missing, "not installed"), (broken, "no weights")])
async def test_without_it_the_heuristic_decides_and_an_event_says_so(load, told):
    heard = await ask(*SCRIPT, query=UNSURE, bert=ready(load))
    assert [event["use"] for event in heard.events("bert.unavailable")] == [
        "classification",
        "fallback",
    ]
    assert all(told in event["problem"] for event in heard.events("bert.unavailable"))
    plain = await ask(*SCRIPT, query=UNSURE)
    assert heard.events("fallback.triggered")[0]["classification_action"] == "continue"
    assert heard.done["answer"] == plain.done["answer"]


async def test_an_encoder_that_hangs_costs_a_fifth_of_a_second_once():
    door, words = threading.Event(), WordEncoder()

    def encode(texts):
        if texts == [UNSURE]:
            door.wait()
        return words(texts)

    heard = await ask(*SCRIPT, query=UNSURE, bert=ready(lambda: encode))
    door.set()
    problems = [event["problem"] for event in heard.events("bert.unavailable")]
    assert problems == [
        "BERT did not answer within 200 ms",
        "BERT is still busy with an earlier text",
    ]


@pytest.mark.parametrize("load", [WordEncoder, missing])
async def test_a_replay_comes_to_the_same_decisions_without_it(load):
    sink, events, events_again = MemorySink(), [], []
    live = AgentServices(
        model=ScriptedModel(*SCRIPT),
        tools=ScriptedTools({"search_code": "auth.py:3 def login()"}),
        bert=ready(load),
    )
    recipe = AgentSetup(live=live).recipe(UNSURE)
    run = RecordedTree(recipe, sink, services=lambda recipe: services_from(recipe, live))
    run.bus.subscribe(events.append)
    outcome = await run.settle()
    again = RecordedTree.replay(sink.records, sink.contents, services=services_from)
    again.bus.subscribe(events_again.append)
    assert again.summary(await again.settle()) == run.summary(outcome) == sink.records[-1].body
    assert [replace(e, at=0.0) for e in events_again] == [replace(e, at=0.0) for e in events]
