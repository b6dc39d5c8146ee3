"""What to do for a whole answer, by what stands in its way: each step can be followed where it is
printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oracle.settings import Origin, Settings

# Beside the stop reasons.
NEEDS_MODEL: Final = "needs_model"
ONE_TURN: Final = "one_turn"
ASK_ON: Final = "ask_on"

_AGAIN: Final = "ask in other words, or name a file to look at"
_FLAGS: Final = {
    "turn_limit": "--max-turns",
    "money_limit": "--max-cost",
    "time_limit": "--timeout",
    ONE_TURN: "--max-turns",
}
_FOR_ASK: Final[Mapping[str, str]] = {
    **{reason: f"{flag} allows more" for reason, flag in _FLAGS.items()},
    NEEDS_MODEL: "this reader only quotes, and `oracle models` lists language models",
    ASK_ON: "`oracle --session last` asks on from here",
}
_FOR_CHAT: Final[Mapping[str, str]] = {
    **{
        reason: f"`oracle chat --session last {flag} N` allows more"
        for reason, flag in _FLAGS.items()
    },
    NEEDS_MODEL: "this reader only quotes, and `/model NAME` selects a language model",
    ASK_ON: "ask for it in your next question",
}
_ANYWHERE: Final[Mapping[str, str]] = {"stuck": _AGAIN, "refusal": _AGAIN}


def next_steps(settings: Settings | None = None, *, in_chat: bool = False) -> Mapping[str, str]:
    origin = None if settings is None else settings.origins["limits.tokens"]
    steps = _FOR_CHAT if in_chat else _FOR_ASK
    return {**_ANYWHERE, **steps, "token_limit": _more_tokens(origin)}


def _more_tokens(origin: Origin | None) -> str:
    """This limit has no flag. A file of the project or a variable would win over the user's."""
    if origin is None or origin.source in ("default", "user"):
        return "`oracle config set limits.tokens N --user` allows more"
    return f"a higher limits.tokens allows more (it is set in {origin})"
