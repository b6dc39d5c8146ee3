"""The labelled questions are sound, and the index finds their answers better than the baselines."""

import pytest

from oracle.evaluation.baselines import over_files, over_windows
from oracle.evaluation.retrieval import evaluate, labelled_questions, root_of


@pytest.fixture(scope="module")
def report():
    return evaluate(labelled_questions("test"))


def test_there_are_enough_questions_and_no_one_is_asked_twice():
    asked = [each.question for part in ("tuning", "test") for each in labelled_questions(part)]
    assert len(asked) == len(set(asked)) >= 150


def test_both_parts_ask_about_several_sources_and_share_only_our_own():
    tuned = {each.source for each in labelled_questions("tuning")}
    tested = {each.source for each in labelled_questions("test")}
    assert tuned & tested == {"oracle"}
    assert min(len(tuned), len(tested)) >= 5


@pytest.mark.parametrize("part", ["tuning", "test"])
def test_every_label_names_a_file_that_is_there(part):
    for each in labelled_questions(part):
        root = root_of(each.source)
        assert root is None or all((root / file).is_file() for file in each.files), each


def test_the_index_beats_both_baselines_by_a_tenth(report):
    ours = report.total["index"]
    for way in ("windows", "files"):
        theirs = report.total[way]
        assert ours.mrr > theirs.mrr + 0.1
        assert ours.recall_at[10] > 1.1 * theirs.recall_at[10]


def test_most_answers_are_found(report):
    assert report.total["index"].recall_at[10] >= 0.75
    assert report.total["index"].mrr >= 0.6


def test_a_baseline_ranks_by_rarity_and_by_path():
    texts = {"a.py": "tide and water", "b.py": "water water", "moon/c.py": "nothing"}
    assert over_files(texts).search("the tide in the water", 10) == ["a.py", "b.py"]
    assert over_windows(texts).search("moon", 10) == ["moon/c.py"]
