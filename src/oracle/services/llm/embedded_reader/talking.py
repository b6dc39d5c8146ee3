"""Thanks, greetings and questions about the conversation: polite, and nothing is called."""

from __future__ import annotations

import re
from typing import Final

from oracle.services.llm.embedded_reader.saying import Response, signal, with_no_model
from oracle.services.llm.embedded_reader.situation import Situation

_THANKS: Final = re.compile(r"\b(?:thanks?|thank you|thx|cheers|danke|merci|gracias)\b", re.I)
_HELLO: Final = re.compile(r"\b(?:hello|hi|hey|hallo|bonjour|good (?:morning|evening|day))\b", re.I)
_BYE: Final = re.compile(r"\b(?:bye|goodbye|see you|good night|ciao)\b", re.I)


def talk(situation: Situation) -> Response | None:
    """None where the question is about something else."""
    if situation.tools or situation.turns or not _is_talk(situation):
        return None
    return Response(
        text=_reply(situation),
        signal=signal("context_sufficient", 0.9, sources_found=0),
    )


def _is_talk(situation: Situation) -> bool:
    from oracle.models.query_classification import QueryType
    from oracle.services.query_classifier import classify_query

    said = [
        {"role": role, "content": content}
        for exchange in situation.history
        for role, content in (("user", exchange.question), ("assistant", exchange.answer))
    ]
    return classify_query(situation.question, said).query_type == QueryType.CONVERSATIONAL


def _reply(situation: Situation) -> str:
    text = situation.question
    if _THANKS.search(text):
        return "You are welcome."
    if _BYE.search(text):
        return "Goodbye."
    if _HELLO.search(text):
        return with_no_model(
            "Hello. Ask me where something is, what a function does, or what the notes say about "
            "something; I answer with the lines that I find.",
            (exchange.answer for exchange in situation.history),
        )
    return with_no_model(
        "I can only search this project and quote it. Ask me where something is, what a function "
        "does, or what the notes say about something.",
        (exchange.answer for exchange in situation.history),
    )
