"""Questions about harbour: the labels hold, the loops are asked alike, and results are kept."""

import json

import pytest

from oracle.errors import InputError
from oracle.evaluation.agent_report import (
    append_outcome,
    changes,
    read_outcomes,
    read_results,
    rows_of,
    totals,
)
from oracle.evaluation.agent_runs import Examined, Outcome, ask, ask_all, completeness
from oracle.evaluation.harbour import DATA, harbour, questions
from oracle.services.comparison.facts import LoopFacts
from oracle.services.control.ledger import Limits
from oracle.testing.simulated import simulated_model
from tests.tables import each_row

WEB = json.loads((DATA / "harbour_web.json").read_text("utf-8"))


def text_of(place):
    return WEB[place]["html"] if place in WEB else (DATA / "harbour" / place).read_text("utf-8")


@each_row("question", questions(), ids=lambda question: question.id)
def test_what_a_right_answer_contains_is_in_what_it_cites(question):
    cited = [text_of(place).lower() for group in question.cites for place in group]
    for group in question.contains if cited else ():
        assert any(word.lower() in text for word in group for text in cited), group


def test_ids_are_unique_and_some_questions_have_no_answer():
    ids = [question.id for question in questions()]
    assert len(set(ids)) == len(ids) > 70
    assert sum(not question.answerable for question in questions()) == 10


@pytest.fixture(scope="module")
def competent():
    return simulated_model("competent")


async def test_both_loops_are_asked_the_same_questions(competent):
    asked = questions()[:2]
    async with harbour() as world, world.index.at_hand():
        found = [
            outcome
            async for outcome in ask_all(
                world, asked, make_model=lambda _: competent, repeats=1, examined=Examined()
            )
        ]
    assert [(each.question, each.loop) for each in found] == [
        (question.id, loop) for question in asked for loop in ("tree", "baseline")
    ]
    assert all(each.facts.answer for each in found)
    assert {row.measure.name for row in rows_of(found)} >= {"right", "needless tool calls"}


async def test_the_web_of_harbour_can_be_searched_and_read(competent):
    (question,) = [each for each in questions() if each.id == "web-01"]
    async with harbour() as world, world.index.at_hand():
        pages = await world.tools.run("web_search", {"query": "tidewatch 3 heights datum"})
        outcome = await ask(
            world, question, model=competent, loop="baseline", repeat=0, limits=Limits()
        )
        page = await world.tools.run("web_fetch", {"url": f"{world.web}/tidewatch/3/heights"})
    assert "/tidewatch/3/heights" in pages["content"]
    assert page["success"]
    assert outcome.facts.calls > 0


@pytest.mark.parametrize(
    ("answer", "cited", "share"),
    [
        ("", (), 0.0),
        ("HARBOUR_LEASE_TTL_SECONDS", (), 1 / 3),
        ("harbour_lease_ttl_seconds, 3 times", ("src/harbour/config/settings.py",), 1.0),
    ],
)
def test_completeness_is_the_share_of_the_groups(answer, cited, share):
    facts = LoopFacts(stop_reason="answered", answer=answer, cited=cited)
    assert completeness(questions()[0], facts) == share


def outcome(**given):
    facts = LoopFacts(stop_reason="answered", answer="x")
    known = {"question": "a", "loop": "tree", "model": "m", "repeat": 0, "is_right": True}
    return Outcome(**known | {"facts": facts, "complete": 1.0} | given)


def test_results_are_kept_and_a_cut_line_is_left_out(tmp_path):
    file = tmp_path / "results.jsonl"
    append_outcome(file, outcome())
    append_outcome(file, outcome(question="b"))
    file.write_text(file.read_text() + '{"question": "c", "lo')
    assert read_outcomes(file) == [outcome(), outcome(question="b")]


def test_a_torn_line_is_named_and_cut_off_before_the_next_one(tmp_path):
    file = tmp_path / "results.jsonl"
    for name in "abc":
        append_outcome(file, outcome(question=name))
    file.write_bytes(file.read_bytes()[:-40])
    assert read_results(file).unreadable == [3]
    append_outcome(file, outcome(question="d"))
    assert [each.question for each in read_outcomes(file)] == ["a", "b", "d"]
    assert read_results(file).unreadable == []


def test_a_whole_line_without_its_end_stays(tmp_path):
    file = tmp_path / "results.jsonl"
    append_outcome(file, outcome())
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    append_outcome(file, outcome(question="b"))
    assert read_outcomes(file) == [outcome(), outcome(question="b")]


def test_an_outcome_that_was_cut_counts_for_its_cost_only(tmp_path):
    file = tmp_path / "results.jsonl"
    facts = LoopFacts(stop_reason="money_limit", money=0.25)
    append_outcome(file, outcome(facts=facts, is_cut=True))
    assert (read_outcomes(file), read_results(file).spent) == ([], 0.25)


@pytest.mark.parametrize(
    "line",
    [
        b'{"x": 1}',
        b"null",
        b"[]",
        b'{"facts": null}',
        json.dumps(outcome(complete=float("nan")).as_data()).encode(),
        json.dumps(outcome().as_data() | {"complete": "high"}).encode(),
    ],
)
def test_what_is_not_a_result_is_named_by_its_line(tmp_path, line):
    file = tmp_path / "results.jsonl"
    file.write_bytes(line + b"\n")
    with pytest.raises(InputError, match=r"results.jsonl:1: not a result"):
        read_outcomes(file)


def test_a_file_that_is_not_text_is_named(tmp_path):
    file = tmp_path / "results.jsonl"
    file.write_bytes(b"\xff\n")
    with pytest.raises(InputError, match=r"results.jsonl: cannot be read"):
        read_outcomes(file)


def test_two_results_are_compared_question_by_question():
    before = [outcome(complete=1.0), outcome(question="b", complete=0.5)]
    after = [outcome(complete=0.5), outcome(question="b", complete=0.5), outcome(question="c")]
    assert [(c.question, c.before, c.after) for c in changes(before, after)] == [("a", 1.0, 0.5)]


def test_means_are_compared_over_the_questions_that_both_results_have():
    before = [outcome(complete=1.0), outcome(question="b", complete=0.5)]
    after = [outcome(complete=0.5), outcome(question="b", complete=0.5), outcome(question="c")]
    found = {(each.loop, each.measure.name): each for each in totals(before, after)}
    complete = found["tree", "complete"]
    assert (complete.before, complete.after) == (0.75, 0.5)
    assert {loop for loop, _ in found} == {"tree"}  # the other loop has no question in common
