"""The providers that search the web, one table: how each is asked, and where its answer lies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from oracle.errors import WebProblem, did_you_mean
from oracle.services.web.decoding import unpacked
from oracle.services.web.readable import readable
from oracle.services.web.settings import WebSettings
from oracle.settings import KEY_VARIABLES

if TYPE_CHECKING:
    import httpx

_SECONDS: Final = 20.0
_MOST_BYTES: Final = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Page:
    title: str
    url: str
    excerpt: str
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Provider:
    """`query` and `count` name the parameters, `results` the way to the list in the answer.

    `key` is how the key is sent: a header, and what stands before the key in it.
    """

    name: str
    url: str | None
    path: str
    method: str
    query: str
    count: str | None
    results: tuple[str, ...]
    excerpt: str
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    key: tuple[str, str] | None = None
    most: int = 20


PROVIDERS: Final = {
    provider.name: provider
    for provider in (
        Provider(
            name="searxng",
            url=None,
            path="/search",
            method="GET",
            query="q",
            count=None,
            results=("results",),
            excerpt="content",
            fixed={"format": "json"},
        ),
        Provider(
            name="tavily",
            url="https://api.tavily.com",
            path="/search",
            method="POST",
            query="query",
            count="max_results",
            results=("results",),
            excerpt="content",
            key=("Authorization", "Bearer "),
        ),
        Provider(
            name="brave",
            url="https://api.search.brave.com",
            path="/res/v1/web/search",
            method="GET",
            query="q",
            count="count",
            results=("web", "results"),
            excerpt="description",
            key=("X-Subscription-Token", ""),
        ),
    )
}
_HOW_TO_SET: Final = (
    "set it in oracle.toml under [web]: provider (searxng, tavily or brave), url (for searxng), "
    "or by ORACLE_WEB_PROVIDER and ORACLE_WEB_URL; the key of tavily in TAVILY_API_KEY, of brave "
    "in BRAVE_API_KEY"
)


async def search_web(settings: WebSettings, query: str, limit: int) -> list[Page]:
    """The first pages that the provider names. Raises `WebProblem`, which never shows the key."""
    provider, url = _chosen(settings)
    try:
        async with asyncio.timeout(_SECONDS):
            data = await _ask(provider, url, settings.key, query, limit)
    except TimeoutError:
        raise WebProblem(
            f"{provider.name} did not answer within {_SECONDS:g} s; try once more, or go on without"
        ) from None
    return _pages(provider, data)[:limit]


def _chosen(settings: WebSettings) -> tuple[Provider, str]:
    """Who is asked, and where."""
    if not settings.provider:
        raise WebProblem(
            f"no provider searches the web for this project: tell the user to {_HOW_TO_SET}. "
            "web_fetch reads a page whose address is known"
        )
    provider = PROVIDERS.get(settings.provider.strip().lower())
    if provider is None:
        hint = did_you_mean(settings.provider, PROVIDERS)
        raise WebProblem(
            f"web.provider {settings.provider!r} is unknown{hint}; tell the user to {_HOW_TO_SET}"
        )
    url = settings.url or provider.url
    if url is None or urlsplit(url).scheme not in ("http", "https"):
        raise WebProblem(
            f"web.url is {url!r}, and {provider.name} needs its address: tell the user to "
            "set url under [web] or ORACLE_WEB_URL, such as http://localhost:8888"
        )
    if provider.key and not settings.key:
        raise WebProblem(
            f"{provider.name} needs a key: tell the user to set {_key_variable(provider)}"
        )
    return provider, url.rstrip("/")


async def _ask(provider: Provider, url: str, key: str | None, query: str, limit: int) -> object:
    import httpx

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if provider.key and key:
        headers[provider.key[0]] = provider.key[1] + key
    asked: dict[str, Any] = {provider.query: query, **provider.fixed}
    if provider.count:
        asked[provider.count] = min(limit, provider.most)
    body: dict[str, Any] = {"json": asked} if provider.method == "POST" else {"params": asked}
    address = url if url.endswith(provider.path) else url + provider.path
    try:
        async with (
            httpx.AsyncClient(timeout=_SECONDS) as client,
            client.stream(provider.method, address, headers=headers, **body) as response,
        ):
            return _decoded(provider, await _body(provider, response))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as problem:
        raise WebProblem(
            f"{provider.name} at {url} cannot be reached ({type(problem).__name__}); tell the user "
            "to check web.url, or go on without the web"
        ) from None


async def _body(provider: Provider, response: httpx.Response) -> bytes:
    if response.status_code != 200:
        raise WebProblem(_refused(provider, response.status_code))
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > _MOST_BYTES:
            raise WebProblem(f"{provider.name} answered with too much; ask for fewer pages")
    packed = response.headers.get("content-encoding", "")
    return unpacked(bytes(data), packed, _MOST_BYTES)[0]


def _refused(provider: Provider, status: int) -> str:
    if status == 429:
        return f"{provider.name} has had too many searches for now (429); go on without, or later"
    if provider.name == "searxng" and status == 403:
        return (
            "searxng refuses JSON (403): tell the user to add json to search.formats in the "
            "settings.yml of that instance"
        )
    if status in (401, 403):
        variable = _key_variable(provider)
        return f"{provider.name} refuses the key ({status}): tell the user to check {variable}"
    return f"{provider.name} answers {status}; tell the user to check web.url, or go on without"


def _key_variable(provider: Provider) -> str:
    return f"{KEY_VARIABLES[provider.name]}, or the variable that key_variable names under [web]"


def _decoded(provider: Provider, data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise WebProblem(
            f"{provider.name} did not answer with JSON; tell the user to check web.url"
        ) from None


def _pages(provider: Provider, data: object) -> list[Page]:
    """Whatever is not shaped as it should be is left out."""
    for step in provider.results:
        data = cast("dict[str, object]", data).get(step) if isinstance(data, dict) else None
    if not isinstance(data, list):
        return []
    entries = [
        cast("dict[str, object]", entry)
        for entry in cast("list[object]", data)
        if isinstance(entry, dict)
    ]
    return [page for entry in entries if (page := _page(provider, entry))]


def _page(provider: Provider, entry: dict[str, object]) -> Page | None:
    url = entry.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return None
    score = entry.get("score")
    is_share = isinstance(score, int | float) and 0 <= score <= 1
    return Page(
        title=_plain(entry.get("title")) or url,
        url=url[:2000],
        excerpt=_plain(entry.get(provider.excerpt)),
        score=float(cast("float", score)) if is_share else None,
    )


def _plain(value: object) -> str:
    """Providers mark the words that match with tags."""
    return readable(value[:5000], "").text if isinstance(value, str) else ""
