"""A host counts only if every parser finds the same one."""

from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.settings.server_address import host_of, is_loopback
from tests.tables import each_row

HERE = (
    "http://localhost/v1",
    "http://LOCALHOST:80",
    "http://127.0.0.1:8080/v1",
    "https://[::1]/v1",
)
ELSEWHERE = (
    "http://[::1].evil.test/v1",
    "http://[::1]evil.test/v1",
    "http://[::1%25evil.test]/v1",
    "http://127.0.0.1.evil.test",
    "http://localhost.evil.test",
    "http://localhost@evil.test",
    "http://localhost:80@evil.test",
    "http://localhost#@evil.test",
    "http://localhost%2eevil.test",
    "http://[::ffff:8.8.8.8]/v1",
    "http:///localhost",
    "http://127.1",
    "http://0x7f.0.0.1",
    "http://2130706433",
    "http://80127.0.0.1",
)
_PIECES = (
    "[::1]",
    "[",
    "]",
    "::1",
    "localhost",
    "127.0.0.1",
    "0x7f",
    ".",
    ":",
    "@",
    "%25",
    "evil.test",
)


@pytest.mark.parametrize("address", HERE)
def test_a_server_on_this_machine_is_known(address):
    assert is_loopback(address)


@each_row("address", ELSEWHERE)
def test_an_address_that_only_looks_like_this_machine_is_not_on_it(address):
    assert not is_loopback(address)


@given(st.lists(st.sampled_from((*_PIECES, "80", "/", "\\", "?", "#", "a", "é")), max_size=6))
def test_other_parsers_find_the_same_host(pieces):
    address = f"http://{''.join(pieces)}"
    host = host_of(address)
    if host is not None:
        assert httpx.URL(address).host == host
        assert urlsplit(address).hostname == host
