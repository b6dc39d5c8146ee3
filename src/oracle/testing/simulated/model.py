"""A character as a language model: it streams pieces of text, then calls, then the usage."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Final

from oracle.services.llm.protocol import ModelRequest, Part, Prices, ToolCall
from oracle.services.prompting.tokens import estimate_tokens
from oracle.testing.simulated.conversation import read_conversation
from oracle.testing.simulated.response import Call
from oracle.testing.simulated.turn import Play, Strength, take_turn

_PRICES: Final = Prices(input=0.5, output=1.5)
_LONGEST_PIECE: Final = 40


class SimulatedModel:
    """Answers each request from the request alone, so it can serve several runs at once."""

    context_window: int = 128_000
    longest_output: int = 4_096
    prices: Prices | None = _PRICES

    def __init__(self, *, character: str, play: Play, strength: Strength, seed: int) -> None:
        self.name = f"simulated:{character}/{strength.name}"
        self._character = character
        self._play = play
        self._strength = strength
        self._seed = seed

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        conversation = read_conversation(request)
        turn, key = take_turn(
            conversation, character=self._character, strength=self._strength, seed=self._seed
        )
        response = self._play(turn)
        text = response.whole_text(with_signal=conversation.expects_signals)
        calls = [_tool_call(call, f"call_{key}_{n}") for n, call in enumerate(response.calls)]
        most = min(request.longest_output or self.longest_output, self.longest_output)
        output = _Output(reasoning=response.reasoning, text=text, calls=calls).within(most)
        for part in output.parts(turn.random):
            yield part
        input_tokens = _tokens_of_request(request)
        yield {"usage": {"input_tokens": input_tokens, "output_tokens": output.tokens}}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Output:
    reasoning: str
    text: str
    calls: Sequence[ToolCall]
    is_cut: bool = False

    @property
    def tokens(self) -> int:
        return _tokens_in(self.reasoning + self.text) + sum(map(_tokens_of, self.calls))

    def within(self, most: int) -> _Output:
        """Cut as a provider does: calls come last, so a long text costs them."""
        output = self
        while output.calls and output.tokens > most:
            output = replace(output, calls=output.calls[:-1], is_cut=True)
        while output.text and output.tokens > most:
            kept = int(len(output.text) * most / output.tokens * 0.98)
            output = replace(output, text=output.text[:kept], is_cut=True)
        return output

    def parts(self, random: Random) -> Iterator[Part]:
        if self.reasoning:
            yield {"reasoning": self.reasoning}
        start = 0
        while start < len(self.text):
            # Pieces of all sizes: a reader must not depend on where a provider cuts.
            end = start + random.randint(1, _LONGEST_PIECE)
            yield {"text": self.text[start:end]}
            start = end
        for call in self.calls:
            yield {"tool_call": call}
        if self.is_cut:
            yield {"ending": {"kind": "length", "said": "length"}}


def _tool_call(call: Call, id_: str) -> ToolCall:
    given = call.arguments if isinstance(call.arguments, str) else dict(call.arguments)
    return {"id": id_, "name": call.name, "arguments": given}


@lru_cache(maxsize=2_000)
def _tokens_in(text: str) -> int:
    """Remembered, because a conversation is sent again in every turn."""
    return estimate_tokens(text)


def _tokens_of(data: object) -> int:
    return _tokens_in(json.dumps(data, ensure_ascii=False))


def _tokens_of_request(request: ModelRequest) -> int:
    contents = sum(_tokens_in(message["content"]) for message in request.messages)
    calls = [call for message in request.messages for call in message.get("tool_calls", ())]
    tools = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    return contents + sum(map(_tokens_of, (*calls, *tools)))
