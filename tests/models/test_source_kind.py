"""One table of source kinds, and the tools that go with it."""

import pytest

from oracle.models.query_classification import QueryType
from oracle.models.source_kind import PREFIXES, SOURCE_KINDS, kind_named, kind_with_prefix
from oracle.services.tools.project_tools import project_tools
from oracle.services.web.searching import WebSearchAccess


@pytest.fixture
def specs(tmp_path):
    return project_tools(tmp_path, web=WebSearchAccess(provider="searxng")).specs


def test_each_tool_looks_into_a_kind_of_the_table(specs):
    assert {spec.source for spec in specs} == set(SOURCE_KINDS)


@pytest.mark.parametrize("kind", SOURCE_KINDS)
def test_each_kind_has_a_tool_that_searches_and_one_that_reads_by_its_argument(specs, kind):
    roles = {spec.role: spec for spec in specs if spec.source == kind and not spec.writes}
    assert roles.keys() >= {"search", "read"}
    assert SOURCE_KINDS[kind].argument in roles["read"].parameters["properties"]


@pytest.mark.parametrize(
    ("kind", "types"),
    [
        ("code", {QueryType.CODE}),
        ("vault", {QueryType.DOCUMENTATION, QueryType.ACTION}),
        ("threads", {QueryType.DOCUMENTATION, QueryType.ACTION}),
        ("web", {QueryType.RESEARCH}),
    ],
)
def test_a_kind_goes_with_the_questions_that_need_it(specs, kind, types):
    assert kind_named(kind).query_types == types
    # Facts and members are about the whole project, whatever the question's type.
    whole = ("facts", "members")
    found = [spec for spec in specs if spec.source == kind and spec.role not in whole]
    reading = [spec for spec in found if not spec.writes]
    # An action may look at the code that it writes about.
    also = {QueryType.ACTION} if kind == "code" else set()
    assert all(types <= spec.query_types <= types | also for spec in reading)


def test_only_entries_have_a_prefix_and_each_has_its_own():
    assert PREFIXES == ("thread",)
    assert kind_with_prefix("thread") is kind_named("threads")
    for kind in SOURCE_KINDS.values():
        assert bool(kind.prefix) is (kind.citation == "entry")


@pytest.mark.parametrize("name", [None, "", "tickets"])
def test_of_a_kind_that_is_not_in_the_table_nothing_special_holds(name):
    kind = kind_named(name)
    assert (kind.is_local, kind.is_prose, kind.words) == (False, False, frozenset())
