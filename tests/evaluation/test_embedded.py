"""The questions of new users are sound, and the verdicts mean what they say."""

import re

import pytest

from oracle.evaluation.embedded import (
    NewcomersQuestion,
    evaluate,
    judge,
    newcomers_questions,
)


class Said:
    def __init__(self, text, stop_reason):
        self.text, self.stop_reason = text, stop_reason
        self.is_whole = stop_reason == "answered"


ASKED = NewcomersQuestion(
    source="shop", question="?", is_answerable=True, cite=("docs/",), contain=("64",)
)
UNANSWERABLE = NewcomersQuestion(source="shop", question="?", is_answerable=False)


@pytest.mark.parametrize(
    ("question", "text", "stop", "verdict"),
    [
        (ASKED, "`docs/a.md:3` says: 64", "answered", "right"),
        (ASKED, "`docs/a.md:3` says: 64", "partial_answer", "right"),
        (ASKED, "`docs/a.md:3` says: 65", "answered", "wrongly sure"),
        (ASKED, "`docs/a.md:3` says: 65", "partial_answer", "partly"),
        (ASKED, "Not found.", "partial_answer", "not found"),
        (UNANSWERABLE, "`docs/a.md:3` says: 64", "answered", "wrongly sure"),
        (UNANSWERABLE, "Not found.", "partial_answer", "right"),
    ],
)
def test_a_verdict(question, text, stop, verdict):
    assert judge(question, Said(text, stop)).verdict == verdict


def test_the_questions_are_sound():
    asked = newcomers_questions()
    assert len({(each.source, each.question) for each in asked}) == len(asked) >= 50
    for each in asked:
        assert each.is_answerable == bool(each.contain)
        assert all(re.compile(pattern) for pattern in each.contain)


async def test_a_package_that_is_not_installed_is_named():
    report = await evaluate([NewcomersQuestion(source="no-such", question="?", is_answerable=True)])
    assert report.missing == ("no-such",)


@pytest.mark.extra
async def test_most_are_right_and_few_are_wrongly_sure():
    report = await evaluate(newcomers_questions())
    assert report.count("right") >= 0.8 * len(report.judged)
    assert report.count("wrongly sure") <= 0.05 * len(report.judged)
