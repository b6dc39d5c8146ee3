"""`embedded`: the model that is used if no language model is configured. It answers by quoting.

It is a pure function of the request. It searches with the tools on offer, reads the best places and
quotes them with file and line. It knows nothing itself and invents nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from oracle.services.embedded.broad_answer import extract, is_about_one_part
from oracle.services.embedded.responding import respond
from oracle.services.embedded.situation import read_situation
from oracle.services.llm.protocol import ModelRequest, Part, Prices, Usage

_CONTEXT_WINDOW: Final = 200_000
_LONGEST_OUTPUT: Final = 4_096
_PIECE: Final = 400
NO_USAGE: Final[Usage] = {"input_tokens": 0, "output_tokens": 0}
"""Nothing is sent anywhere, so nothing is used up: no budget counts it, and nobody is shown tokens
that do not exist."""


class EmbeddedModel:
    """The same request gets the same response on any machine, without a network."""

    name = "embedded"
    context_window = _CONTEXT_WINDOW
    longest_output = _LONGEST_OUTPUT
    prices = Prices(input=0.0, output=0.0)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        if is_about_one_part(request):
            text = extract(request)
            yield {"text": text}
            yield {"usage": NO_USAGE}
            return
        situation = read_situation(request)
        response = respond(situation)
        text = f"{response.text}\n\n{response.signal}\n".lstrip("\n")
        for start in range(0, len(text), _PIECE):
            yield {"text": text[start : start + _PIECE]}
        for number, (name, arguments) in enumerate(response.calls):
            call_id = f"embedded-{len(situation.turns)}-{number}"
            yield {"tool_call": {"id": call_id, "name": name, "arguments": arguments}}
        yield {"usage": NO_USAGE}
