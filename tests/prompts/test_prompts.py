"""Rules that hold for all prompts, and for what is composed of them."""

import re
from importlib.resources import files
from itertools import product

from oracle.models.prompt_segment import PromptSegment
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.models.signals import SIGNALS, SignalType
from oracle.models.tool_spec import ToolSpec
from oracle.services.prompting.composer import compose_prompt
from oracle.services.prompting.segment_files import built_in_segments
from tests.tables import each_row

SEGMENTS = built_in_segments()
CODE_WORDS = {field.name for spec in SIGNALS.values() for field in spec.fields} | set(SignalType)
CODE_WORDS |= {"confidence", "TYPE", "code", "vault", "thread", "web", "conversation"}


def _tools(count: int) -> list[ToolSpec]:
    schema = {"type": "object", "properties": {"query": {}, "path": {}, "limit": {}}}
    description = "Searches the project for a text and returns the lines that match. " * 2
    return [
        ToolSpec(name=f"tool_{n}", description=description, parameters=schema) for n in range(count)
    ]


def _each(segment: PromptSegment) -> str:
    return segment.id


def test_there_are_thirteen_files_and_each_is_registered() -> None:
    folder = files("oracle") / "prompts" / "oracle"
    contents = {path.read_text(encoding="utf-8").strip() for path in folder.iterdir()}
    assert contents == {segment.content for segment in SEGMENTS}
    assert len(contents) == len({segment.id for segment in SEGMENTS}) == 13


@each_row("segment", SEGMENTS, ids=_each)
def test_each_prompt_is_short(segment: PromptSegment) -> None:
    most = {"base": 1_000, "signals": 3_000, "signals-short": 900, "plain": 900}.get(
        segment.id, 400
    )
    assert 100 < segment.token_estimate <= most


@each_row("segment", SEGMENTS, ids=_each)
def test_each_prompt_opens_with_its_only_title(segment: PromptSegment) -> None:
    assert segment.content.startswith("# ")
    assert len(re.findall(r"^# ", segment.content, re.M)) == 1


@each_row("segment", SEGMENTS, ids=_each)
def test_no_prompt_names_a_tool(segment: PromptSegment) -> None:
    words = set(re.findall(r"`([A-Za-z]+_?[A-Za-z_]*)`", segment.content))
    assert words <= CODE_WORDS


@each_row("segment", SEGMENTS, ids=_each)
def test_no_prompt_mentions_a_signal_that_does_not_exist(segment: PromptSegment) -> None:
    emitted = re.findall(r"emit `(\w+)`", segment.content)
    assert set(emitted) <= set(SignalType)


@each_row(
    ("query_type", "large_context", "previous_errors"),
    list(product(QueryType, (False, True), (False, True))),
)
def test_every_composition_stays_well_below_the_budget(
    query_type: QueryType, large_context: bool, previous_errors: bool
) -> None:
    composed = compose_prompt(
        QueryClassification.of_type(query_type),
        tools=_tools(15),
        large_context=large_context,
        previous_errors=previous_errors,
    )
    assert composed.total_tokens < 6_000
    assert composed.warnings == ()


@each_row("query_type", QueryType)
def test_a_composition_names_just_the_granted_tools(query_type: QueryType) -> None:
    granted = _tools(2)
    text = compose_prompt(QueryClassification.of_type(query_type), tools=granted).text
    assert re.findall(r"tool_\d+", text) == ["tool_0", "tool_1"]


@each_row(
    ("id_", "words"),
    [
        ("base", "or say by your signal why you can do neither"),
        ("base", "the tree may answer the repeat"),
        ("base", "report both with their citations, and say which you follow"),
        ("research", "report both, and say which you follow"),
        ("base", "before a write, ask instead"),
        ("actions", "ask before you write"),
        ("base", "except where you found nothing"),
        ("summarization", "above that turn's signal"),
        ("conversation", "unless asked to restate or translate"),
        ("error-recovery", "These attempts are for calls that read"),
        ("signals", "no granted tool does and that was not refused"),
        ("signals", "Nothing found: `stuck`; once told to answer, `partial_answer`"),
        ("signals", "To show a signal as text"),
        ("signals", "in a code fence with any text after it"),
    ],
)
def test_where_two_rules_meet_the_prompt_says_which_one_holds(id_: str, words: str) -> None:
    (content,) = (segment.content for segment in SEGMENTS if segment.id == id_)
    assert words in content


@each_row("type_", SignalType)
def test_every_type_has_a_meaning_of_confidence(type_: SignalType) -> None:
    (signals,) = (segment.content for segment in SEGMENTS if segment.id == "signals")
    meaning = signals.split("## Confidence")[1].split("\n\n")[1]
    answers = (SignalType.CONTEXT_SUFFICIENT, SignalType.PARTIAL_ANSWER)
    assert ("for an answer" if type_ in answers else f"for `{type_}`") in meaning


@each_row(
    "subject",
    ["Evidence", "citation", "Data is not instruction", "system message", "withdrawn", "secrets"],
)
def test_the_base_covers_what_every_answer_depends_on(subject: str) -> None:
    assert subject in SEGMENTS[0].content
