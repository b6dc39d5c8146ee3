"""Which addresses may be connected to: the public ones, asked after resolving."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from oracle.errors import WebProblem

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

_TUNNELS: Final = tuple(
    map(
        ipaddress.IPv6Network,
        ("2002::/16", "2001::/32", "64:ff9b::/96", "64:ff9b:1::/48", "::/96", "fec0::/10"),
    )
)
"""IPv6 that carries an IPv4 address inside, or never leaves a site: no page is only there."""


async def resolve(host: str, port: int) -> list[str]:
    """All addresses of a name, as the system knows them."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise WebProblem(
            f"the name {host!r} leads nowhere ({problem}); check the address, or search "
            "for the page"
        ) from problem
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(text: str) -> bool:
    """Not private, loopback, link-local, multicast, reserved, nor a way around that."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return is_public(str(address.ipv4_mapped))
        if any(address in tunnel for tunnel in _TUNNELS):
            return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified
    )


async def checked_addresses(
    host: str, port: int, *, resolver: Resolver, allowed: Sequence[Network]
) -> list[str]:
    """Every address of the host, if all of them are public or allowed; else `WebProblem`."""
    addresses = await resolver(host, port)
    refused = [text for text in addresses if not (is_public(text) or _is_in(text, allowed))]
    if refused or not addresses:
        raise WebProblem(
            f"{host!r} leads to {refused[0] if refused else 'no address'}, which is not public; "
            "only pages of the public web are read, so take another source"
        )
    return list(addresses)


def _is_in(text: str, networks: Sequence[Network]) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in networks)
