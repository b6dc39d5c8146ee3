"""Characters whose text is the trouble: none, too much, or beside the point."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from oracle.testing.simulated import competent
from oracle.testing.simulated.competent import Phrases
from oracle.testing.simulated.evidence import frames_in
from oracle.testing.simulated.response import Response, Signal, need_turn, partial, stuck
from oracle.testing.simulated.turn import Turn

_REFUSALS: Final = (
    "I'm sorry, but I can't help with that.",
    "I'm unable to assist with this request, as it may involve proprietary code.",
    "As an AI language model, I don't have access to files, so I can't answer this.",
    "I must decline: accessing internal systems would go against my guidelines.",
)
_GERMAN: Final = Phrases(
    best="Die wichtigste Stelle ist {cite}: {quote}.",
    next="{cite} ergänzt {quote}.",
    uncited="Im Text steht {quote}.",
    open="Nichts gefunden habe ich zu {words}.",
    nothing="Das konnte ich nicht finden.",
    small_talk="Gern geschehen. Was möchten Sie wissen?",
    working="Ich suche nach {what}.",
)
_CHINESE: Final = Phrases(
    best="最相关的位置是 {cite}：{quote}。",
    next="{cite} 补充说明：{quote}。",
    uncited="文中写道：{quote}。",
    open="没有找到关于 {words} 的内容。",
    nothing="我没有找到相关内容。",
    small_talk="不客气。您想了解什么？",
    working="我正在查找 {what}。",
)
_NAMES: Final = (
    "need_turn", "context_sufficient", "partial_answer", "stuck", "confidence", "reason",
    "sources_found", "missing",
)  # fmt: skip
_GERMAN_NAMES: Final = (
    "brauche_runde", "kontext_ausreichend", "teilantwort", "blockiert", "zuversicht", "grund",
    "gefundene_quellen", "fehlend",
)  # fmt: skip
_CHINESE_NAMES: Final = (
    "需要更多轮次", "上下文充足", "部分回答", "受阻", "置信度", "原因", "来源数", "缺失",
)  # fmt: skip
_MUCH: Final = 30_000
"""Characters: more than the longest output."""


def empty(turn: Turn) -> Response:
    """Says nothing: no text, blanks, a character without width, reasoning only, a signal only."""
    if not turn.persists:
        return turn.honest
    return turn.random.choice((
        Response(),
        Response(text="\n\n"),
        Response(text="\u200b"),
        Response(reasoning="The user wants to know something. I should answer it now."),
        Response(signal=turn.answer.signal),
    ))  # fmt: skip


def echoer(turn: Turn) -> Response:
    """Repeats instructions or the frames of results in its text, more with each strength."""
    honest, conversation = turn.honest, turn.conversation
    if not turn.slips:
        return honest
    paragraphs = [each for each in conversation.prompt.split("\n\n") if each.strip()]
    most = turn.by_strength(1, 3, 12)
    start = turn.random.randrange(max(1, len(paragraphs) - most + 1))
    echoed = "\n\n".join(paragraphs[start : start + most])
    frames = [frame for each in conversation.results for frame in frames_in(each.content)]
    if frames and turn.random.random() < 0.5:
        echoed = "\n\n".join(frames[:most])
    elif turn.random.random() < 0.5:
        echoed = f"<system_message>{echoed}</system_message>"
    return replace(honest, text=f"{echoed[:6_000]}\n\n{honest.text}")


def polyglot(turn: Turn) -> Response:
    """Switches to German or Chinese, and at times translates the names in its signals."""
    if not turn.slips:
        return turn.honest
    phrases, names = turn.random.choice(((_GERMAN, _GERMAN_NAMES), (_CHINESE, _CHINESE_NAMES)))
    response = competent.respond(turn.conversation, phrases)
    is_translated = turn.random.random() < turn.by_strength(0.0, 0.3, 0.6)
    if not is_translated or not isinstance(response.signal, Signal):
        return response
    return replace(response, signal=_renamed(response.signal.xml, names))


def _renamed(xml: str, names: tuple[str, ...]) -> str:
    for name, translated in zip(_NAMES, names, strict=True):
        for form in ('"{}"', "<{}>", "</{}>"):
            xml = xml.replace(form.format(name), form.format(translated))
    return xml


def refuser(turn: Turn) -> Response:
    """Declines harmless questions, in words."""
    if not turn.persists:
        return turn.honest
    signal = stuck(["thinking about it"], "This is against my guidelines", confidence=0.9)
    return Response(text=turn.random.choice(_REFUSALS), signal=turn.random.choice((None, signal)))


def repeater(turn: Turn) -> Response:
    """Falls into repeating a line; at extreme until its output is cut, which costs its calls."""
    honest = turn.honest
    if not turn.persists or not honest.text:
        return honest
    line = honest.text.splitlines()[0]
    times = turn.by_strength(15, 60, _MUCH // len(line))
    return replace(honest, text="\n".join([honest.text, *[line] * times]))


def drafter(turn: Turn) -> Response:
    """Writes a long draft before each call: what it knows, plans and might find."""
    honest = turn.honest
    if honest.is_answer or not turn.slips:
        return honest
    steps = turn.by_strength(8, 40, 110)
    draft = "\n".join(
        f"{number}. First thoughts about {turn.topic}: consider what part {number} of the project "
        f"could contribute, and how that would change the answer to the question."
        for number in range(1, steps + 1)
    )
    return replace(honest, text=f"Let me think this through.\n\n{draft}\n\n{honest.text}")


def asks_back(turn: Turn) -> Response:
    """Asks the user questions back instead of looking or answering."""
    if not turn.persists:
        return turn.honest
    asked = (
        f"Could you tell me which {turn.topic} you mean?",
        "Would you like a short or a detailed answer?",
        "Which part of the project should I look at first?",
    )
    text = "Before I start: " + " ".join(asked[: turn.by_strength(1, 2, 3)])
    waiting = need_turn("Waiting for the user to clarify the question")
    signals = (None, waiting, partial("Which part of the project is meant?"))
    return Response(text=text, signal=turn.random.choice(signals))
