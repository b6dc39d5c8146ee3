import pytest

from oracle.services.embedded.write_requests import asks_for_a_change, request_in
from tests.tables import each_row

NOTES = [
    ("write a note about caching: an hour is enough", "caching", "an hour is enough"),
    ("Please write a short note on X:\na\nb", "X", "a\nb"),
    ("create a note titled 'Release steps': tag it", "Release steps", "tag it"),
    ("create a note called Deploy with content run make", "Deploy", "run make"),
    ("note that the deploy is on Friday", "the deploy is on Friday", "the deploy is on Friday"),
    ("can you write a note about how sessions work?", "how sessions work", ""),
    ("save this as a note: hello world", "hello world", "hello world"),
]
ENTRIES = [
    ("log in thread caching that we use LRU", "caching", "we use LRU"),
    ("add to the caching thread: keep LRU", "caching", "keep LRU"),
    ("log that we chose SQLite in the storage thread", "storage", "we chose SQLite"),
    ("push an entry to thread api: v2 is final", "api", "v2 is final"),
]


@each_row(("question", "title", "text"), NOTES)
def test_a_note_is_asked_for(question, title, text):
    request = request_in(question)
    assert (request.kind, request.target, request.text) == ("vault", title, text)


@pytest.mark.parametrize(("question", "thread", "text"), ENTRIES)
def test_an_entry_is_asked_for(question, thread, text):
    request = request_in(question)
    assert (request.kind, request.target, request.text) == ("threads", thread, text)


@each_row(
    "question",
    [
        "how do I write a note?",
        "where is the note about caching?",
        "write a function that adds numbers",
        "what did we log in thread caching?",
        "ok, write a note",
    ],
)
def test_a_question_about_notes_asks_for_none(question):
    assert request_in(question) is None


def test_what_is_attached_becomes_the_note():
    request = request_in("save this as a note titled Build", attachment="all green")
    assert request.arguments == {"title": "Build", "content": "all green"}


def test_a_note_is_replaced_only_where_that_is_asked_for():
    assert request_in("overwrite the note about x: new").arguments["overwrite"] is True
    assert "overwrite" not in request_in("write a note about x: overwrite it").arguments


@pytest.mark.parametrize(
    ("question", "is_change"),
    [("fix the parser", True), ("please rename Basket to Cart", True), ("how to fix it?", False)],
)
def test_a_change_is_told_from_a_question(question, is_change):
    assert asks_for_a_change(question) is is_change


@pytest.mark.parametrize("command", ["write a note about", "log a", "note that", "write a note"])
def test_a_huge_request_is_read_in_a_moment(command):
    assert request_in(f"{command}{' ' * 100_000}x {' in ' * 20_000}") is None
    assert asks_for_a_change(f"{command} {'a ' * 100_000}") in (True, False)
