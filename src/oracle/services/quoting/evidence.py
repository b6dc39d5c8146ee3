"""What a place must show to answer a question of some kind: a value, a name of an exception."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.quoting.terms import DECISION, REASON, VALUE

_VARIABLE: Final = lazy_pattern(
    r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\benviron\b|getenv|env::var|process\.env"
)
_FAILURE: Final = lazy_pattern(
    r"\b(?:raise[sd]?|throws?|thrown|panics?)\b|[A-Za-z](?:Error|Exception)\b|\b(?:Err|ERR_)\w+"
)
_USE: Final = lazy_pattern(r"^\s*(?:```|~~~|\$ |>>> )|::\s*$|`[^`\n]+`|(?<![\w-])--[a-z]")
_ITEM: Final = lazy_pattern(
    r"^\s*(?:[-*+]|\d+[.)]|#\.|\|)\s|^\s*[\"'`]?[\w.-]+[\"'`]?\s*(?:[:=,]|=>)"
    r"|[\"'`]\w+[\"'`], [\"'`]"
)
_KINDS: Final = (
    (
        r"\benv(?:ironment)?\b[\w ]{0,20}\bvar|umgebungsvar|variables? (?:d['’]env|de entorno)"
        r"|环境变量|環境変数",
        _VARIABLE,
    ),
    (
        r"\b(?:rais|throw|thrown|exception|errors?\b|fehler|ausnahme|exceptions?|erreurs?|excepci"
        r"|lanza|lève)|异常|错误|例外|エラー",
        _FAILURE,
    ),
    (
        r"\bhow (?:do|can|should|could|would|to)\b|\bcan i\b|\bwie (?:kann|mache|lässt)\b"
        r"|\bcomment\b|\bcómo\b|如何|怎么|どう",
        _USE,
    ),
    (
        r"\bdefault|\bhow (?:long|many|much|large|big|often|old|far)\b|\b(?:unless|maximum|minimum"
        r"|limit|at most|at least)\b|\bstandardmäßig|\bwie (?:lange|viele?|groß|oft)\b"
        r"|\bpar défaut\b|\bcombien\b|\bcuánt|\bpor defecto\b|默认|多少|多大|デフォルト|既定",
        VALUE.pattern,
    ),
    (
        r"\bwhy\b|\breasons?\b|\bwarum\b|\bwieso\b|\bpourquoi\b|\bpor qué\b|为什么|なぜ",
        REASON.pattern,
    ),
    (r"\b(?:decid|decision|agree)", DECISION.pattern),
)
_LIST: Final = lazy_pattern(
    r"^\W*(?:list|name|enumerate)\b|\b(?:which|what)\s+(?:[\w-]+\s+){0,3}?\w+s\b|\ball\b|\bevery\b"
    r"|\border\b|\bsteps\b|\balle\b|\bwelche\b|\bquel(?:le)?s\b|\btou(?:te)?s les\b|\bqué \w+s\b"
    r"|\bcuáles\b|哪些|所有|どの|どんな|すべて",
    re.I,
)
_ITEMS: Final = 3
"""So many lines that look like items make a list."""

Evidence = tuple[re.Pattern[str], int]
"""What some lines must match, and how many lines."""


def evidence_for(question: str) -> list[Evidence]:
    asked = [(shown, 1) for said, shown in _KINDS if re.search(said, question, re.I)]
    return [*asked, (_ITEM, _ITEMS)] if _LIST.search(question) else asked


def has_evidence(lines: Sequence[str], evidence: Evidence) -> bool:
    pattern, least = evidence
    return sum(1 for line in lines if pattern.search(line)) >= least
