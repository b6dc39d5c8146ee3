"""Thanks, greetings and questions about the conversation, which need no tools."""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.citations import find_citations
from oracle.services.embedded.answering import NO_WORDS
from oracle.services.embedded.response import Response, signal
from oracle.services.embedded.situation import Situation
from oracle.services.questions.project_topics import project_question
from oracle.services.questions.search_words import search_words
from oracle.services.tools.answer import code

_THANKS: Final = lazy_pattern(r"\b(?:thanks?|thank you|thx|cheers|danke|merci|gracias)\b", re.I)
_HELLO: Final = lazy_pattern(
    r"\b(?:hello|hi|hey|hallo|bonjour|good (?:morning|evening|day))\b", re.I
)
_BYE: Final = lazy_pattern(r"\b(?:bye|goodbye|see you|good night|ciao)\b", re.I)
_BACK: Final = lazy_pattern(
    r"\b(?:again|summar\w+|shorter|that|this|it|you said|your answer|above|mean|explain)\b",
    re.I,
)
_SHORT: Final = lazy_pattern(
    r"\W*(?:ok(?:ay)?|yes|no|sure|great|nice|cool|perfect|good|right|fine|got it|i see)\W*",
    re.I,
)
_MOST_CITED: Final = 8
_WORDS_OF_A_QUESTION: Final = 2
_WHAT_I_DO: Final = (
    "Ask me where something is, what a function does, or what the notes say about something; I "
    "answer with the lines that I find. I can also write a note: `write a note about X: …`."
)


def talk(situation: Situation) -> Response | None:
    """None if the question is not small talk."""
    if situation.tools or situation.turns or situation.lacks:
        return None
    # The tree knows the project's words and may have taken for talk what this model does not.
    if project_question(situation.question) is not None:
        return _not_talk()
    if not _is_talk(situation):
        return None
    reply = _reply(situation)
    if not any(letter.isalpha() for letter in situation.question):
        missing = signal("partial_answer", 0.5, missing="words to search for")
        return Response(text=NO_WORDS, signal=missing)
    if not reply and len(search_words(situation.question).all) >= _WORDS_OF_A_QUESTION:
        return _not_talk()
    return Response(
        text=reply or f"I can only search this project and quote it. {_WHAT_I_DO}",
        signal=signal("context_sufficient", 0.9, sources_found=0),
    )


def _not_talk() -> Response:
    """What was taken for talk has words to search for: "retry a failed job with a delay"."""
    return Response(
        text="It may be a question about the project, so I look into it.",
        signal=signal(
            "need_capability",
            0.7,
            capability="look into the repository, its documentation and decisions",
            reason="the text has words that the project may have",
        ),
    )


def _is_talk(situation: Situation) -> bool:
    # Imported when needed, because the classifier takes time to load.
    from oracle.models.query_classification import QueryType
    from oracle.services.classification.classifier import classify_query

    said = [
        {"role": role, "content": content}
        for exchange in situation.history
        for role, content in (("user", exchange.question), ("assistant", exchange.answer))
    ]
    return classify_query(situation.question, said).query_type == QueryType.CONVERSATIONAL


def _reply(situation: Situation) -> str:
    """Empty if it is none of the usual things to say."""
    text = situation.question
    if _THANKS.search(text):
        return "You are welcome."
    if _BYE.search(text):
        return "Goodbye."
    if _HELLO.search(text):
        return f"Hello. {_WHAT_I_DO}"
    cited = _cited(situation.earlier_answers[-1]) if situation.earlier_answers else []
    if cited and _BACK.search(text):
        listed = "\n".join(f"- {code(place)}" for place in cited)
        return f"I cannot put it into other words. My last answer rests on:\n\n{listed}"
    return "All right." if _SHORT.fullmatch(text) else ""


def _cited(answer: str) -> list[str]:
    """The places that an answer cites, each once. What it quotes in fences does not count."""
    return list(dict.fromkeys(found.text for found in find_citations(answer)))[:_MOST_CITED]
