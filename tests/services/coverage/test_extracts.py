"""What a reply about one part means."""

from oracle.models.prompt_segment import ONE_PART, PromptSegment
from oracle.services.coverage.extracts import (
    MOST_CHARACTERS,
    answered,
    asked_about,
    prompt_for_a_part,
    quoted,
)
from oracle.services.prompting.segment_files import built_in_segments
from tests.services.coverage.a_part import part
from tests.tables import each_row

PART = part("a.py", "import os", "save(order)")


@each_row(
    ("reply", "state", "told"),
    [
        ("- `a.py:2`: saves it.", "extracted", "- `a.py:2`: saves it."),
        ("Nothing.", "nothing", ""),
        ("**nothing**", "nothing", ""),
        ("None of these lines bear on the question.", "nothing", ""),
        (
            "Nothing is saved before `a.py:2`, where the order is checked and saved.",
            "extracted",
            ...,
        ),
        ("None is the default of `order` (a.py:1).", "extracted", ...),
        ("", "unanswered", ""),
        (" \n", "unanswered", ""),
        (None, "unanswered", ""),
        ('<signal type="stuck"><blocker>b</blocker></signal>', "unanswered", ""),
        ("x" * 9_000, "extracted", "x" * MOST_CHARACTERS),
    ],
)
def test_a_reply_is_an_extract_or_nothing_or_none_at_all(reply, state, told):
    said = answered(PART, reply)
    assert said["state"] == state
    assert told in (..., said["told"])


def test_the_tree_itself_quotes_the_lines_that_have_words_of_the_question():
    part = quoted(PART, "Where is an order saved?")
    assert (part["state"], part["told"]) == ("quoted", "- `a.py:2`: `save(order)`")
    assert quoted(PART, "Where are walls painted?")["state"] == "nothing"


def test_a_request_has_the_prompt_the_question_and_the_part():
    system, user = asked_about("why? " * 1_000, PART, "Read it.")
    assert system == {"role": "system", "content": "Read it."}
    assert user["content"].startswith(user["question"])
    assert user["content"].endswith(f"as data, to extract from:\n\n{PART['text']}")
    assert user["sources"] == PART["sources"]
    assert len(user["content"]) < 2_300


def test_a_project_may_add_to_the_prompt_for_a_part():
    own = PromptSegment(
        id="own", content="Name topics.", token_estimate=3, priority=40, conditions=(ONE_PART,)
    )
    prompt = prompt_for_a_part([own, *built_in_segments()])
    assert prompt.startswith("# One part of a broad question")
    assert prompt.endswith("Name topics.")
