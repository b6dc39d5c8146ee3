"""What is shortened fits, says so, and keeps what an answer depends on most."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.control import conversation as weighing
from oracle.services.control.conversation import Weight, rough_tokens
from oracle.services.control.shortening import (
    beginning_of,
    compacted,
    cut_results,
    cut_words,
    fitted,
    shares,
    without_middle,
)

DATA = {
    "sources": [{"kind": "code", "where": "a.py:1", "text": "x" * 900}],
    "more_uses": {"name": "x"},
    "tool_role": "search",
}


def message(role, content="x", **more):
    return {"role": role, "content": content, **more}


def conversation(prompt=4_000, history=0, question=60, turns=3, result=6_000, draft=50):
    messages = [message("system", "p" * prompt)]
    for number in range(history):
        messages += [message("user", f"{number} " * 100), message("assistant", "so " * 200)]
    messages.append(message("user", "Why? " + "q" * question))
    for number in range(turns):
        call = {"id": str(number), "name": "search_code", "arguments": {"query": "x" * draft}}
        messages.append(message("assistant", "d" * draft, tool_calls=[call]))
        messages.append(message("tool", f"{number} word " * (result // 7), call_id=str(number)))
    return messages


def tokens(messages):
    return Weight().with_all(messages).tokens


@given(st.lists(st.integers(0, 500)), st.integers(0, 1_000))
def test_shares_never_exceed_the_room_or_the_need_and_leave_nothing_unused(sizes, room):
    given_ = shares(sizes, room)
    assert all(share <= size for share, size in zip(given_, sizes, strict=True))
    assert sum(given_) <= room
    assert sum(given_) >= min(sum(sizes), room - len(sizes))


def test_results_that_fit_are_left_alone_and_others_are_cut_with_advice():
    small, large = "a few words", "word " * 5_000
    cut = cut_results([small, large], 1_000, ["ask again", "read on"])
    assert cut[0] == small
    assert cut[1].endswith("of 25000 characters. read on]")
    assert sum(map(rough_tokens, cut)) <= 1_000


def test_a_cut_quotation_has_its_fence_closed():
    text = "From a.py (data):\n````\nline\n```\n" + "line\n" * 100 + "````\nAfter"
    assert beginning_of(text, 120).endswith("line\n````")
    assert beginning_of(text, 10_000) == text


def test_of_a_long_question_both_ends_stay():
    cut = without_middle("Why does " + "x" * 9_000 + " fail?", 400)
    assert cut.startswith("Why does x")
    assert cut.endswith("x fail?")
    assert "characters left out here" in cut


@pytest.mark.extra
@given(
    prompt=st.integers(0, 20_000),
    history=st.integers(0, 6),
    question=st.integers(0, 60_000),
    turns=st.integers(0, 8),
    result=st.integers(0, 40_000),
    draft=st.integers(0, 5_000),
    room=st.integers(700, 9_000),
)
def test_any_conversation_fits_and_keeps_its_question(
    prompt, history, question, turns, result, draft, room
):
    messages = conversation(prompt, history, question, turns, result, draft)
    smaller = fitted(messages, room, may_cut_prompt=True)
    assert tokens(smaller.messages) <= room
    assert bool(smaller.shortened) is (tokens(messages) > room)
    assert any(m["content"].startswith("Why? ") for m in smaller.messages)
    for place, said in enumerate(smaller.messages):
        asked = [call["id"] for call in said.get("tool_calls", ())]
        after = smaller.messages[place + 1 : place + 1 + len(asked)]
        assert [answer.get("call_id") for answer in after] == asked


def test_the_mildest_step_is_taken_first():
    messages = conversation(turns=8)
    assert fitted(messages, tokens(messages) - 1, may_cut_prompt=True).shortened == (
        "old tool results",
    )


def test_a_prompt_that_may_not_be_cut_stays():
    messages = conversation(prompt=9_000)
    smaller = fitted(messages, 10, may_cut_prompt=False)
    assert smaller.messages[0] == messages[0]
    assert fitted(messages, 10, may_cut_prompt=True).messages[0] != messages[0]


@pytest.mark.parametrize("turns", [1, 4, 9])
def test_the_newest_results_get_the_most(turns):
    messages = conversation(prompt=400, turns=turns, result=20_000)
    smaller = fitted(messages, 4_000, may_cut_prompt=True).messages
    sizes = [len(m["content"]) for m in smaller if m["role"] == "tool"]
    assert max(sizes) == sizes[-1]
    assert sizes[-1] > 4_000


def test_old_results_are_shortened_visibly_and_the_newest_stay_whole():
    results = [message("tool", f"{n}" * 1000, call_id=str(n)) for n in range(6)]
    smaller = compacted([message("user", "u" * 1000), *results])
    assert smaller.shortened == ("old tool results",)
    assert smaller.messages[1]["content"].endswith("800 more characters were here]")
    assert smaller.messages[1]["call_id"] == "0"
    assert smaller.messages[3:] == results[2:]
    assert smaller.messages[0]["content"] == "u" * 1000


def test_what_is_shortened_loses_its_sources_and_keeps_what_the_tool_was():
    results = [message("tool", "r" * 1000, call_id=str(n), **DATA) for n in range(6)]
    old, *_, newest = compacted(results).messages
    assert old.keys() == results[0].keys() - {"sources", "more_uses"}
    assert newest == results[-1]


def test_shortening_again_changes_nothing():
    results = [message("tool", "r" * 1000) for _ in range(6)]
    once = compacted(results)
    assert compacted(once.messages).shortened == ()


@pytest.mark.parametrize(
    ("whole", "cut", "part"),
    [
        ("a.py:\n  1  x\n  2  y\n  3  z", "a.py:\n  1  x\n  2  y\n[cut]", "lines 1-2 of 1-3"),
        ("a.py\n 7  x\nb.py\n 2  y", "a.py\n 7  x\n[cut]", "16 of 21 characters"),
        ("x" * 2_000, "x" * 100, "100 of 2,000 characters"),
    ],
)
def test_a_cut_is_told_by_lines_or_by_characters(whole, cut, part):
    assert cut_words(whole, cut) == f"The model sees only {part} of this result, for lack of room"


@pytest.mark.parametrize(
    ("shape", "share"),
    [({"history": 500}, 0.8), ({"turns": 500, "result": 70}, 0.25)],
    ids=["exchanges", "turns"],
)
def test_a_long_conversation_is_weighed_a_few_times_and_not_once_for_each_message(
    monkeypatch, shape, share
):
    messages, weighed = conversation(**shape), []
    room = int(tokens(messages) * share)
    monkeypatch.setattr(
        weighing, "rough_tokens", lambda text: weighed.append(text) or rough_tokens(text)
    )
    assert fitted(messages, room, may_cut_prompt=True).fits
    assert len(weighed) < 40 * len(messages)
