"""BERT in both modes: with an encoder that answers, and without one."""

import pytest

from oracle.evaluation.labelled import tuning_fingerprint
from oracle.services.bert import bert as module
from oracle.services.bert.bert import Bert, chosen_bert
from oracle.services.bert.fallback import combined_classify
from oracle.services.bert.minilm import BertMissing
from oracle.services.bert.prototypes import STATES, STRATEGIES, last_sentences, sentences
from oracle.services.bert.query_types import TYPES, layers, texts_of
from oracle.services.classification.classifier import classify_query
from oracle.services.fallback_classifier import FallbackAction, heuristic_classify
from oracle.testing import WordEncoder
from tests.tables import each_row


def ready(encoder=None, **options):
    found = Bert(lambda: encoder or WordEncoder(), **options)
    found.model.start().result(10)
    return found


async def test_it_names_the_state_whose_sentences_are_nearest():
    found = await ready().situation(["Permission denied. I have no access to it."])
    assert max(found["states"], key=found["states"].get) == "blocked"
    assert [*found["states"]] == [*STATES]
    assert [*found["strategies"]] == [*STRATEGIES]


async def test_it_gives_each_type_a_probability():
    for turns in ((), [{"role": "user", "content": "and?"}]):
        found = await ready().query_types(texts_of("where is the retry logic?", turns))
        assert [*found["types"]] == [*TYPES]
        assert sum(found["types"].values()) == pytest.approx(1, abs=0.01)


async def test_without_an_encoder_the_answer_is_the_problem():
    def load():
        raise BertMissing("is not installed")

    bert = Bert(load)
    bert.model.start().exception(5)
    assert await bert.situation(["Well."]) == {"problem": "BERT is not installed"}
    assert await bert.query_types(["Well?"]) == {"problem": "BERT is not installed"}


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize(
    ("classification", "fallback", "uses"),
    [
        ("off", "off", set()),
        ("off", "on", {"fallback"}),
        ("on", "off", {"classification"}),
        ("off", "auto", {"if installed"}),
    ],
)
def test_the_settings_decide_what_it_is_asked_for(
    monkeypatch, installed, classification, fallback, uses
):
    monkeypatch.setattr(module, "is_installed", lambda: installed)
    if "if installed" in uses:
        uses = {"fallback"} if installed else set()
    found = chosen_bert({"classification": classification, "fallback": fallback})
    assert (set() if found is None else found.uses) == uses


def test_every_meaning_has_sentences():
    assert set(sentences()) == {*STATES, *STRATEGIES}
    assert all(len(texts) >= 4 for texts in sentences().values())


def test_the_last_four_sentences_count():
    said = "First. It is in app.py:3 as is.\n\nThird!\nFourth? " + "x" * 400
    assert last_sentences(said) == ["It is in app.py:3 as is.", "Third!", "Fourth?", "x" * 300]
    assert last_sentences(" \n ") == []


def test_the_layers_match_the_tuning_part():
    assert layers()["fingerprint"] == tuning_fingerprint(), "run scripts/train_bert_layers.py"
    for kind, size in (("alone", 384), ("talk", 768)):
        assert [len(row) for row in layers()[kind]["weights"]] == [size] * len(TYPES)


def test_an_opinion_moves_a_class_that_is_unsure_and_not_one_that_is_sure():
    opinion = dict.fromkeys(TYPES, 0.0025) | {"documentation": 0.99}
    for query, moved in (("the limits?", True), ("where is parse_header() defined?", False)):
        given = classify_query(query, opinion=opinion).query_type
        assert (given == "documentation") is moved


def reading(state, share=0.85, strategy="rephrase"):
    others = (1 - share) / 3
    return {
        "states": dict.fromkeys(STATES, others) | {state: share},
        "strategies": dict.fromkeys(STRATEGIES, 0.1) | {strategy: 0.7},
    }


OK = {"name": "read_file", "success": True, "empty": False}
BAD = {"name": "read_file", "success": False, "empty": True}


@each_row(
    ("state", "results", "action"),
    [
        ("progressing", [OK], FallbackAction.CONTINUE),
        ("done", [OK], FallbackAction.FORCE_RESPONSE),
        ("confused", [OK], FallbackAction.RETRY_WITH_HINT),
        ("blocked", [OK], FallbackAction.ESCALATE),
        ("blocked", [], FallbackAction.ESCALATE),
    ],
)
def test_what_it_is_sure_of_decides(state, results, action):
    heuristic = heuristic_classify("q " * 30, "Well.", 3, results)
    assert combined_classify(heuristic, reading(state), results).action is action


def test_where_it_is_unsure_the_heuristic_decides():
    results = [BAD] * 4
    heuristic = heuristic_classify("q", "Well.", 3, results)
    found = combined_classify(heuristic, reading("done", 0.3), results)
    assert found.action is heuristic.action is FallbackAction.ESCALATE


def test_a_confused_model_gets_the_hint_of_the_nearest_strategy():
    heuristic = heuristic_classify("q", "Well.", 3, [OK])
    found = combined_classify(heuristic, reading("confused", strategy="another_source"), [OK])
    assert "another kind of source" in found.hint
    assert "confused" in found.reason
