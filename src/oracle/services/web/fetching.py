"""Fetches one page of the public web, safely.

For each hop the name is resolved once, all its addresses are checked, and the connection goes to a
checked address. There is no second look-up between check and use that could return another address.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from oracle.errors import WebProblem
from oracle.lazy_dataclass import dataclass
from oracle.services.background import in_thread
from oracle.services.certificates import certificates
from oracle.services.web.addresses import Network, Resolver, checked_addresses, resolve
from oracle.services.web.decoding import as_text, check_content_type, decompressed
from oracle.services.web.readable import readable

if TYPE_CHECKING:
    import httpx

_PORTS: Final = {"http": 80, "https": 443}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_AGENT: Final = "Mozilla/5.0 (compatible; bt-oracle)"
_CONNECT_SECONDS: Final = 10.0
"""A host with several addresses should get to the next one before the whole time is used up."""


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """`url` is the address after all redirects; `digest` is that of the bytes received."""

    url: str
    title: str
    text: str
    digest: str
    is_partial: bool


@dataclass(frozen=True, kw_only=True)
class _Target:
    url: str
    scheme: str
    host: str
    port: int
    rest: str

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def at(self, address: str) -> str:
        """The same page at a numeric address."""
        host = f"[{address}]" if ":" in address else address
        return f"{self.scheme}://{host}:{self.port}{self.rest}"


class Fetcher:
    """`resolver` and `allowed` are for tests, and for networks with pages of their own."""

    def __init__(
        self,
        *,
        resolver: Resolver = resolve,
        allowed: Sequence[Network] = (),
        most_bytes: int = 2_000_000,
        seconds: float = 25.0,
        most_redirects: int = 5,
    ) -> None:
        self._resolver = resolver
        self._allowed = allowed
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._most_redirects = most_redirects

    async def fetch(self, url: str) -> Fetched:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(url)
        except TimeoutError:
            raise WebProblem(
                f"{url!r} took longer than {self._seconds:g} s; use another page"
            ) from None

    async def _follow(self, url: str) -> Fetched:
        # Redirects are followed here and not by httpx, because each hop needs its own check.
        for _ in range(self._most_redirects + 1):
            target = _target(url)
            async with self._open(target) as response:
                if response.status_code not in _REDIRECTS:
                    return await self._page(target, response)
                url = _joined(target.url, response.headers.get("location", ""))
                if url == target.url:
                    break
        raise WebProblem(f"{url!r} redirects in circles or too often; use another page")

    @asynccontextmanager
    async def _open(self, target: _Target) -> AsyncGenerator[httpx.Response]:
        import httpx

        addresses = await checked_addresses(
            target.host, target.port, resolver=self._resolver, allowed=self._allowed
        )
        limits = httpx.Timeout(self._seconds, connect=min(_CONNECT_SECONDS, self._seconds))
        try:
            # Without the environment: a proxy would resolve the name again, unchecked.
            trusted = certificates(httpx.create_ssl_context, trust_env=False)
            async with httpx.AsyncClient(trust_env=False, verify=trusted, timeout=limits) as client:
                response = await _first_to_answer(client, target, addresses)
                try:
                    yield response
                finally:
                    await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise WebProblem(
                f"{target.url!r} cannot be read ({type(problem).__name__}: {problem}); check the "
                "address, or use another page"
            ) from problem

    async def _page(self, target: _Target, response: httpx.Response) -> Fetched:
        if response.status_code != 200:
            raise WebProblem(
                f"{target.url!r} returned status {response.status_code} {response.reason_phrase}; "
                "check the address, or look for another page"
            )
        kind = check_content_type(target.url, response.headers.get("content-type", ""))
        raw, is_partial = await self._body(response)
        data, was_cut = decompressed(
            raw, response.headers.get("content-encoding", ""), self._most_bytes
        )
        text = as_text(data, response.headers.get("content-type", ""))
        # In a thread: a large page takes long enough to block other runs.
        page = await in_thread(readable, text, target.url) if kind == "html" else None
        return Fetched(
            url=target.url,
            title=page.title if page else "",
            text=page.text if page else text,
            digest=hashlib.sha256(raw).hexdigest(),
            is_partial=is_partial or was_cut,
        )

    async def _body(self, response: httpx.Response) -> tuple[bytes, bool]:
        data = bytearray()
        async for piece in response.aiter_raw():
            data += piece
            if len(data) > self._most_bytes:
                return bytes(data[: self._most_bytes]), True
        return bytes(data), False


async def _first_to_answer(
    client: httpx.AsyncClient, target: _Target, addresses: list[str]
) -> httpx.Response:
    import httpx

    for number, address in enumerate(addresses, start=1):
        request = client.build_request(
            "GET",
            target.at(address),
            headers={
                "Host": target.host_header,
                "User-Agent": _AGENT,
                "Accept": "text/html,text/plain,application/json,*/*;q=0.1",
                "Accept-Encoding": "identity",
            },
            # The address is numeric, so TLS needs the name for the certificate.
            extensions={"sni_hostname": target.host},
        )
        try:
            return await client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            if number == len(addresses):
                raise
    raise AssertionError("no address was tried")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return location


def _target(url: str) -> _Target:
    """Split an address once. The same parts are checked and connected to, so two parsers can never
    disagree about the host.
    """
    wrong = WebProblem(f"{url[:200]!r} is not the address of a web page; give one with https://")
    if any(character.isspace() or not character.isprintable() for character in url):
        raise wrong
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
    except (ValueError, UnicodeError):
        raise wrong from None
    # Browsers read `\` as `/`, urlsplit does not: such an address is ambiguous.
    if parts.scheme not in _PORTS or not host or "\\" in url:
        raise wrong
    if parts.username is not None or parts.password is not None:
        raise WebProblem("the address contains a user or a password; give it without them")
    rest = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return _Target(
        url=parts._replace(fragment="").geturl(),
        scheme=parts.scheme,
        host=host.rstrip("."),
        port=port or _PORTS[parts.scheme],
        rest=rest,
    )
