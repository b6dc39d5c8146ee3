"""What `oracle doctor` says about the selected model. Only ollama is asked; providers are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from oracle.errors import OracleError
from oracle.services.llm.ollama import local_models
from oracle.services.llm.spending import (
    consent_to,
    offer_for,
    paying_key,
    users_choice,
    with_full_name,
)
from oracle.services.settings.keys import missing_key
from oracle.settings import EMBEDDED

if TYPE_CHECKING:
    from oracle.settings import Settings

Seen = tuple[Literal["ok", "warning", "problem"], str, str]
"""Level, what was found, and the next step (may be empty)."""


def health_of_model(settings: Settings, environment: Mapping[str, str]) -> Iterator[Seen]:
    try:
        named = with_full_name(settings, environment)
    except OracleError as problem:
        yield "problem", str(problem), "`oracle models` lists what can be used"
        return
    if named.model.name == EMBEDDED:
        yield _embedded(settings, environment)
    elif named.model.base_url is not None:
        yield _elsewhere(named, environment)
    elif named.model.provider == "ollama":
        yield _ollama(named, environment)
    else:
        yield _provider(named, environment)


def _embedded(settings: Settings, environment: Mapping[str, str]) -> Seen:
    origin = settings.origins["model.name"]
    if origin.source != "default":
        step = "`oracle models` lists what else can be used"
        return "ok", f"embedded, from {origin}: answers only quote what was found", step
    told = "embedded: no language model is selected, so answers only quote what was found"
    if settings.model.base_url is not None:
        server = settings.shown("model.base_url")
        return "warning", told, f"`oracle models use openai:NAME` selects one of {server}"
    if offer := offer_for(settings, environment):
        step = f"`oracle models use {offer.short_name}` selects one; its key is in {offer.key}"
        return "warning", told, step
    return "warning", told, "`oracle models` lists what can be used, and how to select one"


def _elsewhere(settings: Settings, environment: Mapping[str, str]) -> Seen:
    chosen = settings.model
    told = f"{chosen.name} at {settings.shown('model.base_url')}"
    if chosen.key_variable is None:
        return "ok", f"{told}, without a key", ""
    if environment.get(chosen.key_variable):
        return "ok", f"{told}, key in {chosen.key_variable}", ""
    return "problem", f"{chosen.name} has no key", f"set {chosen.key_variable}"


def _ollama(settings: Settings, environment: Mapping[str, str]) -> Seen:
    name = settings.model.name
    model = name.partition(":")[2]
    local = local_models(environment)
    if local.problem:
        return "problem", f"{name}: {local.problem}", "start it with `ollama serve`"
    if {model, f"{model}:latest"}.isdisjoint(known.name for known in local.models):
        return "problem", f"{name}: ollama does not have it", f"get it with `ollama pull {model}`"
    return _with_consent(settings, environment, "no key needed")


def _provider(settings: Settings, environment: Mapping[str, str]) -> Seen:
    chosen = settings.model
    key = paying_key(chosen, environment)
    if key is not None:
        return _with_consent(settings, environment, f"key in {key}")
    if chosen.key_variable is not None:
        return "problem", f"{chosen.name} has no key", f"set {chosen.key_variable}"
    why, step = missing_key(chosen.provider)
    return "problem", f"{chosen.name}: {why}", step


def _with_consent(settings: Settings, environment: Mapping[str, str], key: str) -> Seen:
    name, origin = settings.model.name, settings.origins["model.name"]
    consent = consent_to(settings, environment)
    if consent == "yes":
        return "ok", f"{name}, {key}", ""
    step = f"`oracle models use {name} --project` allows it"
    if consent == "no":
        return "ok", f"{users_choice(environment)}, because you said no to {name} ({origin})", step
    return "warning", f"{name} ({origin}) spends money that you have not agreed to", step
