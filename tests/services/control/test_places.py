"""What the cited places have to do with the question."""

import pytest

from oracle.services.control.places import (
    cited_stretches,
    cites_beside_the_question,
    share_cited,
)

QUESTION = "Where is the session expiry decided?"
SESSION = "class SessionStore:\n    def expire(self):\n        # the expiry of a session"
QUEUE = "from collections import deque\n\nclass Queue:\n    jobs = deque()"


def source(path, text, start=1):
    return {
        "kind": "code",
        "path": path,
        "where": f"{path}:{start}",
        "text": text,
        "start": start,
        "end": start + text.count("\n"),
    }


READ = [source("src/session.py", SESSION), source("src/queue.py", QUEUE)]


@pytest.mark.parametrize(
    ("answer", "known", "is_beside"),
    [
        ("The deque decides the session expiry: `src/queue.py:4`.", 0.0, True),
        ("It is decided in `src/session.py:3`.", 0.0, False),
        ("It is decided in `src/session.py:3`, not in `src/queue.py:4`.", 0.0, False),
        ("The session expiry is decided by time.", 0.0, False),
        ("The session expiry is in `src/other.py:4`.", 0.0, False),
    ],
)
def test_a_place_without_the_words_of_the_best_one_is_beside(answer, known, is_beside):
    assert cites_beside_the_question(QUESTION, answer, READ, part=0.5, known=known) == is_beside


def test_the_best_place_may_be_known_from_the_index_only():
    read = [source("src/queue.py", QUEUE)]
    answer = "The deque decides the session expiry: `src/queue.py:4`."
    assert not cites_beside_the_question(QUESTION, answer, read, part=0.5)
    assert cites_beside_the_question(QUESTION, answer, read, part=0.5, known=0.7)


def test_lines_near_a_cited_one_and_the_name_of_its_file_belong_to_it():
    text = "\n".join(["def session():", *["    x = 1"] * 8, "    return x", *["    y = 2"] * 20])
    read = [source("src/expiry.py", text, start=11)]
    assert share_cited("session expiry", "`src/expiry.py:20`", read) == 1.0
    (far,) = cited_stretches("`src/expiry.py:38`", read)
    assert "session" not in far
    assert cited_stretches("`src/expiry.py:90`", read) == []
