"""The table in docs/evaluation.md is not typed by hand, and not stale. `make eval` makes it anew.

A sample of the runs behind it is run again here. `make test-extra` runs the rows of the competent
model and of the held-out questions again, `make eval` all of them.
"""

from pathlib import Path

import pytest

from oracle.evaluation.criteria import CRITERIA, ON_CAPABLE, ON_MISBEHAVING
from oracle.evaluation.criteria_table import criterion_rows
from oracle.evaluation.modelless import figures_of_types
from oracle.evaluation.plan import ask_parts
from oracle.evaluation.stored_figures import (
    BEGIN,
    StoredFigures,
    _digest,
    digests,
    plain_lua,
    plain_python,
    sample_parts,
    sampled,
)
from oracle.testing import small_model

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evaluation.md"
STORED = StoredFigures.read(PAGE.with_suffix(".json"))
TOLERATED = 0.02
"""The models quote lines by shared words, so an answer can lose a line that it had by chance."""


def test_the_page_shows_what_is_stored():
    page = PAGE.read_text("utf-8")
    assert STORED.written_into(page) == page


def test_what_a_linter_leaves_in_the_project_changes_no_digest(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    before = _digest(tmp_path, "**/*.*", str)
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "a.tag").write_text("y")
    assert _digest(tmp_path, "**/*.*", str) == before
    (tmp_path / "b.py").write_text("y")
    assert _digest(tmp_path, "**/*.*", str) != before


def test_what_the_figures_depend_on_is_as_it_was():
    changed = [what for what, now in digests().items() if now != STORED.depends_on[what]]
    assert not changed, "these changed; run `make eval`"


async def test_a_sample_of_the_runs_gives_the_stored_results():
    found = [sampled(outcome) async for outcome in ask_parts([*sample_parts()])]
    assert in_order(found) == in_order(STORED.sample), "run `make eval`"


def in_order(rows):
    return sorted(rows, key=lambda row: (row["model"], row["question"], row["loop"]))


def test_types_of_questions_are_recognised_as_stored():
    stored = [figure for figure in STORED.figures if figure.measure == "type"]
    assert [*figures_of_types()] == stored, "run `make eval`"


def test_all_criteria_are_measured_and_the_small_model_has_its_rows():
    rows = [*criterion_rows(STORED.figures)]
    assert {row.criterion for row in rows} - {""} == CRITERIA.keys()
    assert all(row.on for row in rows)
    for measure in ("signals", "needless", "ends", "complete", "latency"):
        on = {figure.on for figure in STORED.figures if figure.measure == measure}
        assert {small_model.NAME, ON_CAPABLE} <= on


def test_comments_and_white_space_make_nothing_stale():
    assert plain_lua("a = 1 -- one\n\n  b = 2") == plain_lua("a = 1 b = 2")
    assert plain_python('"""Says."""\nx = 1  # one\n') == plain_python('"""Other."""\nx=1\n')
    assert plain_python("x = 1") != plain_python("x = 2")


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="lacks the marks"):
        STORED.written_into(f"# Page\n{BEGIN}")


def test_the_whole_family_is_better_off_with_the_tree():
    means = {each.measure: each.value.mean for each in STORED.figures if each.on == ON_MISBEHAVING}
    assert means["needless"] >= 0.7
    assert means["ends"] == means["unlimited"] == 1
    assert means["complete"] >= -TOLERATED
    assert means["wrongly"] < 0


@pytest.mark.extra
def test_simulated_models_give_the_stored_figures(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import make_evaluation

    parts = [*make_evaluation.competent_parts(), *make_evaluation.misbehaving_parts(held_out=True)]
    outcomes = make_evaluation.outcomes_of(parts)
    found = {
        (figure.measure, figure.on): figure
        for figure in make_evaluation.figures_of(outcomes, make_evaluation.COMMANDS)
    }
    stored = {(figure.measure, figure.on): figure for figure in STORED.figures}
    assert found
    assert found == {key: stored.get(key) for key in found}
