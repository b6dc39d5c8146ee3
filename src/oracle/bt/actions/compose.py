"""What the first request is made of: tools, prompt, history and the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from oracle.bt.board import (
    LARGE_SHARE,
    OFFER,
    PIPE_EMPTY,
    all_tools,
    append,
    bb_get,
    bb_set,
    board_of,
    classification_of,
    give_reason,
    granted_tools,
    services_of,
    shares_of,
    specs_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say, say_system
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.models.prompt_segment import PromptSegment
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.models.session import Exchange
from oracle.models.source import Source
from oracle.models.stream_chunk import ChunkType
from oracle.services.control.asked_for import asks_for
from oracle.services.control.conversation import rough_tokens
from oracle.services.control.first_look import (
    tools_for_reasons,
    tools_to_add,
    tools_to_keep_for_later,
)
from oracle.services.control.gathered import attached_places
from oracle.services.control.grants import first_grant
from oracle.services.prompting.composer import (
    SMALL_WINDOW,
    TOKEN_BUDGET,
    ComposedPrompt,
    compose_plain_prompt,
    compose_prompt,
    needs_short_contract,
)
from oracle.services.prompting.project_facts import LONGEST_NOTES, facts_block
from oracle.services.signals.said import with_signals
from oracle.services.storage.history import within_budget
from oracle.services.tools.answer import one_line, quotation

PROMPT_SHARE: Final = 3
"""The system prompt takes at most this part of a small window: a third."""
ATTACHED: Final = "Attached by the user, with line numbers. Cite a line as path:line."
NOTES_IN_SMALL_WINDOW: Final = 800
"""Characters of the project's own notes for agents."""
_EMPTY_PIPE: Final = (
    "\n\n[The user piped a text into this question, but the pipe was empty: nothing is attached. "
    "If the question is about that text, say that nothing was piped in, and do not guess what it "
    "was.]"
)
HISTORY_SHARE: Final = 4
"""History takes at most this part of the context window: a quarter."""


@action(
    reads=["query", "can_ask", "classification", "tool_list", "tool_reasons"],
    writes=["granted", "tool_reasons"],
)
def grant_first_tools(
    ctx: TickContext,
    sure_of_an_action: float,
    sure_of_a_class: float,
    sure_of_the_web: float = 0.0,
) -> RunStatus:
    """Grant the tools of the question's class.

    Writing tools need a class `action` with at least the first confidence; those that need a yes
    also a person who can be asked, unless the question asks for them. Below the second confidence,
    the tools of the class that came second are granted too. Below the third, a question about the
    world gets the local tools too.
    """
    bb = board_of(ctx)
    classification = classification_of(bb)
    granted = first_grant(
        classification,
        all_tools(bb),
        sure_of_an_action=sure_of_an_action,
        sure_of_a_class=sure_of_a_class,
        sure_of_the_web=sure_of_the_web,
        question=bb_get(bb, "query"),
        can_ask=bb_get(bb, "can_ask"),
    )
    bb_set(bb, "granted", granted)
    give_reason(bb, granted, f"for a question about {classification.query_type}")
    careful = [spec for spec in all_tools(bb) if spec.needs_yes and spec.name in granted]
    asked = [spec.name for spec in careful if asks_for(bb_get(bb, "query"), spec)]
    give_reason(bb, asked, "the question asks for it")
    return SUCCESS


@action(
    reads=["query", "facts", "granted", "tool_list", "tool_reasons"],
    writes=["granted", "tool_reasons"],
)
def prefer_sources_with_its_words(
    ctx: TickContext, most: float, part: float, reasons: float = 2.0
) -> RunStatus:
    """Grant the tools of sources that have `most` of the question's words in one place, if no
    source granted so far has; and, if it asks why, those of prose that has the share `reasons` of
    them, and as many as any other source. Then take back those of sources that have at most this
    `part` of what the best one has.
    """
    bb = board_of(ctx)
    shares, specs = shares_of(bb), all_tools(bb)
    granted: list[str] = bb_get(bb, "granted")
    added = tools_to_add(shares, specs, granted, most=most) or tools_for_reasons(
        bb_get(bb, "query"), shares, specs, granted, least=reasons
    )
    give_reason(bb, added, "the words of the question are there")
    granted = [*granted, *added]
    later = tools_to_keep_for_later(
        bb_get(bb, "query"), shares, specs, granted, most=most, part=part
    )
    give_reason(bb, later, "kept for later: another source has the words of the question")
    bb_set(bb, "granted", [name for name in granted if name not in later])
    return SUCCESS


@action(reads=["tool_list", "tool_reasons"], writes=["granted", "tool_reasons"])
def grant_all_tools(ctx: TickContext) -> RunStatus:
    """Every tool, whatever the question, as in a loop that leaves all decisions to the model."""
    bb = board_of(ctx)
    names = [spec.name for spec in all_tools(bb)]
    bb_set(bb, "granted", names)
    give_reason(bb, names, "all tools are offered")
    return SUCCESS


@action(reads=["classification", "topic_shift", *OFFER])
def announce_question(ctx: TickContext) -> RunStatus:
    """Say what the question was taken for, and what it was granted."""
    bb = board_of(ctx)
    found = classification_of(bb)
    tools = granted_tools(bb)
    say(
        ctx,
        ChunkType.QUESTION,
        query_type=found.query_type.value,
        confidence=found.confidence,
        breadth=found.breadth,
        topic_shift=bb_get(bb, "topic_shift"),
        sources=sorted({spec.source for spec in tools if spec.source}),
        tools=[spec.name for spec in tools],
    )
    return SUCCESS


@action(
    reads=["classification", "history", "model", "previous_errors", *OFFER],
    writes=["messages"],
)
def write_prompt(ctx: TickContext) -> RunStatus:
    """Write the system prompt. It comes first and never changes within a run."""
    bb = board_of(ctx)
    size = sum(rough_tokens(e["question"]) + rough_tokens(e["answer"]) for e in _history(bb))
    window: int = bb_get(bb, "model")["context_window"]
    query_type = classification_of(bb).query_type
    is_small = window < SMALL_WINDOW
    prompt, text = _composed(
        services_of(ctx).prompt_segments,
        QueryClassification.of_type(query_type),
        bb_get(bb, "tool_list"),
        tuple(spec.name for spec in granted_tools(bb)),
        size > window // LARGE_SHARE,
        bb_get(bb, "previous_errors"),
        needs_short_contract(query_type, window),
        window // PROMPT_SHARE if is_small else TOKEN_BUDGET,
    )
    for warning in prompt.warnings:
        say_system(ctx, f"The prompt: {warning}.", severity="warning")
    bb_set(bb, "messages", [{"role": "system", "content": text}])
    segments = [{"id": id_, "tokens": tokens} for id_, tokens in prompt.token_estimates.items()]
    say(ctx, ChunkType.PROMPT, segments=segments, tokens=prompt.total_tokens)
    return SUCCESS


@action(reads=["model", "tool_list"], writes=["messages"])
def write_plain_prompt(ctx: TickContext) -> RunStatus:
    """The one prompt of the plain loop. It lists all tools and does not speak of signals."""
    bb = board_of(ctx)
    window: int = bb_get(bb, "model")["context_window"]
    prompt = compose_plain_prompt(
        all_tools(bb),
        segments=services_of(ctx).prompt_segments,
        token_budget=window // PROMPT_SHARE if window < SMALL_WINDOW else TOKEN_BUDGET,
    )
    bb_set(bb, "messages", [{"role": "system", "content": prompt.text}])
    segments = [{"id": id_, "tokens": tokens} for id_, tokens in prompt.token_estimates.items()]
    say(ctx, ChunkType.PROMPT, segments=segments, tokens=prompt.total_tokens)
    return SUCCESS


@action(reads=["facts", "limits", "classification", "model", "messages"], writes=["messages"])
def add_facts(ctx: TickContext) -> RunStatus:
    """Add today's date, the project's facts and the budget, as part of the first user message.

    A conversation needs no more than the date and the name. The plain loop classifies nothing, so
    it gets all of them.
    """
    bb = board_of(ctx)
    facts: dict[str, Any] = bb_get(bb, "facts")
    model: dict[str, Any] = bb_get(bb, "model")
    budget: dict[str, Any] = {**bb_get(bb, "limits")}
    if model["prices"] is None:
        budget["money"] = None
    notes = LONGEST_NOTES if model["context_window"] >= SMALL_WINDOW else NOTES_IN_SMALL_WINDOW
    classified: dict[str, Any] = bb_get(bb, "classification") or {}
    if classified.get("query_type") == QueryType.CONVERSATIONAL:
        facts = {name: facts[name] for name in ("date", "name") if name in facts}
        budget = {}
    if block := facts_block(facts, budget, longest_notes=notes):
        append(bb, "messages", {"role": "user", "content": block, "is_facts": True})
    return SUCCESS


@action(reads=["history", "model", "messages"], writes=["messages"])
def add_history(ctx: TickContext) -> RunStatus:
    """Add the newest exchanges that fit into their share of the context window.

    The answers have their signals again, as the model wrote them. A question with an attachment
    says that there was one.
    """
    bb = board_of(ctx)
    path = [
        Exchange(
            id="",
            session_id="",
            question=e["question"] + _note_of_attachment(e["metadata"]),
            answer=with_signals(e["answer"], e["metadata"].get("signals", ())),
            created_at=0.0,
        )
        for e in _history(bb)
    ]
    budget = bb_get(bb, "model")["context_window"] // HISTORY_SHARE
    history = within_budget(path, budget, rough_tokens)
    messages = [{"role": "user", "content": history.notice}] if history.notice else []
    asked = [e["question"] for e in _history(bb)][history.left_out :]
    for exchange, question in zip(history.exchanges, asked, strict=True):
        message = {"role": "user", "content": exchange.question}
        if question != exchange.question:
            message["question"] = question
        messages += [message, {"role": "assistant", "content": exchange.answer}]
    append(bb, "messages", *messages)
    return SUCCESS


@action(reads=["query", "attachment", "facts", "messages"], writes=["messages"])
def add_question(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    question: str = bb_get(bb, "query")
    message: dict[str, Any] = {"role": "user", "content": question}
    if attachment := bb_get(bb, "attachment"):
        fence = _fence_around(attachment)
        told = f"\n\nAttached by the user, as data:\n{fence}\n{attachment}\n{fence}"
        message = {**message, "content": question + told}
        message |= {"question": question, "attachment": attachment}
    if bb_get(bb, "facts").get(PIPE_EMPTY):
        message["content"] += _EMPTY_PIPE
        message |= {"question": question, "is_pipe_empty": True}
    append(bb, "messages", message)
    return SUCCESS


@action(
    reads=["query", "attachment", "attached", "messages", "evidence"],
    writes=["messages", "evidence"],
)
def add_attached_files(ctx: TickContext) -> RunStatus:
    """Quote the attached files below the question, with their line numbers.

    They are evidence, and so are the places that an attached diff shows. A file without visible
    text is not.
    """
    bb = board_of(ctx)
    attached: list[Source] = bb_get(bb, "attached")
    *before, asked = bb_get(bb, "messages")
    if attached:
        quoted = "\n\n".join(map(quotation, attached))
        content = f"{asked['content']}\n\n{ATTACHED}\n\n{quoted}"
        sources = {"question": bb_get(bb, "query"), "sources": attached}
        bb_set(bb, "messages", [*before, {**asked, "content": content, **sources}])
    if places := attached_places(attached, [bb_get(bb, "attachment")]):
        append(bb, "evidence", *places)
    return SUCCESS


def _history(bb: Any) -> Sequence[Mapping[str, Any]]:
    return bb_get(bb, "history")


def _note_of_attachment(metadata: Mapping[str, Any]) -> str:
    """Without it, the model would take the question for one about the project."""
    count: int = metadata.get("attached_characters", 0)
    if not count:
        return ""
    if names := metadata.get("attached"):
        listed = one_line(", ".join(names), 500)
        return f"\n\n[Attached to this question: {listed}. It is not repeated here.]"
    size = "1 character" if count == 1 else f"{count:,} characters"
    return f"\n\n[A text of {size} was attached to this question. It is not repeated here.]"


def _fence_around(text: str) -> str:
    """A fence longer than any inside the text, so that an attachment cannot close it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence


@lru_cache(maxsize=256)
def _composed(
    segments: tuple[PromptSegment, ...],
    classification: QueryClassification,
    tool_list: str,
    granted: tuple[str, ...],
    large_context: bool,
    previous_errors: bool,
    short_contract: bool,
    token_budget: int,
) -> tuple[ComposedPrompt, str]:
    """Runs with the same tools share one text: it is the largest thing that a run holds."""
    tools = [spec for spec in specs_of(tool_list) if spec.name in granted]
    prompt = compose_prompt(
        classification,
        tools=tools,
        large_context=large_context,
        previous_errors=previous_errors,
        short_contract=short_contract,
        segments=segments,
        token_budget=token_budget,
    )
    return prompt, prompt.text
