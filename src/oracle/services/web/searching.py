"""Web search: one table of providers, with the form of each one's request and response."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from oracle.errors import WebProblem, did_you_mean
from oracle.lazy_dataclass import dataclass
from oracle.services.certificates import certificates
from oracle.services.settings.sections import KEY_VARIABLES
from oracle.services.web.decoding import decompressed
from oracle.services.web.readable import readable
from oracle.services.web.scraped_search import NAME as SCRAPED
from oracle.services.web.scraped_search import scraped_results

if TYPE_CHECKING:
    import httpx

_SECONDS: Final = 20.0
_MOST_BYTES: Final = 2_000_000
# Characters of a title or an excerpt. Results are a few lines; more is not worth converting.
_LONGEST_EXCERPT: Final = 5_000
_LONGEST_URL: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class WebSearchAccess:
    """The provider that a project has chosen, and its key.

    `url` is the provider's address if it is not the usual one. SearXNG has no usual one.
    """

    provider: str | None = None
    url: str | None = None
    # Not in the repr, which may end up in a log.
    key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class FoundPage:
    title: str
    url: str
    excerpt: str
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class SearchProvider:
    """`query` and `count` are the names of parameters. `results` are the keys that lead to the list
    of results in the response, and `excerpt` is a field of a result.

    `key` is the header that carries the key, and the text before the key in it.
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


SEARCH_PROVIDERS: Final = {
    provider.name: provider
    for provider in (
        SearchProvider(
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
        SearchProvider(
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
        SearchProvider(
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
    "set it in oracle.toml under [web]: provider (searxng, tavily, brave or ddgs), url (for "
    "searxng), or by ORACLE_WEB_PROVIDER and ORACLE_WEB_URL; the key of tavily in TAVILY_API_KEY, "
    "of brave in BRAVE_API_KEY"
)


async def search_web(access: WebSearchAccess, query: str, limit: int) -> list[FoundPage]:
    """The first pages that the provider finds. Raises `WebProblem`, which never shows the key."""
    name = (access.provider or "").strip().lower()
    try:
        async with asyncio.timeout(_SECONDS):
            if name == SCRAPED:
                return await _scraped(query, limit)
            provider, url = _chosen(access)
            data = await _ask(provider, url, access.key, query, limit)
            return _pages(provider, data)[:limit]
    except TimeoutError:
        raise WebProblem(
            f"{name} did not answer within {_SECONDS:g} s; try once more, or continue without the "
            "web"
        ) from None


async def _scraped(query: str, limit: int) -> list[FoundPage]:
    found = await scraped_results(query, limit)
    entries = [{**entry, "url": entry.get("href")} for entry in found]
    return [page for entry in entries if (page := _page(entry, "body"))][:limit]


def _chosen(access: WebSearchAccess) -> tuple[SearchProvider, str]:
    """The provider and its address."""
    if not access.provider:
        raise WebProblem(
            f"this project has no provider for web search: tell the user to {_HOW_TO_SET}"
        )
    provider = SEARCH_PROVIDERS.get(access.provider.strip().lower())
    if provider is None:
        step = f"tell the user to {_HOW_TO_SET}"
        hint = did_you_mean(access.provider, [*SEARCH_PROVIDERS, SCRAPED], step=step)
        raise WebProblem(f"web.provider {access.provider!r} is unknown{hint}")
    url = access.url or provider.url
    if url is None or urlsplit(url).scheme not in ("http", "https"):
        raise WebProblem(
            f"web.url is {url!r}, and {provider.name} needs its address: tell the user to "
            "set url under [web] or ORACLE_WEB_URL, such as http://localhost:8888"
        )
    if provider.key and not access.key:
        raise WebProblem(
            f"{provider.name} needs a key: tell the user to set {_key_variable(provider)}"
        )
    return provider, url.rstrip("/")


async def _ask(
    provider: SearchProvider, url: str, key: str | None, query: str, limit: int
) -> object:
    import httpx

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if provider.key and key:
        headers[provider.key[0]] = provider.key[1] + key
    asked: dict[str, Any] = {provider.query: query, **provider.fixed}
    if provider.count:
        asked[provider.count] = min(limit, provider.most)
    body: dict[str, Any] = {"json": asked} if provider.method == "POST" else {"params": asked}
    # A setting may hold the whole address, with the path.
    address = url if url.endswith(provider.path) else url + provider.path
    try:
        trusted = certificates(httpx.create_ssl_context)
        async with (
            httpx.AsyncClient(verify=trusted, timeout=_SECONDS) as client,
            client.stream(provider.method, address, headers=headers, **body) as response,
        ):
            return _decoded(provider, await _body(provider, response))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as problem:
        raise WebProblem(
            f"{provider.name} at {url} cannot be reached ({type(problem).__name__}); tell the user "
            "to check web.url, or continue without the web"
        ) from None


async def _body(provider: SearchProvider, response: httpx.Response) -> bytes:
    if response.status_code != 200:
        raise WebProblem(_refused(provider, response.status_code))
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > _MOST_BYTES:
            raise WebProblem(f"{provider.name} sent too much; ask for fewer pages")
    encoding = response.headers.get("content-encoding", "")
    return decompressed(bytes(data), encoding, _MOST_BYTES)[0]


def _refused(provider: SearchProvider, status: int) -> str:
    if status == 429:
        return (
            f"{provider.name} has received too many searches (429); try later, or continue "
            "without the web"
        )
    if provider.name == "searxng" and status == 403:
        return (
            "searxng refuses JSON (403): tell the user to add json to search.formats in the "
            "settings.yml of that instance"
        )
    if status in (401, 403):
        variable = _key_variable(provider)
        return f"{provider.name} refuses the key ({status}): tell the user to check {variable}"
    return (
        f"{provider.name} returned status {status}; tell the user to check web.url, or continue "
        "without the web"
    )


def _key_variable(provider: SearchProvider) -> str:
    return (
        f"{KEY_VARIABLES[provider.name]}, or the variable that web.key_variable names, or to run "
        f"`oracle keys set {provider.name}`"
    )


def _decoded(provider: SearchProvider, data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise WebProblem(
            f"{provider.name} did not answer with JSON; tell the user to check web.url"
        ) from None


def _pages(provider: SearchProvider, data: object) -> list[FoundPage]:
    """The results in a response. Anything of another form is skipped."""
    for step in provider.results:
        data = cast("dict[str, object]", data).get(step) if isinstance(data, dict) else None
    if not isinstance(data, list):
        return []
    entries = [
        cast("dict[str, object]", entry)
        for entry in cast("list[object]", data)
        if isinstance(entry, dict)
    ]
    return [page for entry in entries if (page := _page(entry, provider.excerpt))]


def _page(entry: Mapping[str, object], excerpt: str) -> FoundPage | None:
    url = entry.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return None
    score = entry.get("score")
    # Some providers have scores without an upper limit. Those cannot be compared with ours.
    is_share = isinstance(score, int | float) and 0 <= score <= 1
    return FoundPage(
        title=_plain(entry.get("title")) or url,
        url=url[:_LONGEST_URL],
        excerpt=_plain(entry.get(excerpt)),
        score=float(cast("float", score)) if is_share else None,
    )


def _plain(value: object) -> str:
    """Text without tags: providers mark the words that match with them."""
    return readable(value[:_LONGEST_EXCERPT], "").text if isinstance(value, str) else ""
