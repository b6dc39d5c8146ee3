"""How a question ends: codes, notes and the last line."""

import re
from pathlib import Path

import pytest

from oracle.cli.terminal.next_steps import next_steps
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
    NOTHING_ATTACHED,
    NOTHING_CHANGED,
    NOTHING_LOOKED_AT,
    NOTHING_PIPED,
)
from oracle.settings import load_settings
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


def test_the_ranges_of_a_file_that_are_not_shown_are_counted_too():
    ranges = [{"where": "", "path": "a.py", "start": n * 3, "end": n * 3} for n in range(1, 9)]
    found = [*places(ranges), *FILES]
    assert line(found=found[:1], has_model=False) == "sources: a.py:3, 6, 9, 12 and 4 more · 1.2 s"
    shown = line(found=found, width=50, has_model=False)
    assert shown == "sources: a.py:3, 6, 9, 12 and 24 more · 1.2 s"


def test_a_place_is_named_on_the_narrowest_terminal():
    assert line(5, has_model=False) == "sources: 1.py:1 and 19 more · 1.2 s"


READER = "this reader only quotes, and `oracle models` lists language models"
ON = "`oracle --session last` asks on from here"
AGAIN = "ask in other words, or name a file to look at"
PARTIAL = {"stop_reason": "partial_answer"}


@each_row(
    ("changes", "expected"),
    [
        ({}, None),
        ({"missing": ["a"], "answer": "I lack a."}, None),
        ({"stop_reason": "model_unavailable", "detail": "away"}, None),
        ({"caveat": "Old."}, "caveat: Old."),
        (PARTIAL, f"not complete, because it answers only a part of the question; {ON}"),
        (PARTIAL | {"missing": ["a", "b"]}, f"missing: a; b; {ON}"),
        (
            PARTIAL | {"missing": ["a"], "caveat": "Old."},
            f"missing: a; with the caveat “Old.”; {ON}",
        ),
        (
            PARTIAL | {"missing": ["a"], "answer": "I lack a."},
            f"not complete, as the answer says itself; {ON}",
        ),
        (
            {"stop_reason": "turn_limit", "detail": "2 of 2", "missing": ["a\nb"]},
            "not complete, because the limit of turns was reached (2 of 2); missing: a b; "
            "--max-turns allows more",
        ),
        (
            {"stop_reason": "time_limit", "detail": "1 second"},
            "not complete, because the limit of time was reached (1 second); --timeout allows more",
        ),
        (
            {"stop_reason": "token_limit"},
            "not complete, because the limit of tokens was reached; "
            "`oracle config set limits.tokens N --user` allows more",
        ),
        (
            {"stop_reason": "cancelled", "detail": "Ctrl-C", "missing": ["another turn"]},
            "not complete, because it was cancelled (Ctrl-C)",
        ),
        ({"stop_reason": "stuck"}, f"not complete, because no way forward was left; {AGAIN}"),
        ({"stop_reason": "went_home"}, "not complete, because went home"),
    ],
)
def test_what_is_missing_and_what_to_do_is_one_line(changes, expected):
    assert what_is_missing(done(**changes)) == expected


@each_row(
    ("missing", "expected"),
    [
        ("catches", f"not found: catches; {READER}"),
        ("Kafka, group", f"not found: Kafka, group; {READER}"),
        ("a list of all errors", f"missing: a list of all errors; {READER}"),
        (NO_SURE_PLACE, f"not sure that these places answer the question; {READER}"),
        # A line above says it, and what to check.
        (NOTHING_PIPED, None),
        (NOTHING_ATTACHED, f"missing: {NOTHING_ATTACHED}"),
        (NOTHING_CHANGED, f"missing: {NOTHING_CHANGED}"),
    ],
)
def test_the_reader_without_a_model_says_what_it_is_where_a_model_would_help(missing, expected):
    told = done(**PARTIAL, missing=[missing])
    assert what_is_missing(told, has_model=False) == expected


def test_every_answer_that_is_not_whole_has_a_line():
    for has_model in (True, False):
        for reason, code in EXIT_CODES.items():
            line = what_is_missing(done(stop_reason=reason, missing=["a"]), has_model=has_model)
            assert line or code != INCOMPLETE


@each_row("reason", [*EXPLAINED, "went_home"])
def test_no_line_of_ours_has_more_than_one_colon(reason):
    for missing in ([], ["a"], [NOTHING_LOOKED_AT], [NOTHING_PIPED], [NOTHING_ATTACHED]):
        for turns in (1, 2):
            usage = {**USAGE, "turns": turns}
            told = done(stop_reason=reason, missing=missing, caveat="Old.", usage=usage)
            for has_model in (True, False):
                assert (what_is_missing(told, has_model=has_model) or "").count(":") <= 1


@each_row("reason", ["turn_limit", "money_limit", "time_limit"])
def test_in_a_chat_the_next_step_is_one_for_a_chat(reason):
    line = what_is_missing(done(stop_reason=reason), steps=next_steps(in_chat=True))
    assert re.search(r"; `oracle chat --session last --max-(turns|cost) N` allows more$", line) or (
        line.endswith("; `oracle chat --session last --timeout N` allows more")
    )


@pytest.mark.parametrize(
    ("flags", "step"),
    [
        ({}, "`oracle config set limits.tokens N --user` allows more"),
        (
            {"ORACLE_LIMITS_TOKENS": "3000"},
            "a higher limits.tokens allows more (it is set in ORACLE_LIMITS_TOKENS)",
        ),
    ],
)
def test_the_limit_of_tokens_is_raised_where_it_was_set(flags, step, tmp_path):
    steps = next_steps(load_settings(tmp_path, environment=flags))
    assert what_is_missing(done(stop_reason="token_limit"), steps=steps).endswith(f"; {step}")


def test_an_unsure_answer_that_is_seen_is_not_called_unsure_again():
    unsure = done(**PARTIAL, missing=[NO_SURE_PLACE])
    assert what_is_missing(unsure, has_model=False, is_answer_seen=True) == READER


def test_what_the_answer_says_to_be_missing_is_not_listed_again():
    told = done(**PARTIAL, missing=["retries"], answer="Nothing about retries.")
    assert what_is_missing(told, is_answer_seen=True) == ON


def test_what_the_answer_says_is_not_said_again_to_somebody_who_sees_it():
    ended = done(stop_reason="cancelled", answer="*This answer is not complete: it was cancelled.*")
    assert what_is_missing(ended, is_answer_seen=True) is None
    assert what_is_missing(ended) is not None
    limited = {**ended, "stop_reason": "turn_limit"}
    assert what_is_missing(limited, is_answer_seen=True) == "--max-turns allows more"


def test_the_way_to_a_web_search_is_told_once_and_no_model_is_advised_for_it():
    setup = SOURCE_KINDS["web"].setup
    missing = ["what the web says", f"the web, because no web search is configured; {setup}"]
    ended = done(stop_reason="partial_answer", missing=missing, answer=f"Not here: {setup}.")
    assert what_is_missing(ended, has_model=False) == "missing: what the web says"
    assert "`oracle config set web.provider NAME`" in setup


NOTHING = "No search was allowed for this answer, so I have looked at nothing."


def test_without_a_search_nothing_was_not_found():
    unsearched = done(stop_reason="partial_answer", missing=["login"], answer=NOTHING)
    line = what_is_missing(unsearched, has_model=False)
    assert line == f"not complete, because nothing was searched; {READER}"
    once = {**unsearched, "usage": {**USAGE, "turns": 1}}
    line = what_is_missing(once, has_model=False)
    assert line == "not complete, because nothing was searched; --max-turns allows more"


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
    # More turns are of no use to a run without time.
    late = done(**(lacking | {"stop_reason": "time_limit"}), usage={**USAGE, "turns": 1})
    assert what_is_missing(late).endswith("--timeout allows more")
