"""The labelled sets are sound, the weights are fresh, and the measures hold on the test part."""

import re
from collections import Counter
from pathlib import Path

import pytest

from oracle.evaluation.classification import evaluate, fingerprint
from oracle.evaluation.labelled import (
    DEVELOPMENT,
    Labelled,
    broad_and_narrow,
    conversations,
    read_set,
    singles,
)
from oracle.evaluation.patterns import filled, filled_conversations
from oracle.models.query_classification import QueryType
from oracle.services.classification import linear_model as served

ROOT = Path(__file__).parents[2]
WEIGHTS = Path(served.__file__).with_name("weights.txt")


@pytest.fixture(scope="module")
def on_singles():
    return evaluate(singles("test"))


@pytest.fixture(scope="module")
def on_conversations():
    return evaluate(conversations("test"))


def test_single_questions_are_classified_well(on_singles):
    assert on_singles.accuracy >= 0.91
    assert on_singles.macro_f1 >= 0.91
    assert all(measure.recall >= 0.85 for measure in on_singles.classes)


def test_last_turns_are_classified_well(on_conversations):
    assert on_conversations.accuracy >= 0.82


def test_broad_and_narrow_questions_are_separated():
    report = evaluate(broad_and_narrow("test"))
    assert report.broad_precision >= 0.93
    assert report.broad_recall >= 0.6
    assert report.accuracy >= 0.87


@pytest.mark.parametrize(("measured", "at_least"), [("on_singles", 200), ("on_conversations", 60)])
def test_of_the_answers_given_with_nine_tenths_nine_in_ten_are_right(measured, at_least, request):
    report = request.getfixturevalue(measured)
    sure = [row for row in report.calibration if row.low >= 0.9]
    count = sum(row.count for row in sure)
    confidence = sum(row.count * row.confidence for row in sure) / count
    accuracy = sum(row.count * row.accuracy for row in sure) / count
    assert count > at_least
    assert accuracy >= max(0.9, confidence - 0.03)


def test_titles_messages_errands_and_general_questions_are_recognised():
    report = evaluate(read_set(DEVELOPMENT))
    assert report.accuracy >= 0.92
    assert all(measure.recall >= 0.85 for measure in report.classes)
    assert report.broad_recall >= 0.85
    assert report.broad_precision >= 0.9


def test_the_weights_belong_to_the_tuning_part_and_the_features_of_today():
    recipe = (ROOT / "scripts" / "train_classifier.py").read_bytes()
    assert served.linear_model().fingerprint == fingerprint(recipe), "run `make classifier`"


def test_the_weights_stay_below_a_megabyte():
    assert WEIGHTS.stat().st_size < 1_000_000


def every(part):
    return [*singles(part), *conversations(part), *broad_and_narrow(part)]


def folded(query):
    return re.findall(r"\w+", query.lower())


def test_no_query_of_another_part_is_in_the_tuning_part_if_it_has_more_than_three_words():
    tuned = {tuple(folded(row.query)) for row in every("tuning")}
    for row in (*every("test"), *read_set(DEVELOPMENT)):
        assert len(folded(row.query)) <= 3 or tuple(folded(row.query)) not in tuned, row.query


@pytest.mark.parametrize("part", ["tuning", "test"])
def test_the_five_types_are_about_equally_frequent(part):
    counts = Counter(row.query_type for row in (*singles(part), *conversations(part)))
    assert set(counts) == set(QueryType)
    assert max(counts.values()) < 1.1 * min(counts.values())


def test_patterns_are_filled_without_leftovers_and_the_same_each_time():
    rows = [*filled(each=200, seed=1), *filled_conversations(count=300, seed=1)]
    assert rows == [*filled(each=200, seed=1), *filled_conversations(count=300, seed=1)]
    for row in rows:
        assert not set("{}|") & set(row.query), row.query


def test_the_measures_of_a_small_set_can_be_checked_by_hand():
    rows = [
        Labelled(query="thanks!", query_type=QueryType.CONVERSATIONAL),
        Labelled(query="hello", query_type=QueryType.CONVERSATIONAL),
        Labelled(query="thank you so much", query_type=QueryType.ACTION),
    ]
    report = evaluate(rows)
    assert report.accuracy == pytest.approx(2 / 3)
    assert report.confusion == {
        (QueryType.CONVERSATIONAL, QueryType.CONVERSATIONAL): 2,
        (QueryType.ACTION, QueryType.CONVERSATIONAL): 1,
    }
    (conversational,) = [
        row for row in report.classes if row.query_type == QueryType.CONVERSATIONAL
    ]
    assert (conversational.precision, conversational.recall) == (pytest.approx(2 / 3), 1)
    assert [mistake.row.query for mistake in report.mistakes] == ["thank you so much"]
