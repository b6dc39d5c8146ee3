"""Says whether a model may spend the user's money.

A model that the user has named pays with the user's key without a question: by `oracle models use`,
in the user's own settings file, in a variable or in a flag. A project's file may be the work of
somebody else. A paid model that it names is used only after a yes, which is remembered for this
project and this model.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from oracle.errors import InputError, OracleError, SettingsError, StoreError
from oracle.lazy_dataclass import dataclass
from oracle.services.llm.names import full_name
from oracle.services.llm.ollama import runs_elsewhere
from oracle.services.llm.providers import PROVIDERS, is_at_home
from oracle.services.settings.sections import EMBEDDED
from oracle.services.settings.trust import trusts
from oracle.services.user_files import recall, remember

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.services.llm.protocol import Prices
    from oracle.services.settings.sections import ModelSettings
    from oracle.settings import Settings

Environment = Mapping[str, str]

_TOPIC: Final = "models of projects"


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A model that could be used, and the place of the key that would pay for it."""

    name: str
    short_name: str
    provider: str
    key: str


def offer_for(settings: Settings, environment: Environment) -> Offer | None:
    """The model to offer to a user who has a key and has selected nothing."""
    from oracle.services.llm.catalogue import DEFAULTS

    if settings.origins["model.name"].source != "default" or settings.model.base_url is not None:
        return None
    for provider, family in DEFAULTS.items():
        if place := place_of_key(provider, environment):
            name = full_name(f"{provider}:{family}", environment)
            return Offer(name=name, short_name=family, provider=provider, key=place)
    return None


def paying_key(chosen: ModelSettings, environment: Environment) -> str | None:
    """The place of the key that would pay for this model; None if no key would be sent."""
    provider, _, model = chosen.name.partition(":")
    if provider not in PROVIDERS:
        return None
    if chosen.key_variable is not None:
        return chosen.key_variable if environment.get(chosen.key_variable) else None
    if chosen.base_url is not None and not is_at_home(provider, {}, base_url=chosen.base_url):
        return None
    if provider == "ollama" and runs_elsewhere(model):
        return "the account that ollama is signed in with"
    return place_of_key(provider, environment)


def place_of_key(provider: str, environment: Environment) -> str | None:
    """In words. It does not start the keyring, which takes long."""
    from oracle.services.settings.keys import VARIABLES, keys_file, source_of
    from oracle.services.settings.resolve import shown_path

    source = source_of(provider, environment)
    if source == "variable":
        return VARIABLES[provider]
    if source == "file":
        return shown_path(keys_file())
    return "the system keyring" if source == "keyring" else None


def with_full_name(settings: Settings, environment: Environment) -> Settings:
    """The settings with `provider:model` in place of a short name."""
    chosen, origin = settings.model, settings.origins["model.name"]
    try:
        full = full_name(chosen.name, environment, base_url=chosen.base_url)
    except InputError as problem:
        raise SettingsError(f"{origin}: {problem}") from None
    return replace(settings, model=replace(chosen, name=full))


# -- a model that a project's file names -----------------------------------------------------------


def consent_to(settings: Settings, environment: Environment) -> Literal["yes", "no", "unknown"]:
    """Whether the user lets this model spend money. The model must have its full name."""
    root = settings.root
    if settings.origins["model.name"].source != "file" or root is None:
        return "yes"
    if paying_key(settings.model, environment) is None:
        return "yes"
    said = recall(_TOPIC).get(_entry(root, settings.model.name))
    if said in ("yes", "no"):
        return said
    return "yes" if _is_trusted(settings, root, environment) else "unknown"


def keep_consent(root: Path, name: str, said: Literal["yes", "no"]) -> None:
    remember(_TOPIC, _entry(root, name), said)


def agree_by_writing(name: str, file: Path) -> None:
    """A user who writes a model into a project's file agrees to what it costs there."""
    from oracle.services.settings.resolve import user_settings_file

    # Where it cannot be kept, the user is asked once more.
    if file != user_settings_file() and name != EMBEDDED:
        with suppress(StoreError):
            keep_consent(file.parent, name, "yes")


def check_spending(settings: Settings, environment: Environment) -> None:
    """An error if a project's file would spend money that nobody has agreed to."""
    settings = with_full_name(settings, environment)
    consent = consent_to(settings, environment)
    if consent == "yes":
        return
    name, origin = settings.model.name, settings.origins["model.name"]
    why = "you have said no to it" if consent == "no" else "nobody has agreed to that yet"
    raise SettingsError(
        f"{origin}: {name} would be paid with your key ({paying_key(settings.model, environment)}),"
        f" and {why}; to agree, run `oracle models use {name} --project`, "
        f"or set ORACLE_MODEL_NAME={name}"
    )


def users_choice(environment: Environment) -> str:
    """The model in the user's own settings file; embedded if there is none that can be used."""
    from oracle.services.settings.editing import value_in
    from oracle.services.settings.resolve import user_settings_file

    try:
        chosen = value_in(user_settings_file(), "model.name")
        return full_name(chosen, environment) if isinstance(chosen, str) else EMBEDDED
    except OracleError:
        return EMBEDDED


def _is_trusted(settings: Settings, root: Path, environment: Environment) -> bool:
    return trusts(root, environment) or users_choice(environment) == settings.model.name


def _entry(root: Path, name: str) -> str:
    return f"{os.path.realpath(root)} {name}"


def prices_for(chosen: ModelSettings, environment: Environment) -> Prices | None:
    """The prices in the settings; else those in the table, which hold at the provider itself."""
    from oracle.services.llm.model_facts import facts_about
    from oracle.services.llm.protocol import Prices

    if chosen.name == EMBEDDED:
        return Prices(input=0, output=0)
    if chosen.input_price is not None and chosen.output_price is not None:
        return Prices(input=chosen.input_price, output=chosen.output_price)
    provider, _, model = chosen.name.partition(":")
    is_home = is_at_home(provider, environment, base_url=chosen.base_url)
    return facts_about(provider, model).prices if is_home else None
