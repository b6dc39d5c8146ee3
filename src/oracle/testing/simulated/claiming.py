"""Characters that claim more than they know: evidence, tools or results that do not exist."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from oracle.testing.simulated import calling
from oracle.testing.simulated.competent import fit, sentence, working
from oracle.testing.simulated.response import Call, Response, need_turn, sufficient
from oracle.testing.simulated.turn import Turn

_INVENTED_TOOLS: Final = (
    "semantic_search",
    "open_file",
    "grep_repository",
    "run_python",
    "ask_expert",
)
_USUAL_TOOLS: Final = ("search_code", "read_file", "search_vault", "web_search", "search_threads")
_WILD_TURNS: Final = 3


def overconfident(turn: Turn) -> Response:
    """Claims sufficiency with confidence 0.99 as soon as a first search has found anything.

    Mild, it reads first. At extreme any line will do, whether it fits or not.
    """
    conversation, honest = turn.conversation, turn.honest
    if honest.calls and (not conversation.lines or turn.strength.name == "mild"):
        return honest
    lines = fit(conversation, 1).lines
    if turn.strength.name == "extreme":
        lines = lines or conversation.lines[:1]
    text = f"This is certain. {sentence(lines[0])}" if lines else honest.text
    return Response(text=text, signal=sufficient(max(1, len(lines)), confidence=0.99))


def baseless(turn: Turn) -> Response:
    """Claims to have read several sources, and has read none."""
    if not turn.persists or turn.conversation.turns >= turn.by_strength(
        1, 3, turn.strength.patience
    ):
        return turn.honest
    text = (
        f"Based on my review of the project, {turn.topic} follows the usual approach: it is set up "
        "in the main module, configured by the settings and covered by the tests."
    )
    return Response(text=text, signal=sufficient(turn.random.randint(3, 7), confidence=0.95))


def premature(turn: Turn) -> Response:
    """Answers from general knowledge before it looks, and looks only when it is sent back."""
    is_early = turn.conversation.turns < turn.by_strength(1, 2, turn.strength.patience)
    if not turn.persists or not is_early or not turn.conversation.tools:
        return turn.honest
    text = (
        f"In most projects of this kind, {turn.topic} is handled by a dedicated module with "
        "sensible defaults, so that is most likely the case here as well."
    )
    return Response(text=text, signal=sufficient(0, confidence=0.8))


def inventor(turn: Turn) -> Response:
    """Calls tools that do not exist, and cites places that do not exist."""
    honest = turn.honest
    if not turn.slips:
        return honest
    is_extreme = turn.strength.name == "extreme"
    if honest.calls and not (is_extreme and turn.conversation.turns >= _WILD_TURNS):
        name = turn.random.choice(_INVENTED_TOOLS)
        invented = Call(name=name, arguments={"input": turn.topic, "depth": 3})
        return replace(honest, calls=[invented] if is_extreme else [*honest.calls, invented])
    line = turn.random.randint(20, 400)
    claim = f"The decisive line is `src/core/{turn.topic}_manager.py:{line}`, where it is set up."
    text = claim if is_extreme else f"{turn.answer.text}\n{claim}"
    return Response(text=text, signal=sufficient(4, confidence=0.9))


def withdrawn_caller(turn: Turn) -> Response:
    """Calls tools that are not offered: those that it used before, or that are usual."""
    offered = {tool.name for tool in turn.conversation.tools}
    known = [call["name"] for call in turn.conversation.calls]
    names = [name for name in dict.fromkeys([*known, *_USUAL_TOOLS]) if name not in offered]
    if not turn.persists or not names:
        return turn.honest
    query = next(calling.queries(turn.conversation.question))
    call = Call(name=names[turn.conversation.turns % len(names)], arguments={"query": query})
    return working([call, *turn.honest.calls])


def both_sides(turn: Turn) -> Response:
    """Writes the results of its calls itself, and the user's reply too.

    Text models run on past their turn unless they are stopped at `Observation:` or `User:`.
    """
    honest = turn.honest
    if not turn.persists:
        return honest
    if honest.is_answer:
        more = f"\n\nUser: Thanks! Is there more about {turn.topic}?\n\nAssistant: No, that is all."
        return replace(honest, text=honest.text + more)
    path = f"src/{turn.topic}.py:12"
    text = (
        f"{honest.text}\n\nAction: {honest.calls[0].name}\nObservation: Found 1 place."
        f"\n\nFrom {path} (data, not instructions):\n```\n12  {turn.topic.upper()} = True\n```\n\n"
        f"Final answer: it is switched on in `{path}`."
    )
    return Response(text=text, signal=sufficient(1, confidence=0.9))


def text_caller(turn: Turn) -> Response:
    """Writes its calls as text, in the form of some other provider, and calls nothing.

    Known from Llama and Qwen behind gateways without their chat template (smolagents #1052).
    """
    honest = turn.honest
    if not turn.persists or honest.is_answer:
        return honest
    as_text = "\n".join(_as_text(turn, call) for call in honest.calls)
    return Response(text=f"{honest.text}\n\n{as_text}", signal=need_turn("Wait for the results"))


def _as_text(turn: Turn, call: Call) -> str:
    return turn.random.choice((
        f"<tool_call>\n{call.as_json}\n</tool_call>",
        f"```json\n{call.as_json}\n```",
        f'<function={call.name}>{{"query": "{turn.topic}"}}</function>',
        f'[TOOL_CALLS] {call.name}(query="{turn.topic}")',
        f"Action: {call.name}\nAction Input: {turn.topic}",
    ))  # fmt: skip
