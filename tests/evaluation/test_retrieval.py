"""The labelled questions are sound, and the index finds their answers better than the baselines."""

import pytest

from oracle.evaluation.baselines import over_files, over_windows, over_windows_with_roles
from oracle.evaluation.retrieval import LabelledQuestion, evaluate, labelled_questions, root_of
from oracle.services.search.roles import kind_of

# The questions take a while: the indexes of several projects are built for them.
pytestmark = pytest.mark.extra

LARGE = {"pydantic_ai", "pygments"}


@pytest.fixture(scope="module")
def report():
    return evaluate(each for each in labelled_questions("test") if each.writer == "J")


@pytest.fixture(scope="module")
def by_another_hand():
    """Without the two large sources, which take more time than all others together."""
    asked = [each for each in labelled_questions("test") if each.writer == "K"]
    return evaluate(each for each in asked if each.source not in LARGE)


def test_there_are_enough_questions_and_no_one_is_asked_twice():
    asked = [each.question for part in ("tuning", "test") for each in labelled_questions(part)]
    assert len(asked) == len(set(asked)) >= 420


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
        assert each.files
        assert each.kind == "code" or {kind_of(file) for file in each.files} == {each.kind}


@pytest.mark.parametrize(
    ("group", "least"),
    [
        ("code, writer J", 111),
        ("code, writer K", 125),
        ("vault, writer K", 50),
        ("threads, writer K", 20),
    ],
)
def test_the_test_part_has_questions_of_every_kind_and_of_two_writers(group, least):
    asked = [each for each in labelled_questions("test") if each.group == group]
    assert len(asked) >= least


def test_the_index_beats_both_baselines_by_a_tenth(report):
    ours = report.total["index"]
    for way in ("windows", "files"):
        theirs = report.total[way]
        assert ours.mrr > theirs.mrr + 0.1
        assert ours.recall_at[10] > 1.1 * theirs.recall_at[10]


def test_most_answers_are_found(report):
    assert report.total["index"].recall_at[10] >= 0.75
    # This repository is among the sources, and grows.
    assert report.total["index"].mrr >= 0.57


@pytest.mark.extra
@pytest.mark.parametrize(
    ("group", "recall", "mrr"),
    [
        ("code, writer K", 0.7, 0.5),
        ("vault, writer K", 0.75, 0.55),
        ("threads, writer K", 0.65, 0.6),
    ],
)
def test_most_answers_to_another_writer_are_found_too(by_another_hand, group, recall, mrr):
    ours = by_another_hand.groups[group]["index"]
    assert ours.recall_at[10] >= recall
    assert ours.mrr >= mrr


@pytest.mark.parametrize(("kind", "found"), [("threads", 1.0), ("vault", 0.0)])
def test_notes_and_threads_are_looked_for_among_their_kind_alone(kind, found):
    asked = LabelledQuestion(
        source="notebook",
        question="PostgreSQL 18 upgrade date",
        files=frozenset({"threads/storage.md"}),
        writer="K",
        kind=kind,
    )
    measured = evaluate([asked]).sources[f"notebook, {kind}"]
    assert [measures.recall_at[10] for measures in measured.values()] == [found] * 4


def test_a_source_that_is_not_installed_is_named_and_not_counted():
    asked = LabelledQuestion(
        source="no_such_package", question="where", files=frozenset({"a.py"}), writer="K"
    )
    report = evaluate([asked])
    assert report.missing == ("no_such_package",)
    assert report.total["index"].count == 0


def test_a_baseline_ranks_by_rarity_and_by_path():
    texts = {"a.py": "tide and water", "b.py": "water water", "moon/c.py": "nothing"}
    assert over_files(texts).search("the tide in the water", 10) == ["a.py", "b.py"]
    assert over_windows(texts).search("moon", 10) == ["moon/c.py"]


@pytest.mark.parametrize(
    ("with_roles", "order"),
    [(True, ["src/a.py", "tests/a.py"]), (False, ["tests/a.py", "src/a.py"])],
)
def test_the_strongest_baseline_ranks_tests_lower_in_code(with_roles, order):
    texts = {"src/a.py": "tide and other water", "tests/a.py": "tide tide"}
    assert over_windows_with_roles(texts, with_roles=with_roles).search("tide", 10) == order
