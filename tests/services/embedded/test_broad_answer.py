"""An extract from one part of a broad question, and the report on parts that were left out."""

import pytest

from oracle.services.embedded.broad_answer import NOTHING, is_about_one_part, left_out
from oracle.services.embedded.model import NO_USAGE, EmbeddedModel
from oracle.services.llm.protocol import ModelRequest
from oracle.services.quoting.best_lines import as_list, lines_about
from oracle.testing.models import tool_spec
from tests.services.coverage.a_part import source
from tests.tables import each_row

QUESTION = "How does an order get into the database?"


def request(*before, tools=(), **asked):
    system = {"role": "system", "content": "Read it."}
    user = {"role": "user", "content": QUESTION, **asked}
    return ModelRequest(messages=[system, *before, user], tools=tools)


@each_row(
    ("asked", "is_one"),
    [
        (request(sources=[]), True),
        (request(), False),
        (request({"role": "user", "content": "Hi"}, sources=[]), False),
        (request(sources=[], tools=[tool_spec("read_file")]), False),
        (ModelRequest(messages=[]), False),
    ],
    ids=["it is", "a question", "a conversation", "tools", "nothing"],
)
def test_a_request_about_one_part_is_known_by_its_form(asked, is_one):
    assert is_about_one_part(asked) is is_one


async def test_the_reply_quotes_the_best_line_and_has_no_signal():
    part = source("shop/store.py", "import os", "", "def save(order):", "    database.add(order)")
    pieces = [piece async for piece in EmbeddedModel().stream(request(sources=[part]))]
    text = "".join(piece.get("text", "") for piece in pieces)
    assert text == "- `shop/store.py:4`: `database.add(order)`"
    assert pieces[-1] == {"usage": NO_USAGE}


async def test_a_part_without_a_word_of_the_question_says_nothing():
    asked = request(sources=[source("wall.py", "import os", "paint(wall)")])
    assert {"text": NOTHING} in [piece async for piece in EmbeddedModel().stream(asked)]


def test_lines_come_in_the_order_of_the_file_and_an_import_only_alone():
    lines = ("from shop import order", "x = 1", "order.place()", "y = 2", "order.save()")
    found = lines_about(QUESTION, [source("shop/store.py", *lines)])
    assert [line.where for line in found] == ["shop/store.py:3", "shop/store.py:5"]
    alone = lines_about(QUESTION, [source("shop/store.py", lines[0])])
    assert as_list(alone) == "- `shop/store.py:1`: `from shop import order`"


def test_what_quotes_nothing_has_no_lines():
    assert lines_about(QUESTION, []) == []


@pytest.mark.parametrize(
    ("names", "more", "text"),
    [
        (["a.py", "b.py"], 0, "`a.py`, `b.py`"),
        (["a.py", "b.py"], 3, "`a.py`, `b.py` and 3 more"),
        (["Terms and conditions.md"], 3, "`Terms and conditions.md` and 3 more"),
    ],
)
def test_what_was_left_out_is_named(names, more, text):
    report = {"nothing": [], "left_out": names, "more_left_out": more, "uses": []}
    assert left_out(report) == text
