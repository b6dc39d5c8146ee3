"""`@oracle.tool`: the signature and the docstring become what the model is told."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, Optional, Self, TypedDict

import pytest
from pydantic import BaseModel, Field

import oracle
from oracle.errors import OwnCodeError
from oracle.models.query_classification import QueryType
from oracle.services.own_code.calling import as_tool
from oracle.services.own_code.docstrings import described
from oracle.services.own_code.tool import own_tool_of
from oracle.services.prompting.tokens import estimate_tokens
from tests.tables import each_row


@dataclass
class Range:
    first: int
    last: int = 9


class Person(TypedDict):
    name: str


class Team(BaseModel):
    title: str


def spec_of(function):
    return as_tool(own_tool_of(function)).spec


def test_the_decorator_hands_the_function_back_unchanged():
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    assert oracle.tool(double) is double
    assert double(4) == 8


def test_docstring_and_signature_are_the_schema():
    @oracle.tool
    def search_tickets(
        query: str,
        state: Literal["open", "closed"] = "open",
        limit: int = 5,
        owner: Optional[str] = None,  # noqa: UP045 - people write it
        labels: list[str] = [],  # noqa: B006 - people write it
    ):
        """Search the tickets
        of the team.

        It is not for code.

        Args:
            query: Words that a ticket
                contains.
            limit (int): How many.
        """

    spec = spec_of(search_tickets)
    assert (spec.name, spec.role, spec.writes) == ("search_tickets", "search", False)
    assert spec.description == "Search the tickets of the team."
    assert spec.parameters == {
        "additionalProperties": False,
        "properties": {
            "query": {"description": "Words that a ticket contains.", "type": "string"},
            "state": {"default": "open", "enum": ["open", "closed"], "type": "string"},
            "limit": {"default": 5, "description": "How many.", "type": "integer"},
            "owner": {"type": "string"},
            "labels": {"default": [], "items": {"type": "string"}, "type": "array"},
        },
        "required": ["query"],
        "type": "object",
    }
    assert estimate_tokens(str(spec.parameters)) < 150


def test_structured_arguments_are_described_without_titles():
    @oracle.tool
    def save(lines: Range, person: Person, team: Team, size: int | str = 1):
        """Save all of it."""

    spec = spec_of(save)
    assert set(spec.parameters["$defs"]) == {"Range", "Person", "Team"}
    assert spec.parameters["$defs"]["Team"]["properties"] == {"title": {"type": "string"}}
    assert len(spec.parameters["properties"]["size"]["anyOf"]) == 2
    assert "'title': 'Range'" not in str(spec.parameters)


def test_annotated_describes_an_argument_and_bounds_it():
    @oracle.tool
    def page(
        number: Annotated[int, "Which page."], size: Annotated[int, Field(ge=1, description="S.")]
    ):
        """Show a page.

        number: from the docstring
        """

    properties = spec_of(page).parameters["properties"]
    assert properties["number"]["description"] == "Which page."
    assert properties["size"] == {"description": "S.", "minimum": 1, "type": "integer"}


@pytest.mark.parametrize(
    "docstring",
    [
        "Look.\n\n    Args:\n        query: the words\n        other: no",
        "Look.\n\n    Args:\n        query (str): the words",
        "Look.\n\n    :param query: the words\n    :returns: nothing",
        "Look.\n    :param str query: the words",
        "Look.\n\n    Parameters\n    ----------\n    query : str\n        the words\n",
        "Look.\n\n    query: the words",
        "Look.\n\n    - `query`: the\n      words",
        "Look.\n\n    query - the words",
    ],
)
def test_each_usual_style_of_docstring_describes_arguments(docstring):
    found = described(docstring, ["query"])
    assert (found.summary, found.arguments) == ("Look.", {"query": "the words"})


@pytest.mark.parametrize(
    ("for_", "types"),
    [
        (None, {"code", "documentation", "research", "action"}),
        (["code"], {"code"}),
        ("vault", {"documentation", "action"}),
        (["web", "code"], {"research", "code"}),
    ],
)
def test_for_names_questions_or_sources(for_, types):
    @oracle.tool(for_=for_)
    def look():
        """Look."""

    assert own_tool_of(look).query_types == {QueryType(each) for each in types}


def test_a_tool_that_writes_is_for_actions_and_has_the_role_write():
    @oracle.tool(writes=True, for_=["code"], name="deploy", timeout=5)
    def roll_out(query: str):
        """Deploy it."""

    own = own_tool_of(roll_out)
    assert (own.name, own.role, own.timeout) == ("deploy", "write", 5.0)
    assert own.query_types == {QueryType.CODE, QueryType.ACTION}


@pytest.mark.parametrize(
    ("name", "argument", "role"),
    [
        ("tickets", "query", "search"),
        ("search_tickets", "about", "search"),
        ("deploy_status", "service", "other"),
        ("read_ticket", "ticket", "other"),
    ],
)
def test_a_tool_that_takes_words_searches(name, argument, role):
    scope = {}
    exec(f'def {name}({argument}: str, limit: int = 3):\n    "Look."', scope)
    assert own_tool_of(scope[name]).role == role


def no_type(query):
    """Look."""


def star(*queries: str):
    """Look."""


def stars(**queries: str):
    """Look."""


def no_words(query: str):
    pass


def yields(query: str):
    """Look."""
    yield query


def no_schema(query: oracle.Model):
    """Look."""


def no_name(query: "Missing"):  # noqa: F821
    """Look."""


def many(
    a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int, j: int, k: int,
    l: int, m: int, n: int, o: int, p: int, q: int, r: int, s: int, t: int, u: int,  # noqa: E741
):  # fmt: skip
    """Look."""


def taken(model_config: str):
    """Look."""


def private(_query: str):
    """Look."""


def misspelt(query: str):
    """Look.

    Args:
        quary: Words.
            note: this line belongs to it.
    """


def itself(query: Self):
    """Look."""


def ellipsis(query: str = ...):
    """Look."""


def wrong_default(limit: int = "x"):
    """Look."""


def wrong_field(limit: int = Field(default="x")):
    """Look."""


class Desk:
    def look(self, query: str):
        """Look."""
        return f"{query}!"


@each_row(
    ("function", "options", "message"),
    [
        (no_type, {}, "the argument 'query' has no type; write `query: str`"),
        (star, {}, r"a model cannot fill \*queries: str; write each argument by name"),
        (stars, {}, r"a model cannot fill \*\*queries: str"),
        (no_words, {}, "it has no docstring; write one"),
        (yields, {}, "it yields; return"),
        (no_schema, {}, "its arguments cannot be described as JSON"),
        (no_name, {}, "its annotations cannot be read .*Missing.*; import"),
        (many, {}, "it has 21 arguments, .* use at most 20"),
        (taken, {}, "'model_config' has a name that pydantic keeps; rename it"),
        (private, {}, "'_query' has a name that pydantic keeps; rename it"),
        (misspelt, {}, "describes 'quary', but there is no such argument; did you mean 'query'"),
        (Desk.look, {}, "the argument 'self' has no type; pass the method of an object"),
        (itself, {}, "the type of the tool's own arguments"),
        (ellipsis, {}, "the default of 'query' is `...`; leave it out"),
        (wrong_default, {}, "the default of 'limit' is 'x', which is not of its type"),
        (wrong_field, {}, "the default of 'limit' is 'x', which is not of its type"),
        (Desk, {}, "it is a type; make it a function"),
        (partial(no_words), {}, "it is a partial; make it a function"),
        (spec_of, {"name": "a b"}, "no type"),
        (test_each_usual_style_of_docstring_describes_arguments, {}, "no type"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_an_error_with_its_place(function, options, message):
    with pytest.raises(OwnCodeError, match=message) as raised:
        oracle.tool(**options)(function)
    if hasattr(function, "__code__"):
        line = function.__code__.co_firstlineno
        assert re.match(rf"\S*test_tool\.py:{line}: tool '", str(raised.value))


@each_row(
    ("options", "message"),
    [
        ({"for_": ["cod"]}, "for_ has 'cod'; did you mean 'code'"),
        ({"for_": ["xyz"]}, "there are action, code, documentation"),
        ({"for_": [7]}, "for_ has 7; there are"),
        ({"for_": []}, "for_ is empty"),
        ({"for_": ["conversational"]}, "offered no tools"),
        ({"writes": "no"}, "writes is 'no'; give True or False"),
        ({"timeout": 0}, "give seconds up to 600"),
        ({"timeout": float("nan")}, "give seconds up to 600"),
        ({"timeout": "5"}, "give a number"),
        ({"name": "a b"}, "its name must be"),
        ({"name": ""}, "its name must be"),
        ({"name": "x" * 65}, "its name must be"),
    ],
)
def test_a_wrong_option_is_an_error_with_the_next_step(options, message):
    def look(query: str):
        """Look."""

    with pytest.raises(OwnCodeError, match=re.escape(message)):
        oracle.tool(**options)(look)


def test_the_method_of_an_object_can_be_passed():
    own = own_tool_of(Desk().look)
    assert list(own.arguments.model_fields) == ["query"]


def test_names_of_methods_of_the_model_class_can_be_arguments():
    @oracle.tool
    def send(json: str, copy: bool = False, schema: str = ""):
        """Send it."""

    assert set(spec_of(send).parameters["properties"]) == {"json", "copy", "schema"}


class Node(BaseModel):
    value: int
    after: Optional["Node"]


def test_null_stays_where_a_value_is_required():
    def look(node: Node, page: int | None, size: int | None = None):
        """Look."""

    schema = spec_of(look).parameters
    assert schema["properties"]["page"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert schema["properties"]["size"] == {"type": "integer"}
    assert {"type": "null"} in schema["$defs"]["Node"]["properties"]["after"]["anyOf"]


@pytest.mark.parametrize(
    ("name", "role"), [("lookup_user", "search"), ("delete_user", "other"), ("set-user", "other")]
)
def test_a_name_that_speaks_of_a_change_is_left_to_the_model(name, role):
    def look(query: str):
        """Look."""

    assert spec_of(oracle.tool(name=name)(look)).role == role
