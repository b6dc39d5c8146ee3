import pytest

from oracle.services.search.terms import terms_of_text, terms_of_word


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("HTTPServerError", ["httpservererror", "http", "server", "error"]),
        ("get_user", ["getuser", "get", "user"]),
        ("getUser", ["getuser", "get", "user"]),
        ("retries", ["retri"]),
        ("base64", ["base64", "base", "64"]),
        ("the", []),
        ("x", []),
        ("Größe", ["gross"]),
        ("設定値", ["設定定値", "設定", "定値"]),
        ("1234567", []),
        ("a" * 500, []),
    ],
)
def test_a_word_is_taken_apart_folded_and_stemmed(word, terms):
    assert terms_of_word(word) == terms


def test_terms_are_repeated_as_often_as_they_occur():
    assert terms_of_text("retry Retry retried").split() == ["retri"] * 3
