"""What signals.md says is what the parser does and what the table of signals declares."""

import re
from collections.abc import Iterator

import pytest

from oracle.models.signals import SIGNALS, FieldSpec, SignalType
from oracle.services.prompting.segment_files import built_in_segments
from oracle.services.signals.parser import parse_signal, strip_signal
from tests.tables import each_row

TEXT = next(segment.content for segment in built_in_segments() if segment.id == "signals")
KINDS = {"str": "text", "int": "count", "list[str]": "list"}


def _blocks(tag: str) -> Iterator[tuple[dict[str, str], str]]:
    for attributes, body in re.findall(rf"<{tag} (.*?)>\n(.*?)\n</{tag}>", TEXT, re.S):
        yield dict(re.findall(r'(\w+)="(.*?)"', attributes)), body


def _section(heading: str) -> str:
    level = heading.split()[0]
    return re.split(rf"^#{{1,{len(level)}}} ", TEXT.split(f"\n{heading}\n")[1], flags=re.M)[0]


EXAMPLES = list(_blocks("example"))
BAD_EXAMPLES = list(_blocks("bad_example"))


@each_row(
    "heading",
    ["## Format", "## When to emit each type", "## Confidence", "## Examples", "## Anti-patterns"],
)
def test_it_has_the_five_parts(heading: str) -> None:
    assert f"\n{heading}\n" in TEXT


@pytest.mark.parametrize("level", ["0.3", "0.7", "0.9"])
def test_it_says_what_a_confidence_means(level: str) -> None:
    assert f"- {level}: " in _section("## Confidence")


@each_row("type_", SignalType)
def test_it_declares_just_the_fields_of_each_type(type_: SignalType) -> None:
    def line(field: FieldSpec) -> str:
        return f"{field.name} ({'required' if field.required else 'optional'}, {KINDS[field.kind]})"

    declared = re.findall(r"^- `(\w+)` (\(.*?\))", _section(f"### `{type_}`"), re.M)
    expected = [line(field) for field in SIGNALS[type_].fields]
    assert [f"{name} {kind}" for name, kind in declared] == expected


def test_it_ranks_all_types() -> None:
    ranking = re.search(r"in this order: (.*?)\.", TEXT)
    assert ranking
    assert sorted(re.findall(r"`(\w+)`", ranking[1])) == sorted(SignalType)


def test_every_type_has_an_example() -> None:
    assert {attributes["type"] for attributes, _ in EXAMPLES} == set(SignalType)


@each_row(("attributes", "response"), EXAMPLES)
def test_every_example_is_read_as_it_is_meant(attributes: dict[str, str], response: str) -> None:
    signal = parse_signal(response)
    assert signal is not None
    assert signal.type == attributes["type"]
    assert signal.confidence == float(attributes["confidence"])
    assert response.rstrip().endswith("</signal>")
    assert response.count("<signal ") == 1
    assert "<" not in strip_signal(response)


def test_the_examples_use_every_field() -> None:
    for type_, spec in SIGNALS.items():
        signals = [
            parse_signal(body) for attributes, body in EXAMPLES if attributes["type"] == type_
        ]
        used = {name for signal in signals if signal for name in signal.fields}
        assert used == {field.name for field in spec.fields}


@each_row(("attributes", "response"), BAD_EXAMPLES)
def test_every_anti_pattern_does_what_it_says(attributes: dict[str, str], response: str) -> None:
    signal = parse_signal(response)
    assert (signal.type if signal else "none") == attributes["read_as"]
    shown = strip_signal(response).strip()
    assert (shown == response.strip()) is (attributes.get("shown") == "yes")


def test_nothing_that_looks_like_a_signal_stands_outside_the_blocks() -> None:
    rest = re.sub(r"<(format|example|bad_example)\b.*?</\1>", "", TEXT, flags=re.S)
    assert "<signal" not in rest


def test_no_signal_is_shown_in_a_code_fence() -> None:
    assert "```" not in TEXT


def test_the_short_form_declares_the_same_fields() -> None:
    short = next(s.content for s in built_in_segments() if s.id == "signals-short")
    for type_, spec in SIGNALS.items():
        (line,) = re.findall(rf"^- `{type_}`: .*$", short, re.M)
        fields = line.split(". `", 1)[1]
        assert set(re.findall(r"(?:^|`)(\w+)`", fields)) == {field.name for field in spec.fields}
        optional = set(re.findall(r"\[`(\w+)`", line))
        assert optional == {field.name for field in spec.fields if not field.required}


def test_the_example_of_the_short_form_is_read_as_it_is_meant() -> None:
    short = next(s.content for s in built_in_segments() if s.id == "signals-short")
    ((attributes, response),) = re.findall(r"<example (.*?)>\n(.*?)\n</example>", short, re.S)
    signal = parse_signal(response)
    assert signal is not None
    assert f'type="{signal.type}" confidence="{signal.confidence}"' == attributes
