"""The providers of models that we know, and how a model is named: `anthropic:claude-sonnet-5`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from oracle.errors import InputError, ModelRefused, did_you_mean
from oracle.settings import KEY_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODEL = re.compile(r"[\w./:@+-]{1,200}", re.ASCII)
_FAMILIES = {"claude": "anthropic", "gpt": "openai", "o1": "openai", "o3": "openai"}

KEY_SETTING = "the variable that [model] key_variable names in oracle.toml"
"""Where the key of a server of one's own comes from: never from a provider's variable."""

NO_KEY = "no-key"
"""Goes to servers that want none, since the clients insist on one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """Where a provider is, and the variables that say who calls and whether it is elsewhere.

    `flags_failures`: in its protocol a tool's result says apart from its text whether it failed.
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
            key_variable="OLLAMA_API_KEY",
            address_variable="OLLAMA_BASE_URL",
            needs_key=False,
        ),
    )
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """A model, where it is asked and with which key.

    `is_home`: at the provider's own address. `is_trusted`: there, or where the environment says.
    """

    provider: Provider
    model: str
    address: str
    key: str
    key_setting: str
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
) -> Endpoint:
    """A key from the provider's variable never goes to a `base_url`: a project's own settings file
    could name one, and would collect the key of whoever tries the project.
    """
    provider, model = split_name(name)
    chosen = base_url or environment.get(provider.address_variable) or provider.address
    address = _checked_address(chosen)
    is_home = address == provider.address
    is_trusted = is_home or not base_url
    found = environment.get(provider.key_variable) if is_trusted else None
    setting = provider.key_variable if is_trusted else KEY_SETTING
    key = (api_key or found or "").strip()
    if not key and provider.needs_key and is_home:
        raise ModelRefused(
            f"there is no key for {provider.name}: set the variable {setting}, "
            "or choose another model"
        )
    if not key.isascii() or not key.isprintable():
        raise InputError(f"the key for {provider.name} holds characters that no key has")
    return Endpoint(
        provider=provider,
        model=model,
        address=address,
        key=key or NO_KEY,
        key_setting=setting,
        is_home=is_home,
        is_trusted=is_trusted,
    )


def split_name(name: str) -> tuple[Provider, str]:
    """`ollama:llama3.2:3b` is the model `llama3.2:3b` of `ollama`."""
    known, colon, model = name.partition(":")
    if not colon:
        raise InputError(
            f"model {name[:80]!r} names no provider; write it as {_example(name)!r} "
            f"(providers: {', '.join(PROVIDERS)})"
        )
    if known not in PROVIDERS:
        raise InputError(
            f"model {name[:80]!r}: there is no provider {known[:40]!r}"
            f"{did_you_mean(known[:40], PROVIDERS)} (providers: {', '.join(PROVIDERS)})"
        )
    if not _MODEL.fullmatch(model):
        raise InputError(f"model {name[:80]!r}: {model[:60]!r} cannot be the name of a model")
    return PROVIDERS[known], model


def _example(name: str) -> str:
    family = next((_FAMILIES[start] for start in _FAMILIES if name.startswith(start)), None)
    return f"{family}:{name[:80]}" if family else "anthropic:claude-sonnet-5"


def _checked_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        raise InputError(
            f"base_url {_without_password(address)!r} is no address of a server; "
            "write it as 'http://localhost:8080/v1'"
        )
    return address.rstrip("/")


def _without_password(address: str) -> str:
    return re.sub(r"//[^/]*@", "//…@", address)[:200]
