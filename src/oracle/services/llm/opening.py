"""Opens a model by its name. The SDKs are imported only when a model is opened."""

from __future__ import annotations

import os
from collections.abc import Mapping

from oracle.errors import InputError
from oracle.services.llm.names import full_name
from oracle.services.llm.protocol import Model, Prices
from oracle.services.llm.providers import Advice, Endpoint, find_endpoint
from oracle.services.llm.retrying import RetryingModel
from oracle.services.settings.sections import ATTEMPTS, STALL_SECONDS


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    context_window: int | None = None,
    longest_output: int | None = None,
    prices: Prices | None = None,
    stall_seconds: float = STALL_SECONDS,
    attempts: int = ATTEMPTS,
    environment: Mapping[str, str] | None = None,
    advice: Advice | None = None,
) -> Model:
    """`name` is `provider:model`, or a short name such as `sonnet`. `base_url` is any server with
    the same protocol as the provider.

    What is not given is looked up: the key in the provider's variable, the rest in a table. Nothing
    is sent before the first request, so a wrong key or an unknown model is reported only then.
    """
    _check_positive(
        context_window=context_window,
        longest_output=longest_output,
        stall_seconds=stall_seconds,
        attempts=attempts,
    )
    variables = os.environ if environment is None else environment
    meant = full_name(name, variables, base_url=base_url)
    endpoint = find_endpoint(meant, variables, base_url=base_url, api_key=api_key, advice=advice)
    model = _open(
        endpoint,
        context_window=context_window,
        longest_output=longest_output,
        prices=prices,
        stall_seconds=stall_seconds,
    )
    return RetryingModel(model, attempts=attempts) if attempts > 1 else model


def _open(
    endpoint: Endpoint,
    *,
    context_window: int | None,
    longest_output: int | None,
    prices: Prices | None,
    stall_seconds: float,
) -> Model:
    from oracle.services.llm.clients import direct_model
    from oracle.services.llm.model_facts import WINDOW_FOR_OUTPUT, ModelFacts, facts_about
    from oracle.services.llm.provider_model import ProviderModel

    known = facts_about(endpoint.provider.name, endpoint.model)
    window = context_window or known.context_window
    facts = ModelFacts(
        context_window=window,
        longest_output=longest_output or min(known.longest_output, window // WINDOW_FOR_OUTPUT),
        # The table has the provider's own prices. Another server may cost something else.
        prices=prices or (known.prices if endpoint.is_home else None),
    )
    return ProviderModel(
        endpoint=endpoint,
        facts=facts,
        direct=direct_model(endpoint, stall_seconds),
        stall_seconds=stall_seconds,
    )


def _check_positive(**settings: float | None) -> None:
    for name, value in settings.items():
        if value is not None and not value > 0:
            raise InputError(f"{name} must be above 0, not {value}; give a larger number")
