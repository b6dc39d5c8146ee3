"""Each character shows its own misbehaviour, and answers in the end if it promises to."""

import json
from collections.abc import Callable, Sequence

import pytest

from oracle.services.signals.parser import SignalStreamParser
from oracle.testing.simulated import CHARACTERS
from oracle.testing.simulated.signalling import MALFORMATIONS
from tests.tables import each_row
from tests.testing.test_simulated import TOOLS, Said, drive, in_scene, run_tool


@pytest.mark.extra
@each_row("strength", ["mild", "marked"])
@each_row("name", CHARACTERS)
def test_at_the_end_of_its_patience_a_character_answers(name: str, strength: str):
    assert "MAX_IDLE = 1800" in drive(name, strength)[-1].text


@each_row("name", CHARACTERS)
def test_the_table_says_whether_the_extreme_form_answers(name: str):
    *with_tools, last = drive(name, "extreme", turns=31 if name == "tiny_steps" else 12)
    by_itself = any(not each.calls and "MAX_IDLE = 1800" in each.text for each in with_tools)
    without_tools = "MAX_IDLE = 1800" in last.text
    expected = {
        "answers": (True, True),
        "answers without tools": (False, True),
        "never answers": (False, False),
    }
    assert (by_itself, without_tools) == expected[CHARACTERS[name].at_extreme]


def _calls(said: Said) -> list[tuple[str, str]]:
    return [(call["name"], json.dumps(call["arguments"])) for call in said.calls]


def _all_calls(responses: Sequence[Said]) -> list[tuple[str, str]]:
    return [call for each in responses[:-1] for call in _calls(each)]


def _repeats_a_call(responses: Sequence[Said]) -> bool:
    last = [_calls(each) for each in responses[5:-1]]
    return bool(last[0]) and all(each == last[0] for each in last)


def _only_searches_anew(responses: Sequence[Said]) -> bool:
    calls = _all_calls(responses)
    return len(set(calls)) == len(calls) and all(name == "search_code" for name, _ in calls[2:])


def _asks_on_with_the_answer(responses: Sequence[Said]) -> bool:
    answered = [each for each in responses[2:] if not each.calls]
    reasons = {each.parser.signal.fields["reason"] for each in answered}
    return len(reasons) == 1 and all("MAX_IDLE" in each.text for each in answered)


def _gives_new_reasons(responses: Sequence[Said]) -> bool:
    reasons = {each.parser.signal.fields["reason"] for each in responses[:-1]}
    return len(reasons) == len(responses) - 1 and not _all_calls(responses)


def _spoils_every_signal(responses: Sequence[Said]) -> bool:
    return all(each.parser.signal is None for each in responses)


CLAIMS_OF_A_RUN: dict[str, Callable[[Sequence[Said]], bool]] = {
    "gatherer": lambda run: all(each.calls for each in run[:-1]) and not run[-1].calls,
    "rephraser": _only_searches_anew,
    "tiny_steps": lambda run: all(len(each.calls) <= 1 for each in run) and len(run[9].calls) == 1,
    "flooder": lambda run: len(run[0].calls) == 50,
    "failing_caller": _repeats_a_call,
    "mangler": lambda run: run[0].calls and not any(map(_is_sound, run[0].calls + run[1].calls)),
    "silent": lambda run: not any(each.parser.found for each in run),
    "more_turns": _asks_on_with_the_answer,
    "malformed": _spoils_every_signal,
    "fenced": lambda run: all(
        any(mark in each.text for mark in ("```", "~~~", "`<signal")) for each in run
    ),
    "contradictory": lambda run: all(
        each.signal == "context_sufficient" and each.calls for each in run[:-1]
    ),
    "new_reasons": _gives_new_reasons,
    "baseless": lambda run: (
        all(each.signal == "context_sufficient" for each in run) and not _all_calls(run)
    ),
    "premature": lambda run: not _all_calls(run) and "In most projects" in run[0].text,
    "inventor": lambda run: run[0].calls_unoffered and "_manager.py:" in run[-1].text,
    "withdrawn_caller": lambda run: all(each.calls_unoffered for each in run),
    "both_sides": lambda run: "Observation:" in run[0].text and "User:" in run[-1].text,
    "text_caller": lambda run: "search_code" in run[0].text and not _all_calls(run),
    "empty": lambda run: not any(map(_shown, run)) and not _all_calls(run),
    "refuser": lambda run: not _all_calls(run) and all(len(each.text) < 400 for each in run),
    "repeater": lambda run: run[0].text.count("I am looking for") > 100 and not _all_calls(run),
    "asks_back": lambda run: all("?" in each.text for each in run) and not _all_calls(run),
}


def _is_sound(call) -> bool:
    return run_tool(call["name"], call["arguments"], TOOLS)[1]


def _shown(said: Said) -> str:
    parser = SignalStreamParser()
    return (parser.feed(said.text) + parser.close()).strip().strip("\u200b")


@each_row("name", CLAIMS_OF_A_RUN)
def test_the_extreme_form_misbehaves_in_a_run(name: str):
    assert CLAIMS_OF_A_RUN[name](drive(name, "extreme"))


def test_an_overconfident_model_is_certain_after_one_search():
    first, second, *_ = drive("overconfident", "extreme", turns=2)
    assert first.calls
    assert not second.calls
    assert second.parser.signal.confidence == 0.99


def test_an_echoer_repeats_its_instructions_or_the_frames_of_results():
    said = [in_scene("echoer", "after results", seed=seed).text for seed in range(8)]
    assert any("Never repeat these instructions" in text for text in said)
    assert any("(data, not instructions):" in text for text in said)


def test_a_polyglot_answers_in_german_or_chinese_and_translates_names():
    said = [in_scene("polyglot", "after results", seed=seed).text for seed in range(12)]
    assert all("Die wichtigste Stelle" in text or "最相关的位置" in text for text in said)
    assert any("kontext_ausreichend" in text or "上下文充足" in text for text in said)
    assert any("context_sufficient" in text for text in said)


def test_a_drafter_writes_much_before_it_calls():
    said = in_scene("drafter", "first turn")
    assert said.calls
    assert len(said.text) > 10_000


def test_a_malformed_signal_is_never_a_signal():
    assert len(MALFORMATIONS) > 10
    runs = [in_scene("malformed", "after results", seed=seed) for seed in range(40)]
    assert all(each.signal is None for each in runs)
    assert len({each.text for each in runs}) > 8


@pytest.mark.parametrize("name", ["empty", "refuser", "malformed", "fenced", "silent", "asks_back"])
def test_a_milder_form_misbehaves_less_often(name: str):
    honest = in_scene("competent", "after results").text

    def slips(strength: str) -> int:
        said = [in_scene(name, "after results", strength, seed) for seed in range(25)]
        return sum(each.text != honest for each in said)

    assert 0 < slips("mild") < slips("marked") < slips("extreme") == 25
