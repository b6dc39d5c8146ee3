"""Composes the system prompt of a run from segments.

The result is byte-for-byte reproducible, so that providers can cache it. The text does not contain
what differs between two runs of one query type: the question, the date, the order of granting. What
depends on the state of the conversation comes last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.lazy_dataclass import dataclass
from oracle.models.prompt_segment import (
    ALWAYS,
    FULL_CONTRACT,
    LARGE_CONTEXT,
    PLAIN_LOOP,
    PREVIOUS_ERRORS,
    SHORT_CONTRACT,
    query_type_is,
)
from oracle.models.query_classification import QueryType
from oracle.services.prompting.segment_files import (
    CHOICES_PLACEHOLDER,
    CONTRACTS,
    LISTS_TOOLS,
    OWN_SEGMENTS,
    REQUIRED,
    TOOLS_PLACEHOLDER,
    built_in_segments,
)
from oracle.services.prompting.tokens import estimate_tokens
from oracle.services.prompting.tool_listing import list_choices, list_tools

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from oracle.models.prompt_segment import PromptSegment
    from oracle.models.query_classification import QueryClassification
    from oracle.models.tool_spec import ToolSpec

TOKEN_BUDGET = 8_000
"""The built-in segments take about half. The rest is for tools and a project's own segments."""
SMALL_WINDOW = 16_000
"""Tokens. A model with a smaller context window gets the short form of the signal contract."""
LONG_SHARE = 5
"""A project's segment is long from this part of the budget on: a fifth."""
NO_TOOLS = (
    "No tools are granted at the start: answer from the conversation, or emit `need_capability`. "
    "A system message may grant some later; then that counts."
)


@dataclass(frozen=True, kw_only=True)
class ComposedPrompt:
    """`segments` are those of the text, in order, with their contents as sent."""

    segments: tuple[PromptSegment, ...]
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n\n".join(segment.content for segment in self.segments) + "\n"

    @property
    def segment_ids(self) -> tuple[str, ...]:
        return tuple(segment.id for segment in self.segments)

    @property
    def token_estimates(self) -> dict[str, int]:
        return {segment.id: segment.token_estimate for segment in self.segments}

    @property
    def total_tokens(self) -> int:
        return sum(segment.token_estimate for segment in self.segments)


def needs_short_contract(query_type: QueryType, context_window: int | None) -> bool:
    """In a small window there is no room for the full form, and a conversation does not need it."""
    is_small = context_window is not None and context_window < SMALL_WINDOW
    return is_small or query_type is QueryType.CONVERSATIONAL


def compose_prompt(
    classification: QueryClassification,
    *,
    tools: Collection[ToolSpec] = (),
    large_context: bool = False,
    previous_errors: bool = False,
    short_contract: bool = False,
    segments: Sequence[PromptSegment] | None = None,
    token_budget: int = TOKEN_BUDGET,
) -> ComposedPrompt:
    """Compose the prompt within the budget.

    Over budget, optional segments are dropped, but never the one of the question's type. If those
    that stay exceed the budget alone, the list of tools is shortened. An optional segment is kept
    if it still fits after those before it. A later segment never affects an earlier one, so the
    beginning of the prompt stays the same.

    `tools` are the granted ones. With `short_contract` the signals are explained in short.
    `segments` come from `load_segments` if a project has its own.
    Raises `ValueError` if a required segment is missing.
    """
    facts = {ALWAYS, query_type_is(classification.query_type)}
    facts |= {SHORT_CONTRACT if short_contract else FULL_CONTRACT}
    facts |= {LARGE_CONTEXT} if large_context else set()
    facts |= {PREVIOUS_ERRORS} if previous_errors else set()
    chosen = _in_order(built_in_segments() if segments is None else segments, facts)

    rendered = [_rendered(segment, tools) for segment in chosen]
    shortened = bool(tools) and _required_tokens(rendered) > token_budget
    if shortened:
        rendered = [_rendered(segment, tools, brief=True) for segment in chosen]
    kept = _kept(rendered, token_budget)
    dropped = [segment.id for segment in reversed(rendered) if segment not in kept]
    required_tokens = _required_tokens(kept)
    warnings = [_long_warning(s, token_budget) for s in kept if _is_long(s, token_budget)]
    if dropped:
        warnings.append(_dropped_warning(dropped, token_budget))
    if shortened:
        warnings.append("the list of tools was shortened to names and first sentences")
    if required_tokens > token_budget:
        warnings.append(_excess_warning(required_tokens, token_budget))
    return ComposedPrompt(segments=tuple(kept), warnings=tuple(warnings))


def compose_plain_prompt(
    tools: Collection[ToolSpec],
    *,
    segments: Sequence[PromptSegment] | None = None,
    token_budget: int = TOKEN_BUDGET,
) -> ComposedPrompt:
    """The one prompt of the plain loop, whatever the question. It lists all tools."""
    known = built_in_segments() if segments is None else segments
    chosen = [segment for segment in known if segment.applies({PLAIN_LOOP})]
    rendered = [_rendered(segment, tools) for segment in chosen]
    if sum(segment.token_estimate for segment in rendered) > token_budget:
        rendered = [_rendered(segment, tools, brief=True) for segment in chosen]
    return ComposedPrompt(segments=tuple(rendered))


def _in_order(segments: Sequence[PromptSegment], facts: set[str]) -> list[PromptSegment]:
    applicable = [segment for segment in segments if segment.applies(facts)]
    found = {segment.id for segment in applicable}
    missing = set(REQUIRED) - found
    if not found.isdisjoint(CONTRACTS):
        missing.discard(CONTRACTS[0])
    if missing:
        raise ValueError(
            f"the segments lack {', '.join(sorted(missing))}; start from load_segments"
        )
    return sorted(applicable, key=lambda segment: (segment.priority, segment.id))


def _rendered(
    segment: PromptSegment, tools: Collection[ToolSpec], *, brief: bool = False
) -> PromptSegment:
    if segment.id not in LISTS_TOOLS:
        return segment
    content = NO_TOOLS
    if tools:
        choices = "" if brief else list_choices(tools)
        # First the choices: a description that contains a placeholder must not be replaced.
        content = segment.content.replace(
            f"{CHOICES_PLACEHOLDER}\n\n", choices and f"{choices}\n\n"
        )
        content = content.replace(TOOLS_PLACEHOLDER, list_tools(tools, brief=brief))
    return replace(segment, content=content, token_estimate=estimate_tokens(content))


def _required_tokens(segments: Sequence[PromptSegment]) -> int:
    return sum(segment.token_estimate for segment in segments if _stays(segment))


def _stays(segment: PromptSegment) -> bool:
    """Whatever the budget: without it the model could not answer a question of this type."""
    return segment.id in REQUIRED or segment.id in CONTRACTS or segment.id in OWN_SEGMENTS


def _kept(segments: Sequence[PromptSegment], token_budget: int) -> list[PromptSegment]:
    free = token_budget - _required_tokens(segments)
    kept: list[PromptSegment] = []
    for segment in segments:
        if _stays(segment):
            kept.append(segment)
        elif segment.token_estimate <= free:
            kept.append(segment)
            free -= segment.token_estimate
    return kept


def _is_long(segment: PromptSegment, token_budget: int) -> bool:
    """Only a project's own segment: nobody can shorten the others."""
    return segment.from_project and segment.token_estimate > token_budget // LONG_SHARE


def _long_warning(segment: PromptSegment, token_budget: int) -> str:
    return (
        f"the project's segment {segment.id!r} takes {segment.token_estimate} of {token_budget} "
        "tokens in every prompt that it is part of; shorten it"
    )


def _dropped_warning(ids: Sequence[str], token_budget: int) -> str:
    return f"left out to stay within {token_budget} tokens: {', '.join(ids)}"


def _excess_warning(tokens: int, token_budget: int) -> str:
    return (
        f"the required segments take {tokens} tokens, more than the {token_budget} allowed; "
        "shorten them or grant fewer tools"
    )
