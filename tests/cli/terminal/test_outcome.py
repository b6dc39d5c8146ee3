"""How a question ends: codes, notes and the last line."""

import re
from pathlib import Path

import pytest

from oracle.cli.terminal.outcome import EXIT_CODES, exit_code, is_error, notes, summary
from oracle.services.control.unfinished_answer import EXPLAINED

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


@pytest.mark.parametrize("reason", EXIT_CODES)
def test_the_code_of_each_stop_reason_is_documented(reason):
    rows = re.findall(r"^\| (`.*) \| (\d+) \|", PAGE, re.MULTILINE)
    assert [int(code) for reasons, code in rows if f"`{reason}`" in reasons] == [EXIT_CODES[reason]]


@pytest.mark.parametrize("reason", EXPLAINED)
def test_no_stop_reason_is_without_a_code(reason):
    assert reason in EXIT_CODES


def test_a_reason_of_a_tree_of_ones_own_is_not_a_whole_answer():
    assert exit_code(done(stop_reason="went_home")) == 3


@pytest.mark.parametrize(
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


def test_notes_tell_sources_once_caveat_what_is_missing_and_why_it_ended():
    ending = done(stop_reason="turn_limit", detail="2 of 2", caveat="Old.", missing=["a", "b"])
    sources = [{"where": "a.py:1"}, {"where": "a.py:1"}, {"where": "b\x1b[2J.py:2"}]
    assert list(notes(ending, sources)) == [
        ("sources", "a.py:1, b[2J.py:2"),
        ("caveat", "Old."),
        ("missing", "a"),
        ("missing", "b"),
        ("not whole", "turn limit: 2 of 2"),
    ]


def test_many_sources_are_counted():
    ((_, text),) = notes(done(), [{"where": f"{n}.py:1"} for n in range(20)])
    assert text.endswith("7.py:1 and 12 more")


def test_the_summary_is_the_ledger_in_a_line():
    told = "answered · 2 turns · 3 tool calls · 3,400 tokens · cost 0.0120 · 1.2 s · run 1a2b3c4d"
    assert summary(done()) == told
    assert summary(done(usage={}, run_id="", stop_reason="invalid_input")) == "invalid input"
