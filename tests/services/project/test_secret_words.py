"""A word in which no key was found is not searched again, and nothing else goes unseen for it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.project import redaction, secret_words
from oracle.services.project.redaction import _redacted
from oracle.services.project.secret_contexts import CONTEXTS
from oracle.services.project.secret_shapes import VENDORS, Shapes, shape
from oracle.services.project.secret_words import Harmless, Marks, folded_like
from tests.services.project import redaction_cases as cases
from tests.services.project import redaction_cases_defaults as defaults
from tests.services.project import redaction_cases_forms as forms
from tests.services.project import redaction_cases_groups as groups
from tests.services.project import redaction_cases_later as later
from tests.services.project import redaction_cases_nearby as nearby

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
TEXT = "call(a_name_that_is_long_enough, another.name.of.a.module)\n"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(redaction, "_without_key", Harmless())
    monkeypatch.setattr(redaction, "_not_encoded", Harmless())


def test_words_without_keys_are_searched_once(monkeypatch):
    assert _redacted(TEXT) == TEXT
    searched: list[str] = []
    known = redaction._OF_VENDORS
    monkeypatch.setattr(known, "possible_in", lambda words: searched.append(words) or [])
    assert _redacted(TEXT) == TEXT
    assert searched == []


@pytest.mark.parametrize("secret", [KEY, KEY.replace("_", "%5F")])
def test_a_key_is_found_each_time_and_beside_known_words(secret):
    for _ in range(3):
        assert _redacted(TEXT) == TEXT
        assert secret not in _redacted(f"{TEXT}x={secret} {TEXT}")


def test_the_code_of_a_secret_is_found_each_time():
    encoded = b"cGFzc3dvcmQ9aHVudGVyMi1RdzNydDc=".decode()
    first = _redacted(f"blob {encoded}\n")
    assert encoded not in first
    assert _redacted(f"blob {encoded}\n") == first


def test_what_is_known_is_bounded(monkeypatch):
    monkeypatch.setattr(secret_words, "_MOST_KEPT", 3)
    known = Harmless()
    known.add(["a" * 200])
    assert known.others("a" * 200)
    known.add([f"word_number_{number}____" for number in range(3)])
    known.add(["another_word_that_is_long"])
    assert known.others("word_number_1____ another_word_that_is_long") == {"word_number_1____"}


def test_shapes_are_possible_by_their_marks_and_keep_their_order():
    shapes = Shapes(
        [
            shape("first", "zeta alpha", "z"),
            shape("second", "alpha", "a", also="beta|gamma"),
            shape("third", "delta", "d"),
        ]
    )

    def names(folded: str) -> list[str]:
        return [each.name for each in shapes.possible(folded)]

    assert names("delta alpha zeta gamma") == ["first", "second", "third"]
    assert names("alpha") == ["first"]
    assert names("nothing") == []
    # With the marks of a text, nothing else is looked for, except what must be there besides.
    assert [each.name for each in shapes.possible("delta gamma", {"alpha"})] == ["first", "second"]


def test_the_marks_of_words_are_looked_for_in_all_words_that_can_have_them():
    shapes = Shapes(
        [shape("letters", "alpha", "a"), shape("sign", "k_", "k"), shape("no", "q", "q")]
    )
    assert [each.name for each in shapes.possible_in(["theALPHAword", "A_NICK_NAME"])] == [
        "letters",
        "sign",
    ]


MARKS = ("pass", "password", "://", "mot de passe", "login", " -u", "<d>", ":*:", "пароль", "key>")


@given(
    st.lists(st.sampled_from([*MARKS, "İ", "PASS", "a", " ", "\n", "\u2028", "(", "é", "_", "<"]))
)
def test_the_marks_of_a_text_are_those_that_are_in_it(parts):
    text = "".join(parts)
    found = Marks(MARKS)
    for each in (text, "other words", text.upper(), text):
        assert found.of(each) == {mark for mark in MARKS if mark in folded_like(each)}


def test_words_are_looked_at_for_marks_once_and_what_is_known_is_bounded(monkeypatch):
    monkeypatch.setattr(secret_words, "_MOST_CHARACTERS", 60)
    found, looked_at = Marks(MARKS), []
    look = found._looked_at
    monkeypatch.setattr(found, "_looked_at", lambda words: looked_at.extend(words) or look(words))
    for _ in range(2):
        assert found.of("a_password and_more") == {"pass", "password"}
        assert found.of("a_password again") == {"pass", "password"}
    assert sorted(looked_at) == ["a_password", "again", "and_more"]
    assert found.of("x" * 80) == set()
    found.of("a_password")
    assert sorted(looked_at[3:]) == ["a_password", "x" * 80]


ALL_CASES = [
    text for module in (cases, defaults, forms, groups, later, nearby) for text, _ in module.SECRETS
]


@pytest.mark.parametrize("shapes", [VENDORS, CONTEXTS])
def test_what_is_looked_for_first_is_in_every_text_that_matches(shapes):
    found = Shapes(shapes)
    matches = 0
    for text in ALL_CASES:
        possible = found.possible(folded_like(text))
        matching = [each for each in shapes if each.pattern.search(text)]
        matches += len(matching)
        assert [each.name for each in matching if each not in possible] == []
    assert matches > 20


def test_the_order_in_which_texts_come_changes_nothing():
    texts = [TEXT, f"token = '{KEY}'\n", f"{KEY}\n", "plain words only\n", f"url?k={KEY}&a=b\n"] * 3
    alone = {text: _redacted(text) for text in dict.fromkeys(texts)}
    shuffled = random.Random(3).sample(texts, len(texts))
    assert [_redacted(text) for text in shuffled] == [alone[text] for text in shuffled]
