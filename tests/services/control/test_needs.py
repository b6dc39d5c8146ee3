"""What a question needs: its words, the share that was found, and names that lead on."""

import pytest

from oracle.services.control.needs import (
    follows_a_lead,
    last_in_vain,
    names_in,
    parts_left_open,
    share_of_words,
    words_in,
    words_left_out,
)
from tests.tables import each_row

ASKED = "How does the login function in auth.py work with a token?"


@each_row(
    ("text", "found"),
    [
        ("", []),
        ("something else", []),
        ("def login(token): ...", ["login", "token"]),
        ("LoginForm", ["login"]),
        ("auth.py:3 def check()", ["auth.py"]),
        ("how does it work?", []),
    ],
)
def test_the_specific_words_of_a_question_are_looked_for(text, found):
    assert words_in(ASKED, text) == found


@each_row(
    ("question", "found", "share"),
    [
        (ASKED, [], 0.0),
        (ASKED, ["login"], 0.25),
        (ASKED, ["auth.py"], 0.5),
        (ASKED, ["auth.py", "login", "token"], 1.0),
        ("why?", [], 1.0),
    ],
)
def test_names_and_paths_count_twice(question, found, share):
    assert share_of_words(question, found) == share


def lead(arguments, *, takes_a_name=False):
    return follows_a_lead(
        arguments,
        question=ASKED,
        shown="From auth.py:1-9:\n3  check_token(token)\n4  from store.sessions import keep",
        found={"auth.py", "docs/login.md"},
        takes_a_name=takes_a_name,
    )


@each_row(
    ("arguments", "is_lead"),
    [
        ({"query": "check_token"}, True),
        ({"query": "where is check_token used"}, True),
        ({"path": "store.sessions"}, True),
        ({"query": "sign_in"}, False),  # nothing has shown it
        ({"query": "login token"}, False),  # the question in other words
        ({"query": "keep"}, False),  # a plain word
        ({"path": "auth.py", "start": 200}, False),  # a place that was found
        ({"path": "docs/login.md"}, False),
        ("not an object", False),
        ({"limit": 3}, False),
    ],
)
def test_a_lead_is_a_name_that_a_result_has_shown(arguments, is_lead):
    assert lead(arguments) is is_lead


def test_a_tool_that_takes_a_name_may_follow_a_plain_word():
    assert lead({"name": "keep"}, takes_a_name=True)
    assert not lead({"name": "login"}, takes_a_name=True)


@pytest.mark.parametrize(
    ("yields", "last"),
    [
        ([], []),
        (["same"], ["same"]),
        (["words", "same", "lead"], ["same", "lead"]),
        (["same", "words"], []),
    ],
)
def test_calls_are_in_vain_since_the_last_new_word(yields, last):
    assert last_in_vain(yields) == last


@each_row(
    ("question", "names"),
    [
        ("How do I set the Kafka consumer group?", ["Kafka"]),
        ("is GreedyAllocator still in use anywhere", ["GreedyAllocator"]),
        ("How does an order travel from the CLI to the database?", []),
        ("What went wrong in November?", []),
        ("Where is the login?", []),
    ],
)
def test_names_have_no_other_words(question, names):
    assert names_in(question) == names


@each_row(
    ("answer", "found", "left_out"),
    [
        ("The login in auth.py checks the token.", [], []),
        ("auth.py has the login.", ["login", "token", "auth.py"], []),
        ("Mails are sent at night.", [], ["auth.py", "login", "token"]),
        # One word of three is not enough, but for a name that counts twice.
        ("It takes a token.", ["token"], ["auth.py", "login"]),
        ("See auth.py.", ["auth.py"], []),
        ("See auth.py.", ["auth.py", "login", "token"], []),
    ],
)
def test_an_answer_that_lacks_most_words_of_the_question_left_them_out(answer, found, left_out):
    assert words_left_out(ASKED, answer, found, of_found=0.5, of_all=0.4) == left_out


def test_by_a_single_word_an_answer_is_not_judged_but_by_a_name():
    shares = {"of_found": 0.5, "of_all": 0.4}
    assert words_left_out("Which licence does it have?", "license = MIT", [], **shares) == []
    assert words_left_out("What is AuthServer?", "Mails.", [], **shares) == ["AuthServer"]


@each_row(
    ("question", "left_open"),
    [
        ("What stops the cranes, and when do they start again?", ["when do they start again?"]),
        ("What stops the cranes? When do they start?", ["When do they start?"]),
        ("which wind stops the cranes and who is told", ["who is told"]),
        ("Which wind stops the cranes, and is there a gust that does?", []),
        ("What stops the cranes and the lifts?", []),
        # It only states something.
        ("The mast is broken. What stops the cranes?", []),
        ("The crane stops: is it the wind, or what?", []),
        ("What stops the cranes, and why?", []),
    ],
)
def test_a_part_of_a_question_is_open_if_the_answer_has_no_word_of_it(question, left_open):
    assert parts_left_open(question, "Wind stops the cranes: gusts of 18 m/s.") == left_open
