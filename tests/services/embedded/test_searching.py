"""Which searches follow a first one."""

import pytest

from oracle.models.source_kind import kind_named
from oracle.services.embedded.searching import aim_of, related_calls
from oracle.services.embedded.situation import Call, Situation
from oracle.services.quoting.passages import passages
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.terms import terms_for
from oracle.services.tools.project_tools import project_tools


@pytest.fixture
def related(tmp_path):
    """The searches for related words after a first search that found one line."""
    tools = project_tools(tmp_path).specs

    def asked(question, line, *, searches=1):
        searching = [tool for tool in tools if tool.role == "search"]
        first = [
            Call(name=tool.name, arguments={}, role="search", kind=kind_named(tool.source))
            for tool in searching
        ]
        situation = Situation(
            question=question, attachment="", history=(), turns=[first] * searches, tools=tools
        )
        aim = aim_of(situation)
        kind = kind_named("code")
        source = Quotation(where="a.md:1", path="a.md", first=1, lines=[line], kind=kind)
        found = passages([source], terms_for(aim.words, [source]))
        return [str(arguments["query"]) for _, arguments in related_calls(situation, aim, found)]

    return asked


def test_words_that_the_best_place_lacks_are_searched_for_by_their_kin(related):
    queries = related("How can I call off a parcel?", "A parcel has a number.")
    assert queries
    assert all("revoke" in query and "parcel" in query for query in queries)


def test_related_words_are_searched_for_once(related):
    assert related("How can I call off a parcel?", "A parcel has a number.", searches=2) == []


def test_nothing_is_searched_for_if_no_related_word_is_known(related):
    assert related("Which zeppelin has a parcel?", "A parcel has a number.") == []
