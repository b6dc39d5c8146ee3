"""All tools exist, are offered for the right questions, and are documented."""

import ast
import re
from pathlib import Path

import pytest

import oracle.services
from oracle.models.query_classification import QueryType

PAGE = (Path(__file__).parents[3] / "docs" / "tools.md").read_text(encoding="utf-8")
GRANTED = {
    "search_code": "code, action",
    "read_file": "code, action",
    "get_repo_map": "code",
    "find_definition": "code",
    "get_project_facts": "code, documentation, research",
    "list_members": "code, documentation, research",
    "search_vault": "documentation, action",
    "read_note": "documentation, action",
    "list_notes": "documentation, action",
    "write_note": "action",
    "search_threads": "documentation, action",
    "read_thread": "documentation, action",
    "push_thread": "action",
    "web_search": "research",
    "web_fetch": "research",
}


def test_every_tool_is_granted_to_its_kind_of_question(tools):
    granted = {spec.name: set(spec.query_types) for spec in tools.specs}
    assert granted == {
        name: {QueryType(kind) for kind in kinds.split(", ")} for name, kinds in GRANTED.items()
    }


def test_a_conversation_gets_no_tools(tools):
    assert not any(QueryType.CONVERSATIONAL in spec.query_types for spec in tools.specs)


def test_two_tools_write_and_each_knows_its_source(tools):
    assert {spec.name for spec in tools.specs if spec.writes} == {"write_note", "push_thread"}
    assert {spec.source for spec in tools.specs} == {"code", "vault", "threads", "web"}


@pytest.mark.parametrize("name", GRANTED)
def test_every_tool_is_documented_with_its_role_its_arguments_and_who_gets_it(tools, name):
    (row,) = re.findall(rf"^\| `{name}` \| (.*?) \| (.*?) \| (.*?) \|", PAGE, re.MULTILINE)
    spec = next(spec for spec in tools.specs if spec.name == name)
    required = spec.parameters.get("required", [])
    arguments = [
        f"`{key}`{'' if key in required else '?'}" for key in spec.parameters["properties"]
    ]
    assert row == (spec.role, ", ".join(arguments), GRANTED[name])


SERVICES = Path(oracle.services.__file__).parent


def words_of(module):
    """The strings of a module, with its docstrings left out."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


@pytest.mark.parametrize("folder", ["tools", "web", "project", "search"])
def test_no_tool_names_another_one_because_that_may_not_be_granted(folder):
    for module in (SERVICES / folder).glob("*.py"):
        others = set(GRANTED) - {module.stem}
        named = {name for text in words_of(module) for name in others if name in text}
        assert not named, f"{module.name} names {named}"


def test_every_argument_is_described(tools):
    for spec in tools.specs:
        for name, schema in spec.parameters["properties"].items():
            assert schema["description"], f"{spec.name}.{name}"


async def test_no_tool_breaks_on_any_of_these_arguments(tools):
    for spec in tools.specs:
        for value in ("", "x", "\n", "/", "..", "a" * 300, "%00", "é", "*", None, 3, [], {}, True):
            arguments = dict.fromkeys(spec.parameters["properties"], value)
            content = (await tools.run(spec.name, arguments))["content"]
            assert "failed internally" not in content, (spec.name, value, content)
