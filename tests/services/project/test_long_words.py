"""A word in which no key was found is not searched again, and nothing else goes unseen for it."""

import random

import pytest

from oracle.services.project import long_words, redaction
from oracle.services.project.long_words import Harmless
from oracle.services.project.redaction import _redacted
from oracle.services.project.secret_shapes import Shapes, shape

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
TEXT = "call(a_name_that_is_long_enough, another.name.of.a.module)\n"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(redaction, "_without_key", Harmless())
    monkeypatch.setattr(redaction, "_not_encoded", Harmless())


def test_words_without_keys_are_searched_once(monkeypatch):
    assert _redacted(TEXT) == TEXT
    searched: list[str] = []
    monkeypatch.setattr(redaction, "_shapes_in", lambda words: searched.append(words) or [])
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
    monkeypatch.setattr(long_words, "_MOST_KEPT", 3)
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


def test_the_order_in_which_texts_come_changes_nothing():
    texts = [TEXT, f"token = '{KEY}'\n", f"{KEY}\n", "plain words only\n", f"url?k={KEY}&a=b\n"] * 3
    alone = {text: _redacted(text) for text in dict.fromkeys(texts)}
    shuffled = random.Random(3).sample(texts, len(texts))
    assert [_redacted(text) for text in shuffled] == [alone[text] for text in shuffled]
