"""Tools are chosen by role and kind, whatever they are called."""

from oracle.models.tool_spec import ToolSpec
from oracle.services.coverage.listing import can_cover, searches_for
from oracle.services.tools.offered import file_reader, local, read_call, search_call
from oracle.services.tools.project_tools import project_tools
from oracle.services.web.searching import WebSearchAccess
from oracle.testing.models import tool_spec
from tests.tables import each_row

ANY = {"type": "object"}


def tool(name, role, source, **parameters):
    schema = {**ANY, "properties": parameters, "additionalProperties": False}
    return ToolSpec(name=name, description="x", parameters=schema, role=role, source=source)


def test_a_tool_of_any_name_is_searched_by_its_role():
    tools = [
        tool("grep", "search", "code", query={"type": "string"}),
        tool("cat", "read", "code", path={"type": "string"}),
    ]
    calls = searches_for("How does an order travel from the CLI to the database?", tools)
    assert {name for name, _ in calls} == {"grep"}
    assert all(arguments.keys() == {"query"} for _, arguments in calls)
    assert can_cover(tools)


def test_what_looks_into_the_web_or_nowhere_is_not_the_project():
    tools = [tool_spec("web_search"), tool_spec("web_fetch"), tool("search", "search", None)]
    assert local(tools, "search") == []
    assert not can_cover(tools)


@each_row(
    ("names", "kind", "call"),
    [
        (["read_file", "read_note"], "vault", ("read_note", {"note": "a", "start": 1, "end": 9})),
        (["read_file"], "vault", ("read_file", {"path": "a", "start": 1, "end": 9})),
        (["read_note"], "code", None),
        (["read_file", "read_thread"], "threads", ("read_thread", {"thread": "a"})),
        (["read_file"], "threads", None),
        (["web_fetch"], "web", ("web_fetch", {"url": "a"})),
    ],
)
def test_a_source_is_read_by_the_tool_for_its_kind(names, kind, call):
    assert read_call([tool_spec(name) for name in names], kind, "a", (1, 9)) == call


def test_any_file_is_read_as_code_where_there_is_a_choice():
    names = ["read_thread", "read_note", "read_file"]
    assert file_reader([tool_spec(name) for name in names]).name == "code"
    assert file_reader([tool_spec(name) for name in names[:2]]).name == "vault"
    assert file_reader([tool_spec("read_thread")]) is None


def test_a_query_is_cut_to_what_the_tool_takes(tmp_path):
    web = WebSearchAccess(provider="searxng")
    specs = {spec.name: spec for spec in project_tools(tmp_path, web=web).specs}
    assert len(search_call(specs["web_search"], "x" * 2_000, 6)[1]["query"]) == 390
    assert len(search_call(specs["search_code"], "x" * 2_000, 6)[1]["query"]) == 900
