"""A heading that repeats the question is probably its answer."""

import pytest

from oracle.services.questions.search_words import search_words
from oracle.services.quoting.terms import terms_for
from oracle.services.quoting.titles import Asked


@pytest.mark.parametrize(
    ("question", "heading", "is_said"),
    [
        ("how many workers should I run?", "### How Many Workers?", True),
        ("what is the default timeout", "### `timeout`", True),
        ("what is a blueprint?", "Blueprints", True),
        ("what is a blueprint?", "Registering blueprints", False),
        ("how many workers should I run?", "## Worker types", False),
        ("how do I pause a crawl", "Pause", False),
    ],
)
def test_a_heading_says_the_question(question, heading, is_said):
    asked = Asked(question, terms_for(search_words(question), ()))
    assert asked.is_said_by(heading) is is_said
