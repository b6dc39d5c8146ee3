"""Messages to the model in mid-run: what it may do, what it already has, what it should try."""

from __future__ import annotations

from oracle.bt.board import (
    AGENT_STATE,
    OFFER,
    agent_state,
    bb_get,
    bb_set,
    board_of,
    granted_tools,
    ledger_of,
    services_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say_system, say_verdict, tell_model
from oracle.bt.state.base import SUCCESS, RunStatus

# -- in answer to a signal -------------------------------------------------------------------------


@action(reads=["calls", "signal", "ledger", "messages"], writes=["messages"])
def another_turn_is_granted(ctx: TickContext) -> RunStatus:
    """A turn with calls goes on by itself; one without is told that it may."""
    bb = board_of(ctx)
    reason = bb_get(bb, "signal")["reason"]
    if not bb_get(bb, "calls"):
        ledger = ledger_of(bb)
        left = ledger.limits.turns - ledger.turns
        tell_model(bb, f"Another turn is granted, for this: {reason} ({left} left)")
    say_verdict(ctx, "granted", reason)
    return SUCCESS


@action(reads=["messages", "signal"], writes=["messages"])
def answer_now(ctx: TickContext) -> RunStatus:
    message = "You have what you need. Give the whole answer now, without tools."
    tell_model(board_of(ctx), message)
    say_verdict(ctx, "asked_for_the_answer")
    return SUCCESS


@action(reads=["messages", "signal"], writes=["messages"])
def answer_in_less(ctx: TickContext) -> RunStatus:
    tell_model(
        board_of(ctx),
        "Your answer is too long: it was cut before its end. Give the whole answer again, much "
        "shorter, without tools.",
    )
    say_verdict(ctx, "asked_for_the_answer", "the answer was cut at its longest output")
    return SUCCESS


@action(reads=["messages", *OFFER], writes=["messages"])
def search_first(ctx: TickContext) -> RunStatus:
    """The text is not taken as an answer: nothing was gathered."""
    bb = board_of(ctx)
    tools = ", ".join(spec.name for spec in granted_tools(bb) if not spec.writes)
    tell_model(
        bb,
        "Nothing was gathered yet, and this question needs evidence from its sources. Search first "
        f"({tools}), then answer from what you find. If nothing is found, say so.",
    )
    return SUCCESS


@action(reads=["messages", *OFFER], writes=["messages"])
def write_first(ctx: TickContext) -> RunStatus:
    """The text is not taken as an answer: the user wants something to be written."""
    bb = board_of(ctx)
    tools = ", ".join(spec.name for spec in granted_tools(bb) if spec.writes)
    tell_model(
        bb,
        "The user asks for something to be written or done, and nothing was written in this run. "
        f"Do it now ({tools}), then answer. If these tools cannot do it, or you have to ask the "
        "user something first, say so, and end with `partial_answer`.",
    )
    return SUCCESS


@action(reads=["messages", "tools_withdrawn"], writes=["messages"])
def do_what_was_announced(ctx: TickContext) -> RunStatus:
    """The text is not taken as an answer: it only says what comes next."""
    bb = board_of(ctx)
    next_step = "Call the tool for it now, or answer from what you have found"
    if bb_get(bb, "tools_withdrawn"):
        next_step = "Answer now from what you have found, without tools"
    tell_model(bb, f"You said what you will do, but called no tool. {next_step}.")
    return SUCCESS


@action(reads=["signal", "messages"], writes=["messages"])
def go_on_alone(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    scope = bb_get(bb, "signal")["scope"]
    tell_model(
        bb,
        "There is nobody to delegate to. Go on alone: do the most important part of it, and say "
        f"in the answer what of it was left out. What you wanted to hand over: {scope}",
    )
    say_system(ctx, f"Nobody to delegate to; going on alone ({scope}).")
    say_verdict(ctx, "refused", "there is nobody to delegate to")
    return SUCCESS


@action(reads=["messages"], writes=["messages"])
def give_a_readable_signal(ctx: TickContext) -> RunStatus:
    tell_model(
        board_of(ctx),
        "The signal of your last response could not be read. Give the answer again, whole, and end "
        "it with one well-formed signal.",
    )
    return SUCCESS


@action(reads=["messages"], writes=["messages"])
def there_is_no_web(ctx: TickContext) -> RunStatus:
    tell_model(
        board_of(ctx),
        "Only the web could answer this, and no web search is configured here. The user knows. Do "
        "not search the project for it. Answer as far as general knowledge goes, say that it was "
        "not checked, and end with `partial_answer`.",
        lacks="web",
    )
    return SUCCESS


# -- about the response itself ---------------------------------------------------------------------


@action(reads=["messages", "tools_withdrawn", "response"], writes=["messages"])
def response_was_empty(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    message = "Your response was empty. Call a tool, or answer, and end with a signal."
    if bb_get(bb, "tools_withdrawn"):
        message = "Your response has no text. Answer now, without tools, and end with a signal."
    if bb_get(bb, "response")["ending"]["kind"] == "length":
        message = f"Your reasoning used up the longest output. Think less. {message}"
    tell_model(bb, message)
    return SUCCESS


@action(reads=["messages", *AGENT_STATE], writes=["messages"])
def nothing_more_is_granted(ctx: TickContext) -> RunStatus:
    """The text is not taken as an answer: it says what the model lacks, not what was found."""
    tell_model(
        board_of(ctx),
        "Nothing more is granted. Answer now from what was found, with its places, and say in one "
        f"sentence what stays open. {agent_state(ctx).summary}",
    )
    return SUCCESS


@action(reads=["messages"], writes=["messages"])
def response_was_cut_off(ctx: TickContext) -> RunStatus:
    """The process died while it streamed. What had arrived stays a draft."""
    tell_model(board_of(ctx), "Your last response was cut off on its way. Give it again, whole.")
    return SUCCESS


# -- about the evidence ----------------------------------------------------------------------------


@action(reads=["messages", "evidence"], writes=["messages"])
def enough_was_found(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    found = len(bb_get(bb, "evidence"))
    counted = "1 place was" if found == 1 else f"{found} places were"
    tell_model(
        bb,
        f"{counted} found, and the last calls added little. Answer now, unless a part of "
        "the question is still open.",
    )
    return SUCCESS


@action(
    reads=["messages", "evidence", "words_found"],
    writes=["messages", "words_when_told"],
)
def answer_or_name_what_is_open(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    tell_model(
        bb,
        "What was found has the words of the question, and the last calls added none. Answer now. "
        "More of the same calls will not be run. If a part of the question is still open, end with "
        "`need_turn`, name that part as the reason, and follow a name that you have read.",
    )
    bb_set(bb, "words_when_told", len(bb_get(bb, "words_found")))
    return SUCCESS


@action(reads=["messages", "sources_tried"], writes=["messages"])
def nothing_was_found(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    tried = ", ".join(bb_get(bb, "sources_tried")) or "no source"
    tell_model(
        bb,
        f"Nothing was found so far ({tried}). If that stays so, end with `stuck` or "
        "`partial_answer` and say where you looked.",
    )
    return SUCCESS


@action(reads=["messages"], writes=["messages"])
def how_to_recover_from_errors(ctx: TickContext) -> RunStatus:
    """The prompt segment that would have been composed had the errors been known."""
    bb = board_of(ctx)
    for segment in services_of(ctx).prompt_segments:
        if segment.id == "error-recovery":
            tell_model(bb, segment.content)
    return SUCCESS


# -- other ways to an answer -----------------------------------------------------------------------


@action(reads=["messages", *AGENT_STATE], writes=["messages"])
def rephrase_the_search(ctx: TickContext) -> RunStatus:
    tell_model(
        board_of(ctx),
        "Put the search differently: synonyms, a part of the name, the words that the source "
        f"itself would use, a wider path. {agent_state(ctx).summary}",
    )
    return SUCCESS


@action(reads=["messages", *OFFER, *AGENT_STATE], writes=["messages"])
def try_another_source(ctx: TickContext) -> RunStatus:
    """Name the sources on offer that were not tried; FAILURE if all were."""
    bb = board_of(ctx)
    offered = dict.fromkeys(spec.source for spec in granted_tools(bb) if spec.source)
    untried = [kind for kind in offered if kind not in bb_get(bb, "sources_tried")]
    if not untried:
        return ctx.fail("every source on offer was tried")
    tell_model(bb, f"Try another source: {', '.join(untried)}. {agent_state(ctx).summary}")
    return SUCCESS


@action(reads=["loop", "messages", *OFFER, *AGENT_STATE], writes=["messages"])
def you_have_that_already(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    loop = bb_get(bb, "loop")
    message = (
        f"You are repeating yourself: {loop['what']}. You have that already. Do something else"
    )
    if loop["kind"] == "idle":
        tools = ", ".join(spec.name for spec in granted_tools(bb)) or "none"
        message = f"This leads nowhere: {loop['what']}. Call a tool that you have ({tools})"
    tell_model(bb, f"{message}, or answer from what you have. {agent_state(ctx).summary}")
    return SUCCESS


@action(reads=["messages", "signal", *AGENT_STATE], writes=["messages"])
def answer_from_what_there_is(ctx: TickContext) -> RunStatus:
    """No other way is left: ask for an honest answer, without tools."""
    say_verdict(ctx, "asked_for_the_answer", "no other way is left")
    tell_model(
        board_of(ctx),
        "No other way is left. Give the best honest answer from what you have, without tools, and "
        f"say what is missing. {agent_state(ctx).summary}",
    )
    return SUCCESS
