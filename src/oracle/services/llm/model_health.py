"""What `oracle doctor` says about the selected model. Only servers on this machine are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from oracle.errors import OracleError
from oracle.services.llm.ollama import SECONDS, local_models
from oracle.services.llm.spending import (
    consent_to,
    offer_for,
    paying_key,
    users_choice,
    with_full_name,
)
from oracle.services.settings.keys import key_for, missing_key
from oracle.services.settings.sections import EMBEDDED
from oracle.services.settings.server_address import is_loopback

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
    """A server on this machine is connected to; nothing is sent to it."""
    chosen = settings.model
    told = f"{chosen.name} at {settings.shown('model.base_url')}"
    if chosen.key_variable is not None and not environment.get(chosen.key_variable):
        return "problem", f"{chosen.name} has no key", f"set {chosen.key_variable}"
    key = f"key in {chosen.key_variable}" if chosen.key_variable else "without a key of yours"
    address = chosen.base_url or ""
    if not is_loopback(address):
        return "ok", f"{told}, {key}; not contacted", ""
    if not _listens(address):
        step = "start the server, or change model.base_url"
        return "problem", f"{told}: nothing answers there", step
    return "ok", f"{told}, {key}", ""


def _listens(address: str) -> bool:
    import socket

    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=SECONDS).close()
    except OSError:
        return False
    return True


def _ollama(settings: Settings, environment: Mapping[str, str]) -> Seen:
    name = settings.model.name
    model = name.partition(":")[2]
    local = local_models(environment)
    if local.problem:
        return "problem", f"{name}: {local.problem}", local.step
    if not local.has(model):
        return "problem", f"{name}: ollama does not have it", f"get it with `ollama pull {model}`"
    return _with_consent(settings, environment, "no key needed")


def _provider(settings: Settings, environment: Mapping[str, str]) -> Seen:
    chosen = settings.model
    key = paying_key(chosen, environment)
    is_readable = chosen.key_variable is not None or key_for(chosen.provider, environment)
    if key is not None and is_readable:
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
