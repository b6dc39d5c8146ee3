"""Before tools are offered: which sources have the words of the question."""

from types import SimpleNamespace

from oracle.services.control.first_look import (
    shares_of,
    tools_for_reasons,
    tools_to_add,
    tools_to_keep_for_later,
)
from oracle.testing.models import tool_spec
from tests.tables import each_row

SPECS = [
    tool_spec(name)
    for name in ("search_code", "read_file", "search_vault", "read_note", "search_threads")
]
NOTES = ["search_vault", "read_note", "search_threads"]


class Index:
    def __init__(self, **texts):
        self.texts = texts

    async def search_kinds(self, query, kinds, k):
        return {kind: self._places(kind)[:k] for kind in kinds}

    def _places(self, kind):
        return [SimpleNamespace(path="a", text=text) for text in self.texts.get(kind, ())]


async def test_a_share_is_that_of_the_best_single_place():
    index = Index(vault=["the tide", "tables of the tide"], threads=["a tide", "some tables"])
    found = await shares_of("where are the tide tables?", index)
    assert found == {"code": 0.0, "vault": 1.0, "threads": 0.5}


async def test_a_question_without_a_word_to_look_for_has_no_shares():
    assert await shares_of("how are you?", Index(vault=["you"])) == {}


@each_row(
    ("question", "shares", "later"),
    [
        ("tide tables", {"vault": 1.0, "threads": 0.5}, ["search_threads"]),
        ("tide tables", {"vault": 1.0, "threads": 0.6}, []),
        ("tide tables", {"vault": 0.2, "threads": 1.0}, ["search_vault", "read_note"]),
        # No source has most of the words: the answer may have others.
        ("tide tables", {"vault": 0.5, "threads": 0.0}, []),
        ("tide tables in the threads", {"vault": 1.0, "threads": 0.0}, []),
        # Code has them all, but no tool that searches it is granted.
        ("tide tables", {"code": 1.0, "vault": 0.5, "threads": 0.0}, []),
        ("tide tables", {}, []),
    ],
)
def test_a_source_with_few_of_the_words_is_kept_for_later(question, shares, later):
    found = tools_to_keep_for_later(question, shares, SPECS, NOTES, most=0.6, part=0.5)
    assert found == later


@each_row(
    ("shares", "added"),
    [
        ({"code": 0.8, "vault": 0.5, "threads": 0.0}, ["search_code", "read_file"]),
        ({"code": 1.0, "vault": 0.6, "threads": 0.0}, []),
        ({"code": 0.5, "vault": 0.0, "threads": 0.0}, []),
        ({}, []),
    ],
)
def test_a_source_that_alone_has_most_of_the_words_is_offered(shares, added):
    assert tools_to_add(shares, SPECS, NOTES, most=0.6) == added


CODE = ["search_code", "read_file"]


@each_row(
    ("question", "shares", "added"),
    [
        ("why no tide tables?", {"code": 0.5, "vault": 0.5, "threads": 0.3}, NOTES[:2]),
        ("the reason for tide tables", {"code": 0.5, "threads": 0.7}, ["search_threads"]),
        ("why no tide tables?", {"code": 0.7, "vault": 0.5, "threads": 0.5}, []),
        ("why no tide tables?", {"code": 0.1, "vault": 0.4, "threads": 0.4}, []),
        ("where are tide tables?", {"code": 0.5, "vault": 0.5, "threads": 0.5}, []),
        ("why no tide tables?", {}, []),
    ],
)
def test_reasons_are_looked_for_in_prose(question, shares, added):
    assert tools_for_reasons(question, shares, SPECS, CODE, least=0.5) == added
