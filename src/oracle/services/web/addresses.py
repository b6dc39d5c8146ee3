"""Which addresses may be connected to: public ones only, checked after the name is resolved.

A name can point to anything, so checking the name would not protect the local network.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from oracle.errors import WebProblem
from oracle.services.background import in_thread

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

# Relays of 6to4, and addresses for documentation, which not every version of Python knows.
_NOT_PUBLIC: Final = (
    ipaddress.ip_network("192.88.99.0/24"),
    ipaddress.ip_network("3fff::/20"),
)
_TUNNELS: Final = tuple(
    map(
        ipaddress.IPv6Network,
        ("2002::/16", "2001::/32", "64:ff9b::/96", "64:ff9b:1::/48", "::/96", "fec0::/10"),
    )
)
"""IPv6 ranges that contain an IPv4 address (6to4, Teredo, NAT64, IPv4-compatible), which could be a
private one, and the old site-local range. No public page has only such an address.
"""


async def resolve(host: str, port: int) -> list[str]:
    """All addresses of a name, from the system's resolver."""
    try:
        # Not the event loop's own look-up: the end of the loop would wait for one that hangs.
        found = await in_thread(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise WebProblem(
            f"the name {host!r} cannot be resolved ({problem}); check the address, or search "
            "for the page"
        ) from problem
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(text: str) -> bool:
    """False for private, loopback, link-local, multicast and reserved addresses, and for IPv6
    addresses that contain one.
    """
    try:
        # `%eth0` is the zone of a link-local address.
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return is_public(str(address.ipv4_mapped))
        if any(address in tunnel for tunnel in _TUNNELS):
            return False
    return address.is_global and not (
        any(address in network for network in _NOT_PUBLIC)
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


async def checked_addresses(
    host: str, port: int, *, resolver: Resolver, allowed: Sequence[Network]
) -> list[str]:
    """All addresses of the host, if all are public or allowed; else raises `WebProblem`.

    One private address among public ones is refused too: the connection might go to that one.
    """
    addresses = await resolver(host, port)
    refused = [text for text in addresses if not (is_public(text) or _is_in(text, allowed))]
    if refused or not addresses:
        raise WebProblem(
            f"{host!r} resolves to {refused[0] if refused else 'no address'}, which is not public; "
            "only pages of the public web are read, so use another source"
        )
    return list(addresses)


def _is_in(text: str, networks: Sequence[Network]) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in networks)
