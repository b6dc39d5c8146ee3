from dataclasses import asdict

import pytest

from oracle.services.llm.model_facts import facts_about
from oracle.services.llm.protocol import Prices


def test_a_known_model_has_its_window_and_its_prices():
    facts = facts_about("openai", "gpt-5")
    assert facts.context_window == 400_000
    assert facts.prices == Prices(input=1.25, output=10)


def test_a_dated_name_is_the_same_model():
    assert facts_about("anthropic", "claude-opus-4-1-20250805") == facts_about(
        "anthropic", "claude-opus-4-1"
    )


@pytest.mark.parametrize("provider", ["anthropic", "openai", "ollama"])
def test_of_an_unknown_model_no_price_is_claimed(provider):
    facts = facts_about(provider, "nobody-knows-me")
    assert facts.prices is None
    assert (facts.context_window, facts.longest_output) == (32_768, 8_192)


def test_prices_that_rise_with_the_input_rise_for_the_whole_request():
    prices = facts_about("anthropic", "claude-sonnet-4-5").prices
    assert prices is not None
    assert Prices.from_dict(asdict(prices)) == prices
    assert prices.cost(200_000, 1_000) == pytest.approx(0.6 + 0.015)
    assert prices.cost(200_001, 1_000) == pytest.approx(1.200006 + 0.0225)


@pytest.mark.parametrize(
    ("model", "most"), [("claude-3-haiku", 4_096), ("claude-3-5-haiku-latest", 8_192)]
)
def test_models_that_write_less_are_asked_for_less(model, most):
    assert facts_about("anthropic", model).longest_output == most
