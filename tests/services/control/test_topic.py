"""Follow-up questions and changes of topic, in the words that people use."""

import pytest

from oracle.services.control.topic import asks_for_something_new, is_topic_shift
from tests.tables import each_row

AUTH = (
    "How does the login function work?",
    "The login function in auth.py checks the password and issues a token (auth.py:3).",
)
CACHE = (
    "What did we decide about caching?",
    "We decided on Redis with a TTL of five minutes (threads/caching.md).",
)
PARIS = ("What's the weather in Paris?", "Sunny, 24 degrees.")
DB = (
    "How are database migrations run?",
    "Alembic runs them at start-up; see store/migrations.py:12.",
)
UI = ("Which component renders the sidebar?", "Sidebar.tsx renders it, with a list of sessions.")

FOLLOW_UPS = [
    (AUTH, "And where is it called?"),
    (AUTH, "Why?"),
    (AUTH, "Why a token?"),
    (AUTH, "Where are tokens refreshed?"),
    (AUTH, "Show me the tests for it"),
    (AUTH, "What about logout?"),
    (AUTH, "Can you explain that in more detail?"),
    (AUTH, "go on"),
    (AUTH, "yes please"),
    (AUTH, "Thanks!"),
    (AUTH, "Does this also handle expired passwords?"),
    (AUTH, "Which file is that in?"),
    (CACHE, "What happens after five minutes?"),
    (CACHE, "Who made that decision?"),
    (CACHE, "How do I configure redis?"),
    (PARIS, "and tomorrow?"),
    (PARIS, "What about London?"),
    (PARIS, "How about Berlin and Rome next week?"),
    (AUTH, "Is the authentication rate limited?"),
    (AUTH, "Refactor the second one"),
    (AUTH, "give an example"),
    (AUTH, "Explain"),
    (AUTH, "Are you sure?"),
    (AUTH, "What does line 3 do?"),
    (AUTH, "the other file?"),
    (CACHE, "Please write that down as a note"),
    (CACHE, "Summarize the discussion so far"),
    (CACHE, "what else?"),
    (
        AUTH,
        "List all places in the project where this happens, and say which ones matter",
    ),
    (AUTH, "So when a wrong one is entered?"),
    (AUTH, "In auth.py, what does line 40 do?"),
    (AUTH, "Are authentication and authorisation separated?"),
    (AUTH, "much shorter please, for a slide"),
    (AUTH, "Rephrase for a customer"),
    (CACHE, "now as a markdown table"),
    (CACHE, "in two sentences for the newsletter"),
    (DB, "now in German please"),
    (DB, "Translate to French"),
    (UI, "Is it memoized?"),
    (UI, "Where do the sessions come from?"),
    (UI, "And on mobile?"),
    (DB, "Can they be rolled back?"),
    (DB, "What if one fails?"),
    (DB, "who wrote this?"),
    (DB, "Is there a test for that?"),
    (DB, "Try again"),
    (UI, "Elaborate please"),
    (UI, "Compare it with the header component"),
    (DB, "How long do they take?"),
    (DB, "What is Alembic?"),
    (UI, "does the sidebar collapse"),
    (UI, "And the tests?"),
    (DB, "Hmm, that seems wrong"),
    (CACHE, "Which one is better?"),
    (CACHE, "Could we use memcached instead?"),
    (CACHE, "ok, save that"),
]

SHIFTS = [
    (AUTH, "How are long lines wrapped in the sidebar?"),
    (DB, "Which component of the front end renders the sidebar of sessions as a list?"),
    (DB, "long polling of sessions"),
    (AUTH, "What's the weather in Paris?"),
    (AUTH, "How does the scheduler pick the next job?"),
    (CACHE, "How is the database migrated?"),
    (AUTH, "What did we decide about caching?"),
    (CACHE, "Which version of Python does the build need?"),
    (PARIS, "How does the login function work?"),
    (AUTH, "Where is the retry logic of the mail sender?"),
    (AUTH, "What is the latest release of Django?"),
    (AUTH, "Explain the render pipeline"),
    (PARIS, "Write a note about the deployment"),
    (AUTH, "How do I run the benchmarks?"),
    (AUTH, "Now something else: how are images resized?"),
    (AUTH, "Different question: how are images resized?"),
    (AUTH, "How does the parser handle comments and why is it recursive?"),
    (CACHE, "Where is the code that sends mail and how is it tested?"),
    (AUTH, "Why does the scheduler starve small jobs?"),
    (AUTH, "What is the CAP theorem?"),
    (AUTH, "Is there a linter in this project?"),
    (AUTH, "How are feature flags stored in this repository?"),
    (AUTH, "Wie wird die Datenbank migriert?"),
    (UI, "How does rate limiting work in the API?"),
    (DB, "Who maintains the billing service?"),
    (DB, "What's new in TypeScript 5.5?"),
    (UI, "Where do we log errors?"),
    (DB, "Find usages of parse_config"),
    (UI, "What are our coding conventions?"),
    (CACHE, "How are secrets rotated?"),
    (DB, "Where is the websocket reconnect implemented?"),
    (UI, "What's the difference between asyncio.wait and asyncio.gather?"),
    (DB, "Create a thread about release planning"),
    (UI, "Does the CLI support JSON output, and is it documented?"),
    (DB, "What does this repo do about telemetry?"),
    (AUTH, "How is the Docker image built?"),
]


def conversation(*exchanges):
    return [{"question": question, "answer": answer} for question, answer in exchanges]


@each_row(("before", "query"), FOLLOW_UPS)
def test_a_follow_up_is_not_a_shift(before, query):
    assert is_topic_shift(query, conversation(before)) is False


@each_row(("before", "query"), SHIFTS)
def test_another_subject_is_a_shift(before, query):
    assert is_topic_shift(query, conversation(before)) is True


def test_without_a_conversation_nothing_shifts():
    assert is_topic_shift("How are images resized?", []) is False


def test_only_the_last_exchanges_are_looked_at():
    query = "Where is the login called?"
    assert is_topic_shift(query, conversation(AUTH, PARIS, CACHE)) is False
    assert is_topic_shift(query, conversation(AUTH, PARIS, CACHE, DB)) is True


@each_row("query", ["", "???", "42", "   ", "it", "\N{GRINNING FACE}"])
def test_a_query_without_a_subject_of_its_own_is_not_a_shift(query):
    assert is_topic_shift(query, conversation(AUTH)) is False


@pytest.mark.extra
def test_a_huge_paste_is_read_in_a_moment():
    assert is_topic_shift("zebra " * 200_000, conversation(AUTH)) is True


NEW_THINGS = [
    (AUTH, "and how does the payment worker consume the queue?"),
    (AUTH, "And what does billing.py do?"),
    (AUTH, "So where is `retry_mail` defined?"),
    (AUTH, "What about PaymentWorker?"),
    (AUTH, "Does the login also send mail through the worker pool?"),
    (AUTH, "Is the authentication rate limited?"),
    (PARIS, "How about Berlin and Rome next week?"),
    (UI, "ok, and the retry in the http wrapper, what does that catch?"),
]
ASKED_IN_NEW_WORDS = [
    "How about Berlin and Rome next week?",
    "Is the authentication rate limited?",
]


@each_row(("before", "query"), NEW_THINGS)
def test_a_question_about_something_else_needs_another_look(before, query):
    assert asks_for_something_new(query, conversation(before)) is True


@each_row(("before", "query"), FOLLOW_UPS)
def test_a_question_about_what_was_said_needs_none(before, query):
    is_new = query in ASKED_IN_NEW_WORDS
    assert asks_for_something_new(query, conversation(before)) is is_new


@pytest.mark.parametrize("query", ["und warum ist das so?", "et si c'est trop vieux ?", "and 3.9?"])
def test_words_of_other_languages_and_numbers_are_not_new_things(query):
    assert asks_for_something_new(query, conversation(AUTH)) is False


def test_what_was_read_is_known_by_its_name():
    query = "And how does the payment worker work?"
    (said,) = conversation(AUTH)
    read = {"places": [{"where": "src/payments/worker.py:1-40"}]}
    assert asks_for_something_new(query, [said]) is True
    assert asks_for_something_new(query, [{**said, "metadata": read}]) is False


def test_without_a_conversation_nothing_is_new():
    assert asks_for_something_new("How are images resized?", []) is False
