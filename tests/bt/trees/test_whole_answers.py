"""Which answers are called whole, when the model is sure of each."""

import pytest

from oracle.bt.actions.circles import name_what_repeats
from oracle.bt.board import board_of
from tests.asking import ask, context, enough, look

SESSION = "class SessionStore:\n    MAX_IDLE = 1800\n    def expire(self, session):\n        pass"
QUEUE = "from collections import deque\n\nclass Queue:\n    jobs = deque()"
HOW = "How does the session store expire a session?"


def place(path, text):
    end = 1 + text.count("\n")
    where = f"{path}:1-{end}"
    return {"kind": "code", "where": where, "path": path, "start": 1, "end": end, "text": text}


def found(*places):
    content = "\n\n".join(f"From {each['where']}\n{each['text']}" for each in places)
    return {"search_code": {"success": True, "content": content, "sources": [*places]}}


READ = found(place("src/session.py", SESSION), place("src/queue.py", QUEUE))
RIGHT = "The store drops a session that was idle for 1800 seconds (`src/session.py:2-3`)."


async def asked(answer, tools=READ, query=HOW):
    return await ask(look("session"), enough(answer), tools=tools, query=query)


async def test_a_right_answer_is_whole():
    heard = await asked(RIGHT)
    assert (heard.stop, heard.done["missing"]) == ("answered", [])


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        (
            f"{RIGHT} I did not check the tests.",
            "by its own words, “I did not check the tests.",
        ),
        (
            "I could not find out how the session store does expire a session, see "
            "`src/session.py:2`.",
            "by its own words, “I could not find out",
        ),
        (f"{RIGHT} TODO: the store.", "by its own words, “TODO: the store."),
        (
            "How the session store expires a session: that is in `src/session.py:1`, and there is "
            "more of how the session store does it in `src/session.py:2-3`.",
            "a statement that answers the question",
        ),
        (
            "- `src/session.py:1`\n- `src/session.py:2-3`\n- `src/queue.py:3`",
            "a statement that answers the question",
        ),
        (
            "The session store expires a session with a deque of jobs (`src/queue.py:4`).",
            "a cited place that speaks of what was asked",
        ),
        (
            "The session store asks the broker to expire a session (`src/broker.py:4`).",
            "a citation of something that was read",
        ),
    ],
)
async def test_what_can_be_seen_to_be_no_whole_answer_is_partial(answer, missing):
    heard = await asked(answer)
    assert heard.stop == "partial_answer"
    assert [missing in each for each in heard.done["missing"]] == [True]


async def test_a_list_of_places_answers_where_something_is():
    query = "Where does the session store expire a session?"
    heard = await asked("- `src/session.py:1`\n- `src/session.py:2-3`", query=query)
    assert heard.stop == "answered"


async def test_what_small_talk_cannot_be_helped_with_is_an_answer():
    heard = await ask(enough("I'm sorry, but I cannot help with that."), query="Thanks a lot!")
    assert heard.stop == "answered"


async def test_a_long_text_is_looked_up_where_it_was_read_to_its_end():
    # Only the beginning of a place is kept as evidence; what the model was shown is all of it.
    text = "\n".join(["x = 1"] * 200 + SESSION.split("\n"))
    heard = await asked(
        "The store drops a session that was idle for 1800 seconds (`src/session.py:201-203`).",
        tools=found(place("src/session.py", text), place("src/queue.py", QUEUE)),
    )
    assert heard.stop == "answered"


@pytest.mark.parametrize(
    ("length", "before", "loop"),
    [
        (500, None, ("text", 1)),
        (20_000, None, ("endless", 1)),
        (20_000, {"kind": "endless", "times": 1, "turn": 4}, ("endless", 2)),
        (20_000, {"kind": "endless", "times": 1, "turn": 3}, ("endless", 1)),
        (500, {"kind": "text", "times": 1, "turn": 4}, ("text", 1)),
    ],
)
def test_long_texts_without_an_end_are_counted_in_a_row(length, before, loop):
    ctx = context(response={"text": "x" * length}, is_runaway=True, loop=before)
    ctx.turn = 5
    name_what_repeats(ctx, turns=3)
    now = board_of(ctx).get("loop")
    assert (now["kind"], now["times"]) == loop
