"""The known providers of models, and the names of models, such as `anthropic:claude-sonnet-5`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from oracle.errors import InputError, ModelRefused, SettingsError, did_you_mean
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.settings.sections import EMBEDDED, KEY_VARIABLES, OPTIONAL_KEY_VARIABLES
from oracle.services.settings.server_address import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

# The characters in names of models at all providers: `llama3.2:3b`, `qwen/qwen3-coder@q4`.
_MODEL = lazy_pattern(r"[\w./:@+-]{1,200}", re.ASCII)
# For suggestions only: the provider of a model that was named without one.
_FAMILIES = {"claude": "anthropic", "gpt": "openai", "o1": "openai", "o3": "openai"}

NO_KEY = "no-key"
"""Sent to servers that need no key, because the SDKs require one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A provider's address, and the environment variables for its key and for another address.

    `flags_failures`: a tool result in its protocol has a field that says whether the tool failed.
    """

    name: str
    address: str
    key_variable: str
    address_variable: str
    needs_key: bool = True
    flags_failures: bool = False


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider(
            name="anthropic",
            address="https://api.anthropic.com",
            key_variable=KEY_VARIABLES["anthropic"],
            address_variable="ANTHROPIC_BASE_URL",
            flags_failures=True,
        ),
        Provider(
            name="openai",
            address="https://api.openai.com/v1",
            key_variable=KEY_VARIABLES["openai"],
            address_variable="OPENAI_BASE_URL",
        ),
        Provider(
            name="ollama",
            address="http://localhost:11434/v1",
            key_variable=OPTIONAL_KEY_VARIABLES["ollama"],
            address_variable="OLLAMA_BASE_URL",
            needs_key=False,
        ),
    )
}


_NO_NAME: Final = "the name of the model is missing after the colon"


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """What to do in this user's settings, for error messages.

    `selecting` is the command that selects the model NAME, and `selecting_embedded` the one that
    needs no key; `naming_key` says which
    variable has the key for a server at `base_url`; `key_variable` is that variable, if there is
    one. It is never the provider's own. Variables cannot be set `in_chat`.
    """

    selecting: str = "oracle models use NAME"
    selecting_embedded: str = f"oracle models use {EMBEDDED}"
    naming_key: str = "oracle config set model.key_variable NAME --user"
    key_variable: str | None = None
    in_chat: bool = False

    @property
    def then(self) -> str:
        """What makes a change of the settings or of the environment count."""
        return " and start again with `oracle chat --session last`" if self.in_chat else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """A model with its address and its key.

    `is_home`: the address is the provider's own. `is_trusted`: it is the provider's own, or the
    environment names it. `key_setting` and `selecting` are for messages: where the key is set, and
    the command that selects another model.
    """

    provider: Provider
    model: str
    address: str
    key: str
    key_setting: str
    selecting: str
    is_home: bool
    is_trusted: bool

    @property
    def name(self) -> str:
        return f"{self.provider.name}:{self.model}"


def find_endpoint(
    name: str,
    environment: Mapping[str, str],
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    advice: Advice | None = None,
) -> Endpoint:
    """Find the address and the key of a model.

    The key from the provider's variable, or a stored one, is never sent to a `base_url`. A
    project's settings file can name one, and could so steal the key of everyone who tries the
    project.
    """
    # Imported here, because redaction takes long to load and most callers only split names.
    from oracle.services.project.redaction import hide
    from oracle.services.settings.keys import key_for, missing_key

    advice = advice or Advice()
    provider, model = split_name(name)
    chosen = base_url or environment.get(provider.address_variable) or provider.address
    address = checked_address(chosen)
    is_home = address == provider.address
    is_trusted = is_home or not base_url
    found = key_for(provider.name, environment) if is_trusted and not api_key else None
    key = (api_key or (found.value if found else "")).strip()
    if not key and provider.needs_key and is_home:
        what, step = missing_key(provider.name, in_chat=advice.in_chat)
        raise ModelRefused(f"{what}: {step}; `{advice.selecting_embedded}` needs no key")
    setting = advice.key_variable or (provider.key_variable if is_trusted else _no_variable(advice))
    if found and found.source != "variable":
        setting = f"the key in {found.where} (`oracle keys set {provider.name}` replaces it)"
    if not key.isascii() or not key.isprintable():
        raise InputError(
            f"the key for {provider.name} contains characters that are not allowed in a key; "
            f"set {setting} again"
        )
    hide(key)
    return Endpoint(
        provider=provider,
        model=model,
        address=address,
        key=key or NO_KEY,
        key_setting=setting,
        selecting=advice.selecting,
        is_home=is_home,
        is_trusted=is_trusted,
    )


def _no_variable(advice: Advice) -> str:
    return f"a variable to the key, name it with `{advice.naming_key}`{advice.then}"


def is_at_home(
    provider: str, environment: Mapping[str, str], *, base_url: str | None = None
) -> bool:
    """Whether requests go to the provider's own address, where its own prices hold."""
    known = PROVIDERS.get(provider)
    if known is None:  # such as the embedded model, which sends nothing
        return False
    chosen = base_url or environment.get(known.address_variable) or known.address
    return chosen.rstrip("/") == known.address


def split_name(name: str) -> tuple[Provider, str]:
    """`ollama:llama3.2:3b` is the model `llama3.2:3b` of `ollama`."""
    known, colon, model = name.partition(":")
    if not colon:
        raise SettingsError(
            f"model {name[:80]!r} has no provider; write it as {_example(name)!r} "
            f"(providers: {', '.join(PROVIDERS)})"
        )
    if known not in PROVIDERS:
        raise SettingsError(
            f"model {name[:80]!r}: there is no provider {known[:40]!r}"
            f"{did_you_mean(known[:40], PROVIDERS)} (providers: {', '.join(PROVIDERS)}); "
            "`oracle models` lists models"
        )
    if not is_model_name(model):
        why = f"{model[:60]!r} is not a valid name of a model" if model else _NO_NAME
        raise SettingsError(f"model {name[:80]!r}: {why}; `oracle models` lists models")
    return PROVIDERS[known], model


def is_model_name(model: str) -> bool:
    """Whether it could be the name of a model at a provider. It says nothing about existence."""
    return _MODEL.fullmatch(model) is not None


def _example(name: str) -> str:
    family = next((_FAMILIES[start] for start in _FAMILIES if name.startswith(start)), None)
    return f"{family}:{name[:80]}" if family else "anthropic:claude-sonnet-5"


def checked_address(address: str) -> str:
    if host_of(address) is None:
        raise InputError(
            f"{_without_password(address)!r} is not the address of a server; "
            "write it as 'http://localhost:8080/v1'"
        )
    return address.rstrip("/")


def _without_password(address: str) -> str:
    """For an error message: hide what is before the `@`, and what follows a `?` or a `#`."""
    return re.sub(r"[?#].*", "?…", re.sub(r"//[^/]*@", "//…@", address))[:200]
