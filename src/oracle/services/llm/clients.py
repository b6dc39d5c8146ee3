"""Creates pydantic-ai's models for our endpoints, with HTTP clients of our own.

- The SDKs do not retry, because `RetryingModel` does.
- A connection serves one request. No idle connection is left to close, and closing a stream always
  closes its connection.
- Redirects are not followed: the key would be sent along.
- A server that a setting names gets only the headers that the protocol needs. The SDKs would add
  the contents of environment variables that are meant for the provider itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import httpx2

from oracle.errors import InputError
from oracle.patterns import lazy_pattern
from oracle.services.certificates import certificates

if TYPE_CHECKING:
    from pydantic_ai.models import Model as DirectModel

    from oracle.services.llm.providers import Endpoint

CONNECT_SECONDS = 10.0
Sdk = TypeVar("Sdk")
_NEEDED = {
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "anthropic-version",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
}
_OF_OPENAI = lazy_pattern(r"gpt-(?!oss)|chatgpt-|o\d")
"""OpenAI's own models. They accept only the newer name of the output limit,
`max_completion_tokens`; most other servers know only the older name. `gpt-oss` runs on those.
"""


def direct_model(endpoint: Endpoint, stall_seconds: float) -> DirectModel:
    try:
        client = _http_client(endpoint, stall_seconds)
    except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
        raise InputError(
            f"the proxy or certificate settings in the environment cannot be used: {error}; "
            "check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE"
        ) from error
    if endpoint.provider.name == "anthropic":
        return _anthropic(endpoint, client)
    return _openai(endpoint, client)


def _http_client(endpoint: Endpoint, stall_seconds: float) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        verify=certificates(httpx2.create_ssl_context),
        timeout=httpx2.Timeout(stall_seconds, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_keepalive_connections=0),
        follow_redirects=False,
        event_hooks={"request": [] if endpoint.is_trusted else [_only_needed(endpoint.key)]},
    )


def _only_needed(key: str) -> Callable[[httpx2.Request], Awaitable[None]]:
    """A hook that removes all headers but the needed ones, and sets the key."""

    async def strip(request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower() not in _NEEDED]:
            del request.headers[name]
        request.headers["authorization"] = f"Bearer {key}"

    return strip


def _anthropic(endpoint: Endpoint, client: httpx2.AsyncClient) -> DirectModel:
    from anthropic import AsyncAnthropic
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.settings import ModelSettings

    from oracle.services.llm.anthropic_stream import MendedAnthropicModel

    sdk = _sdk(AsyncAnthropic, endpoint, client)
    # A run sends its prompt again in each turn. From the provider's cache that costs a tenth.
    settings = ModelSettings(cache=True)
    return MendedAnthropicModel(
        endpoint.model, provider=AnthropicProvider(anthropic_client=sdk), settings=settings
    )


def _openai(endpoint: Endpoint, client: httpx2.AsyncClient) -> DirectModel:
    from openai import AsyncOpenAI
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from oracle.services.llm.openai_stream import MendedOllamaModel, MendedOpenAIModel

    sdk = _sdk(AsyncOpenAI, endpoint, client)
    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=_is_newer(endpoint))
    if endpoint.provider.name == "ollama":
        ollama = OllamaProvider(openai_client=sdk)
        return MendedOllamaModel(endpoint.model, provider=ollama, profile=profile)
    provider = (
        OpenAIProvider(openai_client=sdk)
        if endpoint.is_home
        else OpenAICompatibleProvider("openai-compatible", openai_client=sdk)
    )
    return MendedOpenAIModel(endpoint.model, provider=provider, profile=profile)


def _sdk(create: Callable[..., Sdk], endpoint: Endpoint, client: httpx2.AsyncClient) -> Sdk:
    """Both SDKs take the same arguments."""
    return create(
        api_key=endpoint.key,
        base_url=endpoint.address,
        http_client=client,
        timeout=client.timeout,
        max_retries=0,
    )


def _is_newer(endpoint: Endpoint) -> bool:
    """Whether the server knows the newer name of the output limit."""
    if endpoint.provider.name == "ollama":
        return False
    return endpoint.is_home or _OF_OPENAI.match(endpoint.model) is not None
