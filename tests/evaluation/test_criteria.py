"""The success criteria: figures of pairs, whether a goal is met, and a table without gaps."""

import pytest

from oracle.evaluation.agent_runs import Outcome
from oracle.evaluation.criteria import (
    CRITERIA,
    MEASURES,
    ON_CAPABLE,
    Figure,
    figures_of,
    group_of,
    not_measured,
)
from oracle.evaluation.criteria_table import NOT_MEASURED, criterion_rows, markdown
from oracle.evaluation.intervals import Interval
from oracle.evaluation.modelless import figures_of_types
from oracle.evaluation.own_time import figure_of_parsing
from oracle.services.comparison.facts import LoopFacts
from tests.tables import each_row


def pair(model="m", question="q", *, tree=(), baseline=(), **given):
    for loop, facts in (("tree", dict(tree)), ("baseline", dict(baseline))):
        known = {"stop_reason": "answered", "answer": "x", **facts}
        yield Outcome(
            question=question,
            loop=loop,
            model=model,
            repeat=0,
            facts=LoopFacts(**known),
            **{"complete": 1.0, "is_right": True, "responses": 2, "apt_signals": 1, **given},
        )


def by_measure(outcomes):
    return {figure.measure: figure for figure in figures_of([*outcomes])}


def test_needless_calls_are_compared_over_all_questions():
    found = by_measure(
        [
            *pair(question="a", tree={"needless_calls": 1}, baseline={"needless_calls": 2}),
            *pair(question="b", tree={"needless_calls": 0}, baseline={"needless_calls": 2}),
        ]
    )
    assert found["needless"].value.mean == 0.75
    assert found["needless"].count == 2


def test_where_there_is_nothing_to_save_the_figure_says_so():
    found = by_measure(pair())
    assert (found["needless"].value, found["needless"].why) == (None, "the plain loop made none")
    assert by_measure(pair(responses=0))["signals"].why == "no response was whole"


def test_a_run_at_a_limit_ends_with_an_answer_but_not_before_the_limit():
    found = by_measure(pair(tree={"stop_reason": "turn_limit"}))
    assert (found["ends"].value.mean, found["unlimited"].value.mean) == (1.0, 0.0)
    assert by_measure(pair(kept_limits=False))["ends"].value.mean == 0.0


def test_one_question_alone_proves_little():
    assert by_measure(pair())["ends"].value.low < 0.3


def test_simulated_models_are_measured_together_and_their_seconds_mean_nothing():
    assert group_of("simulated:competent/mild") == "simulated: competent"
    assert group_of("simulated:gatherer/mild") == "simulated: misbehaving"
    assert group_of("openai:gpt") == "openai:gpt"
    assert "latency" not in by_measure(pair("simulated:gatherer/mild"))
    assert "latency" in by_measure(pair("openai:gpt"))


@each_row(
    ("measure", "value", "met"),
    [
        ("type", (0.95, 0.92, 0.97), "yes"),
        ("type", (0.95, 0.85, 0.97), "likely"),
        ("type", (0.89, 0.80, 0.97), "no"),
        ("prompts", (1.0, 0.9, 1.0), "yes"),
        ("prompts", (0.99, 0.9, 1.0), "no"),
        ("parsing", (10.0, 9.0, 60.0), "likely"),
        ("wrongly", (-0.1, -0.2, -0.05), "yes"),
        ("wrongly", (0.0, 0.0, 0.0), "likely"),
        ("wrongly_tree", (0.0, 0.0, 0.02), "likely"),
        ("wrongly_tree", (0.1, 0.05, 0.2), "no"),
        ("wrongly_plain", (0.4, 0.3, 0.5), ""),
    ],
)
def test_a_goal_is_met_by_the_whole_range_or_only_likely(measure, value, met):
    mean, low, high = value
    interval = Interval(mean=mean, low=low, high=high)
    assert Figure(measure=measure, on="x", command="", value=interval).is_met == met


def test_misbehaving_models_have_a_higher_goal():
    value = Interval(mean=0.6, low=0.6, high=0.6)
    figure = Figure(measure="needless", on="simulated: misbehaving", command="", value=value)
    assert figure.is_met == "no"
    assert Figure(measure="needless", on="m", command="", value=value).is_met == "yes"


@pytest.mark.parametrize("small", ["simulated:competent/marked", "openai:smollm2", "embedded"])
def test_what_needs_a_capable_model_says_not_measured_without_one(small):
    missing = [*not_measured([*figures_of([*pair(small)])])]
    assert {figure.on for figure in missing} == {ON_CAPABLE}
    assert {figure.measure for figure in missing} >= {"signals", "needless", "complete"}
    rows = [row for row in criterion_rows(missing) if row.on]
    assert {row.figure for row in rows} == {NOT_MEASURED}
    assert not [*not_measured([*figures_of([*pair("anthropic:x")])])]


def test_every_criterion_has_a_row_and_every_measure_a_criterion():
    rows = [*criterion_rows([])]
    assert [row.criterion for row in rows] == [*CRITERIA]
    assert {measure.criterion for measure in MEASURES.values()} == CRITERIA.keys()


def test_the_share_wrongly_called_whole_is_shown_for_both_loops():
    rows = [row for row in criterion_rows([*figures_of([*pair()])]) if "wrongly" in row.measured]
    assert [row.goal for row in rows] == ["≤ 0.00", "≤ 0 %", ""]


def test_the_table_names_a_criterion_once():
    text = markdown([*figures_of([*pair("simulated:competent/marked")])])
    assert text.count("**SC-004**") == 1
    assert "| 100.0 % (20.7 % to 100.0 %) | ≥ 99 % | likely | simulated: competent | 1 |" in text


def test_figures_survive_being_stored():
    for figure in figures_of([*pair()]):
        assert Figure.from_data(figure.as_data()) == figure


def test_what_needs_no_model_is_measured():
    assert [figure.count for figure in figures_of_types()] == [450, 160, 160]
    assert figure_of_parsing().is_met == "yes"
