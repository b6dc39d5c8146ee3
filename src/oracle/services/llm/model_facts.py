"""Facts about models: context window, longest output and prices.

Prices and context windows come from the package `genai-prices`, which contains its table; nothing
is downloaded. It is imported when a model is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.lazy_dataclass import dataclass
from oracle.services.llm.protocol import Prices

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.types import ModelInfo, TieredPrices

USUAL_WINDOW = 32_768
USUAL_OUTPUT = 16_384
"""For models that are not in the table. Settings can give the real values."""

WINDOW_FOR_OUTPUT = 4
"""The output may take this fraction (one in four) of the context window; the rest is for input."""

_SHORTER_OUTPUT = {
    "claude-2": 4_096,
    "claude-3-haiku": 4_096,
    "claude-3-opus": 4_096,
    "claude-3-sonnet": 4_096,
    "claude-3-5": 8_192,
    "gpt-3.5": 4_096,
    "gpt-4-turbo": 4_096,
}
"""Models, by the start of their names, that reject a request for the usual output length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFacts:
    """`prices` is None if they are unknown."""

    context_window: int
    longest_output: int
    prices: Prices | None


def facts_about(provider: str, model: str) -> ModelFacts:
    known = _look_up(provider, model)
    window = (known.context_window if known else None) or USUAL_WINDOW
    starts = (start for start in _SHORTER_OUTPUT if model.startswith(start))
    usual = next((_SHORTER_OUTPUT[start] for start in starts), USUAL_OUTPUT)
    return ModelFacts(
        context_window=window,
        longest_output=min(usual, window // WINDOW_FOR_OUTPUT),
        prices=prices_of(known) if known else None,
    )


def _look_up(provider: str, model: str) -> ModelInfo | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, provider, None)[1]
    except LookupError:
        return None


def models_in_table(provider: str) -> Sequence[ModelInfo]:
    """Everything that the table lists for a provider, not only models that chat."""
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot().find_provider(None, provider, None).models


def is_in_table(provider: str, model: str) -> bool:
    """Also for dated names, such as `claude-sonnet-4-5-20250929`."""
    return _look_up(provider, model) is not None


def prices_of(known: ModelInfo) -> Prices | None:
    from datetime import UTC, datetime

    current = known.get_prices(datetime.now(UTC))
    if current.input_mtok is None or current.output_mtok is None:
        return None
    steps = sorted({*_steps(current.input_mtok), *_steps(current.output_mtok)})
    first, *rest = [_at(step, current.input_mtok, current.output_mtok) for step in (0, *steps)]
    return _stepped(first, list(zip(steps, rest, strict=True)))


def _stepped(first: Prices, rest: list[tuple[int, Prices]]) -> Prices:
    """Link the prices of all steps: each one knows where the next begins."""
    if not rest:
        return first
    (above, following), *further = rest
    then = _stepped(following, further)
    return replace(first, above=above, then=then)


def _steps(price: Decimal | TieredPrices) -> list[int]:
    return [tier.start for tier in getattr(price, "tiers", ())]


def _at(tokens: int, *prices: Decimal | TieredPrices) -> Prices:
    paid, received = (_price_at(tokens, price) for price in prices)
    return Prices(input=paid, output=received)


def _price_at(tokens: int, price: Decimal | TieredPrices) -> float:
    from genai_prices.types import TieredPrices

    if not isinstance(price, TieredPrices):
        return float(price)
    reached = [tier.price for tier in price.tiers if 0 < tier.start <= tokens]
    return float(reached[-1] if reached else price.base)
