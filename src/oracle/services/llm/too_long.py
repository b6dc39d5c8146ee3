"""Recognises a provider's message that a request, or the output it asks for, is too long.

Most servers have no error code for this. They say it in words of their own, with any status, and
some in the middle of a stream.
"""

from __future__ import annotations

from typing import Final

from oracle.patterns import lazy_pattern

_MOST_READ: Final = 4_000
"""Characters. The message comes first; a longer body is something else, such as a page."""

_SENTENCE_END: Final = lazy_pattern(r"[.;!\n]+(?:\s|$)")
_WORDINGS: Final = lazy_pattern(
    # The comments name servers that use the words.
    r"context[ _](?:length|size|limit|window)"  # OpenAI, vLLM, OpenRouter, llama.cpp, LM Studio
    r"|(?:prompt|inputs?|request|message|conversation)[^.]{0,80} too (?:long|large)"  # Anthropic
    r"|too many (?:input )?tokens"  # Cohere
    r"|must have less than \d+ tokens|`?max_new_tokens`? must be <="  # TGI, Together
    r"|reduce the length of the (?:messages|prompt|input)"  # OpenAI, Groq
    r"|input (?:or|and) output tokens must be reduced"  # OpenAI: more than a minute allows
    r"|request (?:entity )?too large|payload too large"  # proxies
    r"|max_tokens must be at least 1\b"  # vLLM: nothing is left for the output
    r"|string[ _](?:above[ _]max[ _]length|too[ _]long)"  # OpenAI
    r"|expected maxlength"  # Bedrock
    r"|超长|(?:token|长度|上下文)[^。]{0,40}超(?:出|过|限)"  # Zhipu, Qwen
)

# All others are known by what they are made of. One sentence names a text or tokens, a measure, and
# says that it is too much, or what would be right.
_TEXT: Final = lazy_pattern(
    r"\b(?:tokens?|prompts?|inputs?|messages?|conversation|context|completion|outputs?|request|text"
    r"|query|history|sequence)\b"
)
_MEASURE: Final = lazy_pattern(r"\b(?:tokens?|length|len|context|ctx|window|characters|size)\b")
_TOO_MUCH: Final = lazy_pattern(
    r"exceed|overflow|\btoo (?:long|large|many|big|much)\b"
    r"|(?<!must be )(?<!should be )\b(?:longer|larger|greater|more|higher|bigger) than\b"
    r"|\b(?:over|above|beyond) (?:the )?(?:limit|max)|\bout of range\b|\brange (?:of|is|for)\b"
    r"|\b(?:must|should|has to) be (?:<|less|lower|at most|smaller|shorter|below|under|between"
    r"|within|in the range|no (?:more|longer|larger)|\[)"
    r"|\bsupports? (?:at most|up to|only)\b|\b(?:reduce|shorten|decrease)\b|\d ?> ?\d"
    # A limit, and another number before or after it.
    r"|\b(?:max|maximum|limit)\b\D{0,40}\d+\D{1,60}\d|\d\D{1,60}\b(?:max|maximum|limit)\b\D{0,40}\d"
)
_SOMETHING_ELSE: Final = lazy_pattern(
    r"\b(?:rate|quota|credits?|billing|plan|account|daily|today|requests|tp[md]|rp[md])\b"
    r"|\bper (?:second|min|minute|hour|day|month)\b"
    r"|\b(?:deadline|timeout|timed out|cancell?ed)\b"
    r"|\b(?:auth\w*|bearer|expired?|api key|access token|secret)\b"
    r"|\b(?:tools?|functions?|names?|ids?|metadata|temperature|top [pk]|stop|logprobs|seed|images?"
    r"|files?|audio|embeddings?|budget|queue)\b"
)


def is_too_long(said: str) -> bool:
    """Whether a message, with its code, says so. The meaning of the status is not its business."""
    said = said[:_MOST_READ].lower()
    if "name" in said and "string" in said and "too long" in said.replace("_", " "):
        return False  # a name of ours is too long: a shorter text would not help
    if _WORDINGS.search(said):
        return True
    plain = said.replace("_", " ")
    return any(map(_says_so, _SENTENCE_END.split(plain)))


def _says_so(sentence: str) -> bool:
    needed = (_TEXT, _MEASURE, _TOO_MUCH)
    return all(word.search(sentence) for word in needed) and not _SOMETHING_ELSE.search(sentence)
