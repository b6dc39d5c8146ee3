"""Which tools a question gets, which are added later, and which fit a request in words."""

import pytest

from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.classification.classifier import classify_query
from oracle.services.control.asked_for import asks_for
from oracle.services.control.grants import (
    considered,
    first_grant,
    more_tools,
    only_by_yes,
    specs_as_data,
    specs_from,
    tools_for,
)
from oracle.testing.models import tool_spec
from tests.tables import each_row

NAMES = (
    *("search_code", "read_file", "search_vault", "search_threads", "web_search"),
    *("write_note",),
)
SPECS = [tool_spec(name) for name in NAMES]
SURE = {"sure_of_an_action": 0.8, "sure_of_a_class": 0.6, "sure_of_the_web": 0.9}
CODE, VAULT, WEB = {"search_code", "read_file"}, {"search_vault", "search_threads"}, {"web_search"}


@each_row(
    ("query", "granted"),
    [
        ("What's the weather in Paris?", WEB),
        ("How does the auth middleware work?", CODE),
        ("What did we decide about caching?", VAULT),
        ("Thanks, that helps!", set()),
        ("Write a note about the login flow", VAULT | {"write_note"}),
    ],
)
def test_the_first_grant_follows_the_class_of_the_question(query, granted):
    assert set(first_grant(classify_query(query), SPECS, **SURE)) == granted


def of(query_type, confidence=0.9, runner_up=None):
    return QueryClassification.of_type(query_type, confidence=confidence, runner_up=runner_up)


@each_row(
    ("classification", "granted"),
    [
        (of(QueryType.CODE), CODE),
        (of(QueryType.CODE, 0.59, QueryType.RESEARCH), CODE | WEB),
        (of(QueryType.CODE, 0.6, QueryType.RESEARCH), CODE),
        (of(QueryType.CODE, 0.3, QueryType.ACTION), CODE | VAULT),
        (of(QueryType.RESEARCH, 0.89), WEB | CODE | VAULT),
        (of(QueryType.RESEARCH, 0.9), WEB),
        (of(QueryType.ACTION, 0.79), VAULT),
        (of(QueryType.ACTION, 0.8), VAULT | {"write_note"}),
        (of(QueryType.CONVERSATIONAL, 0.1, QueryType.ACTION), set()),
    ],
)
def test_uncertainty_adds_tools_that_read_and_never_tools_that_write(classification, granted):
    assert set(first_grant(classification, SPECS, **SURE)) == granted


@pytest.mark.parametrize(
    ("rung", "had", "added"),
    [
        ("second_class", CODE, WEB),
        ("local", CODE, VAULT),
        ("all", CODE, VAULT | WEB),
        ("all", CODE | VAULT | WEB, set()),
    ],
)
def test_a_rung_adds_what_is_new_on_it_and_only_reads(rung, had, added):
    kind = of(QueryType.CODE, runner_up=QueryType.RESEARCH)
    assert set(more_tools(rung, kind, SPECS, had)) == added


def test_a_rung_leaves_out_sources_that_a_search_would_find_nothing_in():
    kind = of(QueryType.RESEARCH)
    assert set(more_tools("all", kind, SPECS, WEB, poor=["code", "threads"])) == {"search_vault"}


def test_the_rung_of_the_web_adds_no_tool_of_the_project():
    assert set(more_tools("web", of(QueryType.CODE), SPECS, ())) == WEB


WORDINGS = [
    # its own name
    ("web_search", WEB),
    ("web search", WEB),
    ("Searching the web", WEB),
    ("the tool `web_search`", WEB),
    ("reading files", {"read_file"}),
    ("write_note", {"write_note"}),
    ("writing notes", {"write_note"}),
    ("search the code and read a file", CODE),
    # a source
    ("internet access", WEB),
    ("look it up online", WEB),
    ("fetch a URL", WEB),
    ("browser", WEB),
    ("access to the source code", CODE),
    ("open a file", CODE),
    ("list a directory", CODE),
    ("the team's decisions", {"search_threads"}),
    ("documentation", {"search_vault"}),
    ("docs or the internet", {"search_vault", "web_search"}),
    # writing
    ("save the result", {"write_note"}),
    ("create a document in the vault", {"write_note"}),
    ("edit the source code", set()),
    ("update a file", set()),
    # no tool here can do it
    ("run the tests", set()),
    ("execute code", set()),
    ("code execution", set()),
    ("a shell in the repository", set()),
    ("delete a note", set()),
    ("install a package from the web", set()),
    ("query the production database", set()),
    ("ask a colleague", set()),
    ("", set()),
    ("🙂", set()),
]


@each_row(("capability", "names"), WORDINGS)
def test_a_capability_in_words_picks_the_tools_that_have_it(capability, names):
    assert {spec.name for spec in tools_for(capability, SPECS)} == names


NOTES = [tool_spec(name) for name in ("read_note", "search_code", "read_file", "web_search")]
REQUESTS = [
    # A tool that is named does not get an effect that it does not have.
    *(
        (f"{verb} the notes with read_note", set(), [f"{verb} the notes with read_note"])
        for verb in (
            *("delete", "deleting", "remove", "kill", "deploy", "install", "send", "compile"),
            *(
                "build",
                "restart",
                "erase",
                "wipe",
                "upload",
                "uninstall",
                "email",
                "run",
                "execute",
            ),
        )
    ),
    ("use read_note to delete the notes", set(), ["use read_note to delete the notes"]),
    ("read_note for deleting notes", set(), ["read_note for deleting notes"]),
    ("Please DELETE it with `read_note`", set(), ["Please DELETE it with `read_note`"]),
    ("can you delete it with read_note", set(), ["can you delete it with read_note"]),
    ("read and delete notes", set(), ["read and delete notes"]),
    ("run the tests using search_code", set(), ["run the tests using search_code"]),
    # Each part counts for itself.
    ("read_note, and delete the notes", {"read_note"}, ["delete the notes"]),
    ("web_search, and delete x with read_note", {"web_search"}, ["delete x with read_note"]),
    ("search the code and run the tests", {"search_code"}, ["run the tests"]),
    # To run a tool is to call it.
    ("execute read_note", {"read_note"}, []),
    ("run search_code", {"search_code"}, []),
    ("run the tool `search_code` on src", {"search_code"}, []),
    ("run a web search", {"web_search"}, []),
    ("running web_search for the news", {"web_search"}, []),
    # What is looked for is not asked for.
    ("search_code for delete_user", {"search_code"}, []),
    ("read_file build/install.py", {"read_file"}, []),
    ("search_code to find how to delete a user", {"search_code"}, []),
    ("search_code: where do we send mails", {"search_code"}, []),
]


@each_row(("capability", "names", "beyond"), REQUESTS)
def test_what_no_tool_can_do_is_admitted_even_if_a_tool_is_named(capability, names, beyond):
    found = considered(capability, NOTES)
    assert ({spec.name for spec in found.tools}, found.beyond) == (names, beyond)


@pytest.mark.parametrize(
    "capability", ["delete the notes with delete_note", "deleting notes", "run delete_note"]
)
def test_a_tool_with_the_effect_in_its_name_has_it(capability):
    found = considered(capability, [*NOTES, tool_spec("delete_note")])
    assert "delete_note" in {spec.name for spec in found.tools}
    assert found.beyond == []


def test_a_name_inside_another_word_is_not_named():
    assert tools_for("look into threads", [tool_spec("read")]) == []
    assert [spec.name for spec in tools_for("read, please", [tool_spec("read")])] == ["read"]


def test_a_tool_that_runs_things_is_granted_by_its_name():
    assert [spec.name for spec in tools_for("run the tests", [tool_spec("run_tests")])] == [
        "run_tests"
    ]


def test_specs_stand_on_the_board_as_data_and_come_back():
    assert specs_from(specs_as_data(SPECS)) == SPECS


def test_specs_of_an_older_recording_have_no_role_and_come_back_with_one():
    older = [
        {key: value for key, value in spec.items() if key != "role"}
        for spec in specs_as_data(SPECS)
    ]
    assert specs_from(older) == SPECS


def test_an_order_of_a_user_who_may_not_write_is_offered_and_is_not_a_yes():
    order = "Use write_note to write a note about the login flow"
    specs = only_by_yes(SPECS)
    (writes,) = [spec for spec in specs if spec.writes]
    assert (writes.needs_yes, asks_for(order, writes)) == (True, False)
    # Even where nobody can be asked: the refusal of its call says what was not done.
    assert "write_note" in first_grant(classify_query(order), specs, question=order, **SURE)
    assert specs_from(specs_as_data(specs)) == specs
    assert [spec for spec in specs if not spec.writes] == SPECS[:-1]
