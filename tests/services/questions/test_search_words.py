import pytest

from oracle.services.questions.search_words import (
    asks_for_all,
    asks_for_uses,
    goes_on,
    other_words,
    search_words,
)
from tests.tables import each_row

QUESTIONS = [
    ("Where is the retry logic?", ["retry", "logic"]),
    ("How does total_price work?", ["total_price"]),
    ("What does Basket.add_item do?", ["Basket.add_item"]),
    ("What does `check_out()` return?", ["check_out", "return"]),
    ('Where is "connection refused" raised?', ["connection refused", "raised"]),
    ("What is in src/shop/basket.py?", ["src/shop/basket.py"]),
    ("Explain docs/control.md please", ["docs/control.md"]),
    ("how are HTTP redirects followed", ["HTTP", "redirects", "followed"]),
    ("Warum ist SQLite gewählt?", ["SQLite", "gewählt"]),
    ("what?", []),
    ("", []),
]


@each_row(("question", "words"), QUESTIONS)
def test_a_question_is_searched_by_its_names_and_telling_words(question, words):
    assert search_words(question).all == words


@each_row(
    ("question", "is_asked"),
    [
        ("list every hook", True),
        ("all log levels please", True),
        ("which files import json?", True),
        ("built in transports, all of them", True),
        ("where are all the routes", True),
        ("start a new file every week", False),
        ("now every cron job fires twice", False),
        ("my jobs dont run at all", False),
        ("which class reads the file?", False),
    ],
)
def test_a_list_is_asked_for_and_not_only_told_about(question, is_asked):
    assert asks_for_all(question) is is_asked


@each_row(
    ("question", "is_asked"),
    [
        ("who calls add_tax?", True),
        ("where is the retry helper used?", True),
        ("in what order are the hooks called?", False),
        ("which order are the steps called in?", False),
        ("what is the settings file called?", False),
    ],
)
def test_uses_are_not_asked_for_by_an_order_or_a_name(question, is_asked):
    assert asks_for_uses(question) is is_asked


def test_a_question_of_stop_words_is_searched_by_those_that_say_something():
    assert search_words("call one implementation before all others").plain == [
        "call",
        "implementation",
    ]
    assert search_words("and what does it do then?").plain == []


def test_all_that_is_named_is_looked_for_and_plain_words_only_fill_up():
    names = [f"login_{part}" for part in range(15)]
    question = f"How do {', '.join(names)} work together when the session of a user expires?"
    assert search_words(question).all == names


def test_a_name_that_begins_a_sentence_is_no_name_for_its_capital_alone():
    words = search_words("Caching is where? And Ledger?")
    assert words.names == ["Ledger"]
    assert words.plain == ["caching"]


def test_neighbours_are_searched_as_one_name_too():
    assert search_words("where is the retry policy applied?").query.endswith(
        "retry_policy policy_applied"
    )


@each_row(
    ("question", "leans"),
    [
        ("and where is it called?", True),
        ("why?", True),
        ("what about its tests?", True),
        ("Where is total_price defined?", False),
        ("Where is login defined?", False),
        ("What does login do?", False),
        ("What is the timeout?", True),
        ("How does the signal parser find the end of an element?", False),
    ],
)
def test_a_follow_up_leans_on_the_question_before(question, leans):
    assert goes_on(question, search_words(question)) is leans


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Where is fetchUserRecord?", ["fetch", "user", "record"]),
        ("how do retries happen", ["retry", "attempt", "backoff"]),
        ("where is authentication", ["auth", "login"]),
    ],
)
def test_other_words_are_parts_stems_and_relatives(question, other):
    found = other_words(search_words(question))
    assert set(other) <= set(found)
    assert not set(found) & set(search_words(question).all)


@pytest.mark.extra
def test_a_huge_question_is_read_in_a_moment():
    assert len(search_words("a-" * 500_000).query) <= 900
