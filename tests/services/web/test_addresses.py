import pytest

from oracle.errors import WebProblem
from oracle.services.web.addresses import is_public, resolve
from tests.tables import each_row


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::6810:84e5", "::ffff:8.8.8.8"])
def test_an_address_of_the_public_web_is_public(address):
    assert is_public(address)


@each_row(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "not an address",
        "",
    ],
)
def test_no_other_address_is_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f.1"])
async def test_every_spelling_of_loopback_resolves_to_what_is_refused(host):
    assert not any(is_public(address) for address in await resolve(host, 80))


@each_row("host", ["", "a" * 300, "..", "bad host", "x.invalid"])
async def test_a_name_that_leads_nowhere_is_a_problem_or_nothing_public(host):
    try:
        found = await resolve(host, 80)
    except WebProblem:
        found = []
    assert not any(is_public(address) for address in found)
