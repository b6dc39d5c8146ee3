"""Queries that keywords alone get wrong, and what holds for every query."""

import subprocess
import sys
from importlib.resources import files
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.models.query_classification import NEEDS, QueryType
from oracle.services.classification.classifier import (
    BROAD,
    MARGIN,
    classify_query,
    explain_query,
    terms_to_look_up,
)
from oracle.services.classification.linear_model import SHARES, linear_model
from tests.tables import each_row
from tests.timing import takes_less

CODE, DOCUMENTATION, RESEARCH, CONVERSATIONAL, ACTION = QueryType


def asked(user, assistant):
    return [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]


@each_row(
    ("query", "expected"),
    [
        # The acceptance scenarios of the specification.
        ("What's the weather in Paris?", RESEARCH),
        ("How does the auth middleware work?", CODE),
        ("What did we decide about caching?", DOCUMENTATION),
        ("Thanks, that helps!", CONVERSATIONAL),
        # A request wrapped in thanks or small talk is the request.
        ("thanks — but where is the retry logic?", CODE),
        ("great, thanks! could you save that as a note?", ACTION),
        ("Hi! Hope you're well. Why did we pick Redis over memcached?", DOCUMENTATION),
        ("ok cool. what's the latest LTS of node?", RESEARCH),
        # A verb of writing is an order only in the position of one.
        ("write a note about the outage", ACTION),
        ("where do we write the note?", DOCUMENTATION),
        ("could you jot that down for me?", ACTION),
        ("can you add a note that we drop py3.9?", ACTION),
        ("who calls add_note()?", CODE),
        ("how to write a good commit message", RESEARCH),
        ("don't write anything yet, just tell me where MAX_RETRIES is set", CODE),
        ("fix the typo in README", ACTION),
        # A verb of reading is a question.
        ("tell me where the parser lives", CODE),
        ("find the ADR on queues", DOCUMENTATION),
        ("google the current LTS of node", RESEARCH),
        # The same technology, inside and outside.
        ("does Redis support TTL per hash field?", RESEARCH),
        ("how do we set the TTL in our Redis cache?", CODE),
        ("redis vs memcached", RESEARCH),
        ("redis is underrated, honestly", CONVERSATIONAL),
        # Words are matched on their boundaries.
        ("what does the notebook_loader module do?", CODE),
        # Remarks that ask nothing, and requests that only rework an answer.
        ("well, that was a long day", CONVERSATIONAL),
        ("say that shorter", CONVERSATIONAL),
        ("are you sure?", CONVERSATIONAL),
        # The title of a ticket or a commit describes something, even if it begins like an order.
        ("Menu icon overlaps the logo on narrow screens", CODE),
        ("[Bug] Share dialog cannot be dismissed", CODE),
        ("fix(mailer): drop duplicate recipients", CODE),
        ("KeyError: 'invoice_id'", CODE),
        ("make: *** No rule to make target 'release'. Stop.", CODE),
        # General knowledge, in words that the project may use too.
        ("what is a deadlock", RESEARCH),
        ("how is MD5 computed", RESEARCH),
        ("convert 12 inches to centimetres", RESEARCH),
        # Decisions and plans, without the word `note`.
        ("Roadmap for the autumn", DOCUMENTATION),
        ("update me on the talks with the landlord", DOCUMENTATION),
        ("why did we turn down the second offer", DOCUMENTATION),
        # Everyday requests to write, and the question in the same words.
        ("remind me to call the garage on Friday", ACTION),
        ("remind me what we agreed with the garage", DOCUMENTATION),
        ("put olives on the shopping list", ACTION),
        ("great work on the migration notes!", CONVERSATIONAL),
        # Other languages.
        ("wo wird die Datei config.yaml geladen?", CODE),
        ("warum haben wir uns für Postgres entschieden?", DOCUMENTATION),
        ("merci beaucoup !", CONVERSATIONAL),
        ("crea una nota sobre el despliegue", ACTION),
    ],
)
def test_a_single_query_gets_its_type(query, expected):
    assert classify_query(query).query_type == expected, explain_query(query)


AFTER_CODE = asked("what does `flush` do?", "It drains the outbox table (outbox/flush.kt:40).")
AFTER_NOTES = asked(
    "what did we settle on for retries?", 'Thread "resilience": three tries, with jitter.'
)


@each_row(
    ("history", "query", "expected"),
    [
        (AFTER_CODE, "and where is that called?", CODE),
        (AFTER_CODE, "got it, cheers", CONVERSATIONAL),
        (AFTER_CODE, "ok, and did we ever write down why?", DOCUMENTATION),
        (AFTER_CODE, "write that down in the notes please", ACTION),
        (AFTER_CODE, "different topic: what's the price of a github team plan?", RESEARCH),
        (AFTER_NOTES, "and for timeouts?", DOCUMENTATION),
        (AFTER_NOTES, "is that what the http client in src/net/client.py does?", CODE),
        (asked("we go with uv", "Shall I record that as a decision?"), "yes please", ACTION),
        (
            asked("we go with uv", "Shall I record that as a decision?"),
            "no, leave it",
            CONVERSATIONAL,
        ),
        (asked("hm", "Should I look for where it is called in the code?"), "go ahead", CODE),
        (asked("hm", "Want me to search the web for the current version?"), "sure", RESEARCH),
        # An offer needs no question mark, and may be one of two.
        (
            asked("why was that?", "I'd have to check your notes for that."),
            "pls check",
            DOCUMENTATION,
        ),
        (asked("hm", "Shall I search the web for it, or look at the code?"), "the latter", CODE),
        # What follows a change is often another one.
        (asked("add Nils to the list of testers", "Added."), "also tag Maria", ACTION),
    ],
)
def test_the_last_turn_gets_its_type(history, query, expected):
    assert classify_query(query, history).query_type == expected, explain_query(query, history)


def test_history_may_hold_objects_as_well_as_mappings():
    as_objects = [SimpleNamespace(**turn) for turn in AFTER_CODE]
    assert classify_query("and the tests?", as_objects) == classify_query(
        "and the tests?", AFTER_CODE
    )


def test_a_turn_without_content_is_skipped():
    history = [*AFTER_CODE, {"role": "assistant", "content": None}, {}, object()]
    assert classify_query("thanks!", history).query_type == CONVERSATIONAL


def test_history_does_not_change_the_type_of_a_complete_turn():
    query = (
        "what is the difference between optimistic and pessimistic locking in databases in general?"
    )
    assert (
        classify_query(query, AFTER_CODE).query_type == classify_query(query).query_type == RESEARCH
    )


@pytest.mark.parametrize(
    "known", [{"Falcon"}, lambda term: term == "Falcon"], ids=["set", "callable"]
)
def test_known_terms_are_evidence_for_inside(known):
    query = "how does Falcon handle timeouts?"
    alone, informed = explain_query(query), explain_query(query, known_terms=known)
    assert informed.probabilities[RESEARCH] < alone.probabilities[RESEARCH]
    assert informed.probabilities[CODE] > alone.probabilities[CODE]


@each_row(
    ("query", "known", "expected"),
    [
        ("what does Frobnicator do?", {"Frobnicator"}, CODE),
        ("what does Frobnicator do?", set(), RESEARCH),
        ("tell me about tide tables", {"tide tables"}, CODE),
        ("What is Python?", {"Python", "python"}, RESEARCH),
        ("what is error handling in general?", {"error handling"}, RESEARCH),
        ("Retry policies in general?", {"Retry"}, RESEARCH),
        ("thanks Frobnicator", {"Frobnicator"}, CONVERSATIONAL),
        ("write a note about Frobnicator", {"Frobnicator"}, ACTION),
    ],
)
def test_a_name_that_only_we_have_makes_it_a_question_about_this_project(query, known, expected):
    assert classify_query(query, known_terms=known).query_type == expected


@pytest.mark.parametrize(
    ("files", "other"),
    [({"Falcon": 0}, {"Falcon": 1}), ({"Falcon": 1}, {"Falcon": 15}), ({"Falcon": 15}, {})],
)
def test_a_term_says_the_more_the_fewer_files_have_it_and_the_projects_name_most(files, other):
    """The name of the project has 0. If nothing is known, that says something as well."""
    query = "how does Falcon handle timeouts?"
    more, less = (explain_query(query, known_terms=known).probabilities for known in (files, other))
    assert more[RESEARCH] < less[RESEARCH]


def test_what_the_project_does_not_know_is_rather_asked_about_the_world():
    query = "how does zoning work?"
    alone, informed = (explain_query(query, known_terms=known) for known in (None, {}))
    assert informed.probabilities[CODE] < alone.probabilities[CODE]


def test_the_name_of_the_project_makes_it_a_question_about_the_project():
    query = "how does flask dispatch a request?"
    assert classify_query(query).query_type == RESEARCH
    assert classify_query(query, known_terms={"flask": 0}).query_type == CODE


@pytest.mark.parametrize(
    ("broad", "narrow"),
    [
        ("How does tracing work across the gateway and the jobs?", "How is a trace id made?"),
        ("What are the components of the exporter?", "Which component names the export?"),
        ("Trace a booking from the form to the invoice", "Trace where the booking id is set"),
        ("Compare the three importers", "Compare the two defaults in importer.py"),
        ("Explain the design of the session store", "Explain the default in session.py"),
        ("Which converters exist and how do they differ?", "Which converter reads dates?"),
        ("the crawler: fetching, parsing, storing, ranking", "the crawler's user agent"),
    ],
)
def test_a_question_for_many_places_is_broad(broad, narrow):
    assert classify_query(broad).breadth >= 0.4 > classify_query(narrow).breadth


def test_all_that_a_classification_asks_for_can_be_looked_up_before_it():
    offer = [{"role": "assistant", "content": "It is so. Shall I explain Frobnicator?"}]
    for query, history in (("what does Tide Table do?", ()), ("yes please", offer)):
        asked = set()
        classify_query(query, history, lambda term, asked=asked: asked.add(term) or False)
        assert asked
        assert asked <= set(terms_to_look_up(query, history))
    assert "Frobnicator" in terms_to_look_up("yes please", offer)


def test_a_broad_question_is_broader_than_a_narrow_one():
    broad = classify_query(
        "list every place in the codebase where we open files without an encoding"
    )
    narrow = classify_query("what does parse_header return?")
    assert broad.breadth > 0.5 > narrow.breadth


anything = st.text() | st.text(alphabet="aé漢👍\x00\u202e`\"'?!.\n /_-ADR12", max_size=300)
turns = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": anything})
)


@given(anything, turns)
def test_every_query_has_a_valid_answer_and_always_the_same(query, history):
    found = classify_query(query, history)
    assert 0 <= found.confidence <= 1
    assert found.runner_up not in (None, found.query_type)
    assert found == classify_query(query, history)


@given(st.text(alphabet="abcdefghij whereisnotpe?_.", max_size=60))
def test_the_needs_are_those_of_the_type_or_of_the_two_best(query):
    explained = explain_query(query)
    found = explained.classification
    first, second, *_ = explained.probabilities.values()
    needs = (found.needs_code, found.needs_vault, found.needs_web)
    if first - second >= MARGIN:
        assert needs == NEEDS[found.query_type]
    else:
        best, other = NEEDS[found.query_type], NEEDS[found.runner_up]
        assert needs == tuple(a or b for a, b in zip(best, other, strict=True))


@pytest.mark.parametrize(
    "query",
    ["list every place that warns about a bad descriptor", "find all places that warn about bad x"],
)
def test_a_broad_question_is_not_small_talk(query):
    found = classify_query(query)
    assert found.breadth >= BROAD
    assert (found.query_type, found.needs_code) == (CODE, True)


def test_thanks_for_everything_stay_thanks():
    found = classify_query("thanks for everything, all of it")
    assert found.breadth >= BROAD
    assert (found.query_type, found.needs_code) == (CONVERSATIONAL, False)


@each_row(
    ("query", "needs_code"),
    [
        ("what did we decide about retries and where is it in the code?", True),
        ("why did we choose sqlite and where is that implemented?", True),
        ("where is the retry policy implemented, and why did we choose it?", True),
        ("where did we write down the decision about code style?", False),
        ("what did we decide about retries?", False),
    ],
)
def test_a_decision_and_its_place_in_the_code_need_both(query, needs_code):
    found = classify_query(query)
    assert (found.needs_vault, found.needs_code) == (True, needs_code)


@each_row("query", ["", "   ", "\n\t", "…", "🎉🎉", "\x00\x01", "\ud800"])
def test_nothing_said_asks_for_nothing(query):
    assert classify_query(query).query_type == CONVERSATIONAL


def test_a_pasted_log_costs_no_more_than_a_paragraph():
    log = "2025-03-04 ERROR worker: write failed, giving up attempts=1\n" * 2_000
    classify_query("warm up")
    question = f"why does the worker do this?\n{log}"
    assert classify_query(question).query_type == CODE
    assert takes_less(lambda: classify_query(question), 0.05)


@each_row("unit", ["/", "-", "a.", "a_", '"', "`", "(", "a(", "::", "é", "漢", "yes "])
def test_no_repetition_makes_it_slow(unit):
    classify_query("warm up")
    before = asked("hm", "Shall I log it?")
    assert takes_less(lambda: classify_query(unit * 1_000, before), 0.05)


@pytest.mark.extra
def test_another_process_with_another_hash_seed_says_the_same():
    query = "does the importer skip blank lines, and who decided that?"
    program = (
        "from oracle.services.classification.classifier import explain_query;"
        f"print(explain_query({query!r}))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{explain_query(query)}\n"}


def test_nothing_heavier_than_the_standard_library_is_imported():
    program = """
import sys
before = set(sys.modules)
from oracle.services.classification.classifier import classify_query
classify_query("hi")
roots = {name.split(".")[0] for name in set(sys.modules) - before}
print(roots - set(sys.stdlib_module_names))
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "{'oracle'}"


def test_an_answer_explains_itself():
    explained = explain_query("what did we decide about caching?")
    assert any("decide" in keyword for keyword in explained.classification.keywords_matched)
    assert explained.sketch == "what did we decide about w ?"
    assert set(explained.evidence) == set(QueryType)


def test_an_accepted_offer_is_read_as_the_query_that_it_would_be():
    history = asked("we go with uv", "Shall I record that as a decision?")
    assert explain_query("yes please", history).read_as == "record that as a decision"


def test_the_weights_are_those_of_the_lines_of_the_file():
    text = files("oracle.services.classification").joinpath("weights.txt").read_text("utf-8")
    by_line = {group: {} for group in SHARES}
    for line in text.splitlines()[1:]:
        group, name, code = line.split("\t")
        by_line[group][name] = code
    assert linear_model().weights == by_line
