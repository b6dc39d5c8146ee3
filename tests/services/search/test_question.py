"""How a question becomes terms: its own words, words of the same meaning, and their order."""

import pytest

from oracle.services.search.question import kinship, read_question
from oracle.services.search.records import Role
from tests.tables import each_row


@each_row(
    ("question", "term"),
    [
        ("where do people log in?", "signin"),
        ("how are rate limits kept", "throttl"),
        ("rate_limit", "throttl"),
        ("throttling of requests", "ratelimit"),
        ("who wrote this?", "written"),
        ("how big may it get", "limit"),
        ("checksum of an archive", "digest"),
    ],
)
def test_a_question_is_also_read_in_the_words_of_the_trade(question, term):
    assert term in read_question(question).kin


def test_a_word_of_the_question_itself_is_not_kin():
    question = read_question("login and sign in, authentication and credentials")
    assert not question.kin.keys() & question.terms.keys()


def test_two_words_are_kin_only_side_by_side():
    assert "signin" not in read_question("is it in the log?").kin


@pytest.mark.parametrize(
    ("question", "sequence"),
    [
        ("Undefined binding(s) detected when compiling", ("bind", "detect", "compil")),
        ("where is it?", ()),
        ("the readFile call", ("file", "call")),
    ],
)
def test_the_order_of_words_is_kept(question, sequence):
    assert read_question(question).sequence == sequence


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("which test covers retries", {Role.TEST}),
        ("where are retries decided", set()),
        ("is the makefile documented", {Role.DOCUMENT, Role.SETTINGS}),
    ],
)
def test_a_question_may_ask_for_files_that_come_second_otherwise(question, wants):
    assert read_question(question).wants >= wants
    assert read_question(question).wants_decision == ("decided" in question)


def test_nothing_is_kin_to_itself():
    assert not [term for term, others in kinship().items() if term in others]


@each_row(
    ("question", "area"),
    [
        ("parser: Keep blanks", ("parser",)),
        ("cmd/go, net: Fix it", ("cmd", "go", "net")),
        ("fix(parser)!: keep blanks", ("parser",)),
        ("ValueError: cannot read it", ()),
        ("error: unexpected argument", ()),
        ("what does this mean: a blank", ()),
    ],
)
def test_the_area_of_a_commit_subject_is_read(question, area):
    assert read_question(question).area == area


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Keep what total_price and taxRate return", ("total_price", "taxRate")),
        ("style() drops `App`", ("style", "App")),
        ("Keep the Theme of a Page", ()),
    ],
)
def test_names_are_taken_as_they_are_spelled(question, names):
    assert read_question(question).names == names


@pytest.mark.parametrize(
    ("question", "wants", "mentions"),
    [
        ("the test client keeps cookies", set(), {Role.TEST}),
        ("unit tests for flags", {Role.TEST}, {Role.TEST}),
        ("build the documentation", set(), {Role.DOCUMENT}),
    ],
)
def test_to_mention_tests_is_not_to_ask_for_them(question, wants, mentions):
    read = read_question(question)
    assert (read.wants, read.mentions) == (wants, mentions)
