"""An answer in pieces is put together; drafts of one answer are not."""

from oracle.services.control.pieces import pieces_with, whole_answer
from tests.tables import each_row

A, B, C = "It begins in a.py:1.", "Then comes b.py:2.", "At last c.py:3."
NONE = "That was all."


@each_row(
    ("pieces", "last", "whole"),
    [
        ([], A, [A]),
        ([], NONE, [NONE]),
        ([A], NONE, [A, NONE]),
        ([A, B], NONE, [A, B, NONE]),
        ([A, A], NONE, [A, NONE]),
        ([A, B], C, [A, B, C]),
        # One draft, and then an answer from other places.
        ([A], B, [B]),
        # The last text asks for another turn too, so it is a piece itself.
        ([A, B], B, [A, B]),
        # Written anew: the last text cites what the others did.
        ([A, B], f"{A} {B} {C}", [f"{A} {B} {C}"]),
        ([A, B], A, [A]),
        ([A, f"{A} {B}"], C, [C]),
        # What cites nothing is only talk.
        ([NONE, "Hm."], A, [A]),
        (["Hm."], NONE, [NONE]),
    ],
)
def test_what_the_whole_answer_is(pieces, last, whole):
    assert whole_answer(pieces, last) == "\n\n".join(whole)


@each_row(
    ("text", "signal", "calls", "is_piece"),
    [
        (A, "need_turn", [], True),
        (A, "need_turn", ["a call"], False),
        (A, "partial_answer", [], False),
        (A, None, [], False),
        ("", "need_turn", [], False),
    ],
)
def test_what_may_be_a_piece(text, signal, calls, is_piece):
    response = {"text": text, "calls": calls, "signal": signal and {"type": signal}}
    assert pieces_with([B], response) == ([B, text] if is_piece else [B])


CITED = "It is set in `a.py:3`."


@each_row(
    ("text", "answer"),
    [
        (CITED, CITED),
        (f"```markdown\n{CITED}\n```", CITED),
        (f"```\n{CITED}\n```\n", CITED),
        (f"~~~text\n{CITED}\n~~~", CITED),
        (f'```json\n{{"answer": "{CITED}"}}\n```', CITED),
        # Code that was asked for, more than a fence, or data.
        ("```\nx = 1\n```", None),
        ("```python\nx = 1  # see a.py:3\n```", None),
        (f"```md\n{CITED}\n```\nThat is all.", None),
        (f"```md\n{CITED}\n```\n```md\n{CITED}\n```", None),
        ('```json\n{"limit": 30}\n```', None),
        ('```json\n{"answer": "yes", "source": "a.py:3"}\n```', None),
        ("```json\n[1]\n```", None),
        ("```json\n{}\n```", None),
        ("```md\n\n```", None),
        ("", None),
    ],
)
def test_an_answer_that_is_wrapped_as_a_whole_is_unwrapped(text, answer):
    assert whole_answer([], text) == (text if answer is None else answer)
