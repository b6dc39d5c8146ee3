"""The host in a server's address, if no two parsers can read it differently.

The standard library takes `http://[::1].evil.test` for `::1`, because it ignores what follows the
bracket. An address like that could pass for one on this machine and lead elsewhere. So only plain
ones count: names in ASCII, IPv4 in four decimal numbers, and IPv6 without a zone.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from oracle.patterns import lazy_pattern

_SERVER: Final = lazy_pattern(
    r"(?i:https?)://(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9_][A-Za-z0-9._-]{0,252}))"
    r"(?::(?P<port>[0-9]{0,5}))?(?:/[^\s\\?#]*)?"
)
_NUMBER_LAST: Final = lazy_pattern(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$")
_LAST_PORT: Final = 65_535


def host_of(address: str) -> str | None:
    """In lower case, without brackets; None if it is not a plain address of a server."""
    found = _SERVER.fullmatch(address)
    if not found or not (found["port"] is None or 0 < int(found["port"] or 1) <= _LAST_PORT):
        return None
    try:
        if found["six"] is not None:
            return str(IPv6Address(found["six"]))
        name = found["name"].lower()
        # `127.1`, `0x7f.1` and `1.2.3.4.` are addresses to browsers and names to others.
        return str(IPv4Address(name)) if _NUMBER_LAST.search(name) else name
    except ValueError:
        return None


def is_loopback(address: str) -> bool:
    """Whether the server is certainly on this machine."""
    host = host_of(address)
    try:
        return host is not None and (host == "localhost" or ip_address(host).is_loopback)
    except ValueError:
        return False
