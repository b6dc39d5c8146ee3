"""Why a response ended, in one vocabulary for all providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypedDict

Kind = Literal["whole", "length", "pause", "filter", "refusal", "broken", "unknown"]
"""
| kind | meaning |
| --- | --- |
| whole | the model ended the response itself |
| length | the longest output, or the context window, was reached |
| pause | the provider paused; the response goes on if it is asked for |
| filter | a filter of the provider stopped it |
| refusal | the model declined to answer |
| broken | the provider failed in the middle |
| unknown | a reason that this table does not have: nobody knows whether it is whole |
"""


class Ending(TypedDict):
    """`said` is the provider's own word, or its explanation of a refusal."""

    kind: Kind
    said: str


WHOLE: Final[Ending] = {"kind": "whole", "said": ""}
NOT_SAID: Final[Ending] = {"kind": "unknown", "said": ""}

_KINDS: Final[Mapping[Kind, str]] = {
    "whole": "stop end_turn stop_sequence tool_calls tool_use tool_call function_call completed "
    "complete done eos eos_token end normal finish finished",
    "length": "length max_tokens max_output_tokens max_completion_tokens model_length "
    "max_messages model_context_window_exceeded context_length_exceeded incomplete",
    "pause": "pause_turn pause",
    "filter": "content_filter content_filtered safety recitation blocklist prohibited_content spii "
    "image_safety language sensitive guardrail_intervened guardrail moderation flagged blocked",
    "refusal": "refusal refused",
    "broken": "error failed cancelled canceled abort aborted network_error timeout "
    "insufficient_system_resource malformed_function_call unexpected_tool_call",
}
_KIND_OF: Final[Mapping[str, Kind]] = {
    word: kind for kind, words in _KINDS.items() for word in words.split()
}


def ending_of(finish_reason: object, refusal: object = None) -> Ending:
    """What a provider's finish reason means. Its explanation of a refusal counts as one."""
    said = str(finish_reason or "")
    if refusal:
        return {"kind": "refusal", "said": str(refusal)}
    return {"kind": _KIND_OF.get(said.strip().lower(), "unknown"), "said": said}


_FROM_BEST_TO_WORST: Final[Sequence[Kind]] = (
    "whole",
    "unknown",
    "pause",
    "length",
    "broken",
    "filter",
    "refusal",
)


class Worst:
    """The worst of the finish reasons of one response. A `stop` after `length` mends nothing."""

    __slots__ = ("_said",)

    def __init__(self) -> None:
        self._said = ""

    def after(self, said: str) -> str:
        if not self._said or _badness(said) >= _badness(self._said):
            self._said = said
        return self._said


def _badness(said: str) -> int:
    return _FROM_BEST_TO_WORST.index(ending_of(said)["kind"])
