"""The answer that the tree gives for the model: made of what there is, never empty."""

import itertools

import pytest

from oracle.services.control.last_words import EXPLAINED, Remains, last_words


def remains(**known):
    nothing = {"stop_reason": "cancelled", "detail": "", "text": "", "is_cut": False}
    return Remains(**{**nothing, "places": [], "tried": [], "missing": [], **known})


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
    assert expected in last_words(remains(**known))


def test_a_text_without_places_does_not_say_that_nothing_was_found():
    assert "Nothing was found" not in last_words(remains(text="So far."))


def test_it_is_never_empty():
    shapes = itertools.product(EXPLAINED, ["", "text"], [False, True], [[], [PLACE]])
    for reason, text, is_cut, places in shapes:
        words = last_words(remains(stop_reason=reason, text=text, is_cut=is_cut, places=places))
        assert EXPLAINED[reason] in words
