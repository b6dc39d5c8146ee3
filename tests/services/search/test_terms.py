import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.search import Index, terms
from oracle.services.search.question import read_question
from oracle.services.search.terms import (
    TOKEN,
    WordCache,
    terms_of_names,
    terms_of_text,
    terms_of_word,
    words_of,
)
from tests.tables import each_row


@each_row(
    ("word", "terms"),
    [
        ("HTTPServerError", ["httpservererror", "http", "server", "error"]),
        ("get_user", ["getuser", "get", "user"]),
        ("getUser", ["getuser", "get", "user"]),
        ("retries", ["retri"]),
        ("base64", ["base64", "base", "64"]),
        ("fn_3_7", ["fn37"]),
        ("x1", ["x1"]),
        ("the", []),
        ("x", []),
        ("Größe", ["gross"]),
        ("設定値", ["設定値", "設定", "定値"]),
        ("1234567", []),
        ("a" * 500, []),
    ],
)
def test_a_word_is_taken_apart_folded_and_stemmed(word, terms):
    assert terms_of_word(word) == terms


@each_row(
    ("text", "terms"),
    [
        ("14.0.2", ["14.0.2", "14.0"]),
        ("v14.0.2", ["14.0.2", "14.0"]),
        ("python 3.11", ["python", "3.11"]),
        ("on 2026-02-03", ["2026-02-03", "2026-02", "2026"]),
        ("127.0.0.1:8080", ["127.0.0.1", "127.0", "8080"]),
        (".".join("1" * 60), []),
    ],
)
def test_a_version_or_a_date_is_one_term(text, terms):
    assert terms_of_text(text).split() == terms


def test_terms_are_repeated_as_often_as_they_occur():
    assert terms_of_text("retry Retry retried").split() == ["retri"] * 3


NAMES = st.from_regex(r"[^\W\d]\w{0,60}", fullmatch=True)


def asked_terms(text):
    question = read_question(text)
    return {*question.terms, *question.kin}


@given(name=NAMES)
def test_every_name_that_is_indexed_is_found_by_its_exact_spelling(name):
    indexed = set(terms_of_names([name]).split())
    assert indexed
    assert indexed & asked_terms(name)


@given(name=NAMES, question=st.sampled_from(["where is {} defined?", "explain {}", "{}()", "`{}`"]))
def test_a_name_is_found_in_the_middle_of_a_question(name, question):
    assert set(terms_of_names([name]).split()) & asked_terms(question.format(name))


ODD_NAMES = (
    *("fn_3_7", "x", "f", "get", "utf8", "v2", "a1b2", "x_y", "_", "__", "i18n", "k8s", "explain"),
    *("sha256_3", "T", "HTTP2Server", "größe_2", "名前_2", "é", "a" * 130, "deadbeef" * 8, "how"),
)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_function_with_an_odd_name_is_the_first_hit_for_it(name, tmp_path):
    others = [other for other in ODD_NAMES if other != name]
    for number, other in enumerate([*others, "fn_3_8", "fn_37_1", "xy_2", name]):
        file = tmp_path / f"file{chr(97 + number)}.py"
        file.write_text(f"def {other}(thing):\n    return thing\n")
    with Index.in_memory(tmp_path) as index:
        index.refresh()
        assert index.definitions(name)[0].path == file.name
        found = index.search(name, "code", 3)
        assert file.name in [hit.path for hit in found]


@given(st.text(alphabet="aZ_v09.- \n(=\x1f\u00e9\u65e5", max_size=40))
def test_a_text_that_is_split_has_the_words_that_the_pattern_finds(text):
    assert words_of(text) == TOKEN.findall(text)


def test_a_word_that_was_pushed_out_is_computed_again_only_if_it_was_not_used(monkeypatch):
    monkeypatch.setattr(terms, "_MOST_CACHED", 4)
    computed = []
    cache = WordCache(lambda word: computed.append(word) or word.upper())
    assert [cache[word] for word in "abcadeafgahi"] == list("ABCADEAFGAHI")
    assert computed.count("a") == 1
    assert len(cache) <= 2
    assert cache["b"] == "B"
    assert computed.count("b") == 2
