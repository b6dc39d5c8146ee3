"""A model that counts and refuses like a provider, whose tokenizer is not ours.

model = MeteredModel(lambda request: "It is so.", factor=1.7, context_window=8_000)
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from math import ceil
from typing import Any, cast

from oracle.errors import ContextTooLong
from oracle.services.control.conversation import Weight
from oracle.services.llm.protocol import ModelRequest, Part, Prices
from oracle.services.prompting.tokens import estimate_tokens
from oracle.testing.models import Reply


def tokens_in(text: str, factor: float) -> int:
    return ceil(factor * estimate_tokens(text))


class MeteredModel:
    """Answers each request with what `reply` makes of it, and counts what that costs.

    A text has `factor` times the tokens that we would estimate. `window` is the real one; it may be
    smaller than the `context_window` that the model claims. A request whose input and longest
    output together are larger is refused, for nothing. An output longer than was allowed is cut,
    unless the model is not `obedient`.
    """

    def __init__(
        self,
        reply: Callable[[ModelRequest], Reply | str],
        *,
        factor: float = 1.0,
        context_window: int = 200_000,
        window: int | None = None,
        longest_output: int = 4_096,
        prices: Prices | None = None,
        reports: bool = True,
        obedient: bool = True,
    ) -> None:
        self._reply = reply
        self._factor = factor
        self._window = window or context_window
        self._reports = reports
        self._obedient = obedient
        self.name = "metered"
        self.context_window = context_window
        self.longest_output = longest_output
        self.prices = prices
        self.requests: list[ModelRequest] = []
        self.refused = 0
        self.tokens = 0
        self.money = 0.0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        sent = self.count_input(request)
        longest = request.longest_output or self.longest_output
        if sent + longest > self._window:
            self.refused += 1
            raise ContextTooLong(f"{sent} + {longest} tokens > {self._window}")
        self.requests.append(request)
        reply = self._reply(request)
        reply = Reply(text=reply) if isinstance(reply, str) else reply
        text = reply.text
        if self._obedient and self.count(text) > longest:
            text = text[: int(len(text) * longest / self.count(text))]
        written = 0
        self._pay(sent, 0)
        for start in range(0, len(text), reply.piece):
            said = self.count(text[: start + reply.piece])
            self._pay(0, said - written, sent)
            written = said
            yield {"text": text[start : start + reply.piece]}
        calls: Sequence[tuple[str, Mapping[str, object] | str]] = reply.calls
        for number, (name, arguments) in enumerate(calls):
            cost = self.count(json.dumps(arguments))
            self._pay(0, cost, sent)
            written += cost
            given = dict(arguments) if isinstance(arguments, Mapping) else arguments
            call_id = f"call-{len(self.requests)}-{number}"
            yield {"tool_call": {"id": call_id, "name": name, "arguments": given}}
        if self._reports:
            yield {"usage": {"input_tokens": sent, "output_tokens": written}}

    def count(self, text: str) -> int:
        return tokens_in(text, self._factor)

    def count_input(self, request: ModelRequest) -> int:
        messages = cast("Sequence[Mapping[str, Any]]", request.messages)
        tools = json.dumps(
            [[spec.name, spec.description, dict(spec.parameters)] for spec in request.tools]
        )
        return ceil(self._factor * Weight().with_all(messages).tokens) + self.count(tools)

    def _pay(self, input_tokens: int, output_tokens: int, of: int | None = None) -> None:
        """`of` is the input of the request that an output belongs to: it may decide the price."""
        self.tokens += input_tokens + output_tokens
        if self.prices is not None:
            base = input_tokens if of is None else of
            self.money += self.prices.cost(base, output_tokens)
            self.money -= 0.0 if of is None else self.prices.cost(base, 0)
