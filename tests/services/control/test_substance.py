"""Whether an answer says anything."""

import pytest

from oracle.services.control.substance import says_nothing

HOW = "How does the retry of parked events work?"
WHY = "Why is the queue emptied at night?"
WHERE = "Where is the session expiry decided?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (HOW, "- `a.py:3`\n- `b.py:7`"),
        (HOW, "The relevant files are:\n\n- `a.py:3`\n- `b.py:7`\n- `docs/c.md:2`"),
        (HOW, "As to how the retry of parked events works: yes, that is how it is; see `a.py:3`."),
        (WHY, "You asked why the queue is emptied at night. It is emptied at night, see `a.py:3`."),
        (
            WHERE,
            "The session expiry is decided where the session expiry is decided, as asked above.",
        ),
        ("Did we ever agree to that?", "- `a.py:3`\n- `b.py:7`"),
        ("Which variable makes it longer?", "`a.py:3`, `b.py:7`"),
        ("Wie funktioniert der Cache?", "`a.py:3`, `b.py:7`"),
        ("Pourquoi deux serveurs ?", "- `a.py:3`\n- `b.py:7`"),
    ],
)
def test_it_repeats_the_question_or_names_places_only(question, text):
    assert says_nothing(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (WHERE, "- `a.py:3`\n- `b.py:7`"),
        ("List every retry limit", "- `a.py:3`\n- `b.py:7`"),
        ("Which files set the limit?", "`a.py:3`"),
        ("What files set the limit?", "`a.py:3`"),
        (HOW, "It is in `a.py:3`."),
        (HOW, "Each is tried four times, with a pause of 30 seconds (`a.py:3`)."),
        (HOW, "`a.py:3`: `for attempt in range(4): deliver(event)`"),
        (WHY, "Because the accounts read it in the morning (`a.py:3`)."),
        ("Is GreedyAllocator still used?", "Yes: `a.py:3`."),
        ("When does it run?", "18:00, see `a.py:3`, `b.py:7` and `notes/c.md:2` for the rest."),
        (HOW, "事件会重试四次，每次间隔三十秒，然后被搁置，参见 `a.py:3`。"),
        (HOW, ""),
    ],
)
def test_it_says_something(question, text):
    assert not says_nothing(question, text)


def test_what_a_long_answer_says_at_its_end_counts():
    parts = ", ".join(f"login_{number}" for number in range(30))
    question = f"How does the login work in {parts}?"
    assert not says_nothing(question, f"It goes through {parts}, and signs the cookie with a key.")
    assert says_nothing(question, f"The login works in {parts}.")
