"""Texts that say what the model will do next: "Let me look at that file." They answer nothing.

Small models end a response like that and call no tool. Nobody would do what was announced.
"""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.citations import find_citations

LONGEST: Final = 300
"""Characters. A longer text says more than what comes next."""

_SENTENCE_END: Final = lazy_pattern(r"(?<=[.!?:…])\s+|(?<=[。！？])|\n+")

# What an agent announces: looking at sources. "I will add an example" may be an offer to the user.
_LOOKS: Final = (
    r"(?:look|check|read|search|find|open|inspect|examine|see|investigate|dig|dive|explore|verify"
    r"|review|gather|scan|analy[sz]e|trace|continue|fetch|locate|grep|go through|take a|have a"
    r"|start|begin|figure out|get)\b"
)
_ENGLISH: Final = (
    r"(?:(?:let me|let us|let['’]s|i['’]ll|i will|i['’]m going to|i am going to|i need to|i should"
    r"|i have to|i want to|i would like to|i['’]d like to|we need to|we should)"
    # "Let me know if …" and "I need to know" speak to the user, and no list of verbs has "know".
    rf"(?:\s+(?:first|now|next|also|then|just|quickly|take|try to|go and))*\s+{_LOOKS})"
    # "Reading the file fails" states something; "Reading the file now" announces.
    r"|(?:look|check|read|search|open|inspect|examin|fetch|scann?|explor|gather)ing\b.*"
    r"(?:\bnow\b\W*|\.\.\.|…)$"
)
_LED_IN: Final = (
    r"^(?:[^,:;]{0,40}[,:;]\s*"
    r"|(?:ok(?:ay)?|sure|now|next|first|then|so|als nächstes|jetzt|zuerst)\s+)?"
)
"""What may come before it, such as "To answer that," or "Next"."""

_GERMAN: Final = (
    r"(?:ich (?:werde|will|muss|möchte|schaue|sehe|suche|prüfe|lese|öffne|überprüfe|untersuche)"
    r"|(?:lass|lasst|lassen sie) mich|(?:schauen|sehen|prüfen|suchen) wir"
    r"|(?:schaue|sehe|suche|prüfe|lese|öffne|werde|muss) ich)\b.*"
    r"\b(?:an|nach|durch|um|suchen|ansehen|anschauen|prüfen|lesen|öffnen|überprüfen|untersuchen"
    r"|nachsehen|schauen|sehen|genauer|jetzt)\W*$"
)
_FRENCH: Final = (
    r"(?:je vais|je dois|laisse[zr]?-moi|permette[zr]-moi de|voyons|regardons|cherchons|vérifions)"
    r"\b.*(?:regard|cherch|vérifi|li(?:re|sons)|ouvr|examin|consult|explor|analys|voir|voyons|jet)"
)
_SPANISH: Final = (
    r"(?:voy a|déjame|dejame|permíteme|vamos a|necesito|tengo que|veamos|busquemos|revisemos)\b.*"
    r"(?:mir|busc|revis|le(?:er|amos)|abr|examin|consult|explor|analiz|ver\b|veamos|comprob|echar)"
)
_CHINESE: Final = (
    r"(?:让我|我来|我将|我会|我先|我去|我需要|接下来|现在)[^。]*"
    r"(?:看|查|读|搜|找|打开|检查|确认|分析)"
)
_JAPANESE: Final = (
    # With a topic (は) it says what something does: このファイルは設定を読みます.
    r"[^は]*(?:確認|調べ|検索|見|読み|読んで|探し|開い|調査)[^は]{0,6}(?:ます|ましょう)\W*$"
)

_ANNOUNCES: Final = lazy_pattern(
    f"{_LED_IN}(?:{_ENGLISH}|{_GERMAN}|{_FRENCH}|{_SPANISH}|{_CHINESE})|^{_JAPANESE}",
    re.IGNORECASE,
)
_ASKS_OR_OFFERS: Final = lazy_pattern(
    r"[?？]\s*$|\b(?:if you|would you|do you want|wenn du|wenn sie|si vous|si tu|si quieres)\b",
    re.IGNORECASE,
)


def is_announcement(text: str) -> bool:
    """Whether a short text without a source ends by saying what the model will look at next."""
    text = text.strip()
    if not text or len(text) > LONGEST or "```" in text:
        return False
    *_, last = (piece for piece in _SENTENCE_END.split(text) if piece.strip())
    if not announces_work(last):
        return False
    # What was found already is named with its place: then it is at least a part of an answer.
    last = _bare(last)
    before = text[: text.rfind(last[:20])] if last[:20] in text else ""
    return not find_citations(before)


def announces_work(sentence: str) -> bool:
    """Whether it says what the model will look at next."""
    sentence = _bare(sentence)
    return bool(_ANNOUNCES.search(sentence)) and not _ASKS_OR_OFFERS.search(sentence)


def _bare(sentence: str) -> str:
    return sentence.strip().lstrip("*_>#- ").replace("**", "")
