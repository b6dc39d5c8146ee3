"""How a question ends: codes, notes and the last line."""

import re
from pathlib import Path

import pytest

from oracle.cli.terminal.outcome import (
    EXIT_CODES,
    INCOMPLETE,
    below,
    exit_code,
    fitting,
    is_error,
    summary,
    what_is_missing,
)
from oracle.cli.terminal.places import places
from oracle.models.source_kind import SOURCE_KINDS
from oracle.services.control.unfinished_answer import (
    EXPLAINED,
    NO_SURE_PLACE,
    NOTHING_LOOKED_AT,
)
from tests.tables import each_row

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
USAGE = {"turns": 2, "tokens": 3400, "money": 0.012, "seconds": 1.24, "uses": {"read_file": 3}}


def done(**changes):
    data = {"answer": "It is.", "stop_reason": "answered", "error_kind": None, "detail": ""}
    data |= {
        "caveat": None,
        "tried": [],
        "missing": [],
        "usage": USAGE,
        "run_id": "1a2b3c4d5e",
        "context_id": None,
    }
    return data | changes


@each_row("reason", EXIT_CODES)
def test_the_code_of_each_stop_reason_is_documented(reason):
    rows = re.findall(r"^\| (`.*) \| (\d+) \|", PAGE, re.MULTILINE)
    assert [int(code) for reasons, code in rows if f"`{reason}`" in reasons] == [EXIT_CODES[reason]]


@each_row("reason", EXPLAINED)
def test_no_stop_reason_is_without_a_code(reason):
    assert reason in EXIT_CODES


def test_a_reason_of_a_tree_of_ones_own_is_not_a_whole_answer():
    assert exit_code(done(stop_reason="went_home")) == 3


@each_row(
    ("reason", "kind", "code"),
    [
        ("model_unavailable", "ModelRefused", 78),
        ("model_unavailable", "ModelOverloaded", 69),
        ("model_unavailable", "InterruptedStream", 69),
        ("invalid_input", "SettingsError", 78),
        ("store_failed", "ReplayDiverged", 4),
        ("internal_error", "ZeroDivisionError", 70),
        ("internal_error", "__doc__", 70),
    ],
)
def test_the_error_that_ended_the_run_decides_where_its_class_has_a_code(reason, kind, code):
    assert exit_code(done(stop_reason=reason, error_kind=kind)) == code


@pytest.mark.parametrize(("reason", "error"), [("answered", False), ("stuck", False)])
def test_only_what_somebody_must_mend_is_an_error(reason, error):
    assert is_error(done(stop_reason=reason)) is error
    assert is_error(done(stop_reason="model_unavailable"))


FILES = places([{"where": "", "path": f"{n}.py", "start": n, "end": n} for n in range(1, 21)])


def line(width=1_000, has_model=True, found=FILES, **changes):
    given = done(**changes)
    shown = fitting(found, given, width=width, has_model=has_model)
    return below(shown, found, given, has_model=has_model)


def test_below_the_answer_are_sources_time_and_what_a_model_costs():
    assert line(found=FILES[:2]) == "sources: 1.py:1, 2.py:2 · 1.2 s · 3,400 tokens · cost 0.0120"
    assert line(found=[], usage=USAGE | {"money": 0}) == "1.2 s · 3,400 tokens"
    assert line(found=[], usage={}) == ""


def test_the_embedded_model_has_no_tokens():
    assert line(found=FILES[:1], has_model=False) == "sources: 1.py:1 · 1.2 s"
    assert "tokens" not in summary(done(), has_model=False)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_sources_that_do_not_fit_on_a_line_are_counted(width):
    text = line(width, has_model=False)
    assert len(text) <= width
    assert re.search(r" and \d+ more · 1\.2 s$", text)


def test_a_place_is_named_on_the_narrowest_terminal():
    assert line(5, has_model=False) == "sources: 1.py:1 and 19 more · 1.2 s"


@each_row(
    ("changes", "expected"),
    [
        ({}, None),
        ({"stop_reason": "partial_answer", "missing": ["a", "b"]}, "missing: a; b"),
        (
            {"stop_reason": "partial_answer", "missing": ["a"], "answer": "I lack a."},
            "not complete: the answer says what is missing",
        ),
        ({"stop_reason": "partial_answer"}, "not complete: it answers only a part of the question"),
        ({"missing": ["a"], "answer": "I lack a."}, None),
        (
            {"stop_reason": "turn_limit", "detail": "2 of 2", "missing": ["a\nb"]},
            "not complete: the limit of turns was reached (2 of 2), --max-turns allows more; "
            "missing: a b",
        ),
        (
            {"stop_reason": "cancelled", "detail": "Ctrl-C", "missing": ["another turn"]},
            "not complete: it was cancelled (Ctrl-C)",
        ),
        ({"caveat": "Old."}, "caveat: Old."),
        ({"stop_reason": "model_unavailable", "detail": "away"}, None),
    ],
)
def test_what_is_missing_is_said_once_on_one_line(changes, expected):
    assert what_is_missing(done(**changes)) == expected


def test_every_answer_of_the_embedded_model_that_is_not_whole_has_a_line():
    for reason, code in EXIT_CODES.items():
        line = what_is_missing(done(stop_reason=reason, missing=["a"]), has_model=False)
        assert line or code != INCOMPLETE
    line = what_is_missing(done(stop_reason="partial_answer", missing=["catches"]), has_model=False)
    assert line == "not found: catches"


def test_an_unsure_answer_has_a_line_where_the_answer_itself_is_not_seen():
    unsure = done(stop_reason="partial_answer", missing=[NO_SURE_PLACE])
    line = what_is_missing(unsure, has_model=False)
    assert line == "not sure: these are the best matches of its words"
    assert what_is_missing(unsure, has_model=False, is_answer_seen=True) is None


def test_what_the_answer_says_to_be_missing_is_not_listed_again():
    told = done(stop_reason="partial_answer", missing=["retries"], answer="Nothing about retries.")
    assert what_is_missing(told) == "not complete: the answer says what is missing"
    assert what_is_missing(told, is_answer_seen=True) is None


def test_what_the_answer_says_is_not_said_again_to_somebody_who_sees_it():
    ended = done(stop_reason="cancelled", answer="*This answer is not complete: it was cancelled.*")
    assert what_is_missing(ended, is_answer_seen=True) is None
    assert what_is_missing(ended) is not None
    limited = {**ended, "stop_reason": "turn_limit"}
    assert what_is_missing(limited, is_answer_seen=True) == "--max-turns allows more"


def test_the_way_to_a_web_search_is_told_once_and_no_model_is_advised_for_it():
    setup = SOURCE_KINDS["web"].setup
    missing = ["what the web says", f"the web: no web search is configured; {setup}"]
    ended = done(stop_reason="partial_answer", missing=missing, answer=f"Not here: {setup}.")
    assert what_is_missing(ended, has_model=False) == "missing: what the web says"
    assert "`oracle config set web.provider NAME`" in setup


NOTHING = "No search was allowed for this answer, so I have looked at nothing."


def test_without_a_search_nothing_was_not_found():
    unsearched = done(stop_reason="partial_answer", missing=["login"], answer=NOTHING)
    line = what_is_missing(unsearched, has_model=False)
    assert line == "not complete: nothing was searched"


def test_the_summary_is_the_ledger_in_a_line():
    told = "answered · 2 turns · 3 tool calls · 3,400 tokens · cost 0.0120 · 1.2 s · run 1a2b3c4d"
    assert summary(done(), has_model=True) == told
    short = summary(done(usage={}, run_id="", stop_reason="invalid_input"), has_model=True)
    assert short == "invalid input"


def test_an_error_is_one_line_without_the_time_or_that_there_is_no_answer():
    free = {**USAGE, "tokens": 0, "money": 0.0}
    held = done(stop_reason="held_elsewhere", usage=free, missing=["an answer of the model"])
    assert below([], [], held, has_model=True) == ""
    assert what_is_missing(held) is None


def test_one_turn_allows_no_search_and_the_flag_for_more_is_named():
    lacking = {"stop_reason": "partial_answer", "missing": [NOTHING_LOOKED_AT]}
    once = done(**lacking, usage={**USAGE, "turns": 1})
    assert what_is_missing(once) == f"missing: {NOTHING_LOOKED_AT}; --max-turns allows more"
    assert "--max-turns" not in what_is_missing(done(**lacking))


def test_no_model_is_offered_where_none_would_help():
    empty = done(stop_reason="partial_answer", missing=["text: what is attached is empty"])
    assert what_is_missing(empty, has_model=False) == "missing: text: what is attached is empty"
