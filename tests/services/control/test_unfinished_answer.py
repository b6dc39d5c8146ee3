"""The answer that the tree writes for the model: made of what was found, never empty."""

import itertools

import pytest

from oracle.services.control.unfinished_answer import EXPLAINED, UnfinishedRun, unfinished_answer


def unfinished(**known):
    nothing = {"stop_reason": "cancelled", "detail": "", "text": "", "is_cut": False}
    return UnfinishedRun(**{**nothing, "places": [], "tried": [], "missing": [], **known})


PLACE = {"where": "auth.py:3", "text": "def  login():\n  pass"}


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"text": "It is in the fi", "is_cut": True}, "It is in the fi […]"),
        ({"text": "A draft."}, "A draft.\n\n*This answer is not complete"),
        ({"detail": "by hand"}, "it was cancelled (by hand).*"),
        ({}, "Nothing was found before that."),
        ({"text": " \n "}, "Nothing was found before that."),
        ({"places": [PLACE]}, "- `auth.py:3`: def login(): pass"),
        ({"places": [{"where": "x:1"}]}, "- `x:1`"),
        ({"places": [PLACE] * 9}, "- … and 1 more"),
        ({"places": [{"where": "w", "text": "long " * 99}]}, "…"),
        ({"tried": ["search_code"]}, "Tried: search_code."),
        ({"missing": ["who?", "when?"]}, "Missing: who?; when?."),
        ({"stop_reason": "unheard of"}, "not complete: unheard of.*"),
    ],
)
def test_it_says_what_there_is(known, expected):
    assert expected in unfinished_answer(unfinished(**known))


def test_a_text_without_places_does_not_say_that_nothing_was_found():
    assert "Nothing was found" not in unfinished_answer(unfinished(text="So far."))


def test_it_is_never_empty():
    shapes = itertools.product(EXPLAINED, ["", "text"], [False, True], [[], [PLACE]])
    for reason, text, is_cut, places in shapes:
        words = unfinished_answer(
            unfinished(stop_reason=reason, text=text, is_cut=is_cut, places=places)
        )
        assert EXPLAINED[reason] in words
