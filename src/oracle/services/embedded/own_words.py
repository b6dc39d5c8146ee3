"""What this model says about itself, in the language of the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oracle.services.questions.languages import Language

ONLY_QUOTES: Final[Mapping[Language, str]] = {
    "en": "I only search for words and quote what I find.",
    "de": "Ich suche nur nach Wörtern und zitiere, was ich finde.",
    "fr": "Je cherche seulement des mots et je cite ce que je trouve.",
    "es": "Solo busco palabras y cito lo que encuentro.",
    "zh": "我只按词语搜索，并引用找到的内容。",
    "ja": "私は語句を検索し、見つかった箇所を引用するだけです。",
}
NOT_SURE: Final[Mapping[Language, str]] = {
    "en": "I am not sure that this answers the question.",
    "de": "Ich bin nicht sicher, ob das die Frage beantwortet.",
    "fr": "Je ne suis pas sûr que cela réponde à la question.",
    "es": "No estoy seguro de que esto responda a la pregunta.",
    "zh": "我不确定这是否回答了问题。",
    "ja": "これが質問への答えかどうかは確かではありません。",
}
NOT_FOUND: Final[Mapping[Language, str]] = {
    "en": "I did not find it.",
    "de": "Ich habe es nicht gefunden.",
    "fr": "Je ne l'ai pas trouvé.",
    "es": "No lo he encontrado.",
    "zh": "我没有找到。",
    "ja": "見つかりませんでした。",
}


def with_notice(text: str, language: Language) -> str:
    """The text, with a sentence about how it came about if the question is not in English.

    The quotations are in the project's language, so the reader may wonder why nobody translated.
    """
    notice = ONLY_QUOTES[language]
    return text if language == "en" or notice in text else f"{notice}\n\n{text}"
