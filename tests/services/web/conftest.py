import ipaddress

import pytest

from oracle.services.web.fetching import Fetcher

NAMES = {
    "good.test": ["127.0.0.1"],
    "other.test": ["127.0.0.1"],
    "private.test": ["10.0.0.5"],
    "metadata.test": ["169.254.169.254"],
    "mixed.test": ["127.0.0.1", "192.168.1.1"],
    "two.test": ["::1", "127.0.0.1"],
    "nowhere.test": [],
}


async def by_the_book(host, port):
    return NAMES.get(host, [host])


@pytest.fixture
def fetcher():
    """Reads from one loopback address, as if it were public, and from no other private one."""

    def make(**more):
        allowed = [ipaddress.ip_network("127.0.0.1/32")]
        return Fetcher(**{"resolver": by_the_book, "allowed": allowed, **more})

    return make
