"""Pages are read from public addresses only, at every hop, and with limits."""

import asyncio
import gzip
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import WebProblem
from oracle.services.web.fetching import Fetcher
from oracle.testing.web import LoopbackServer, Reply, page, redirect


async def test_a_page_is_read_as_text_with_its_title_and_links(fetcher):
    html = "<title>Tea</title><h1>All of it</h1><p>See <a href='/more?a=1&amp;b=2'>more</a>."
    async with LoopbackServer({"/": page(html)}) as server:
        url = f"http://good.test:{server.port}/"
        fetched = await fetcher().fetch(f"{url}#part")
    assert fetched.title == "Tea"
    assert fetched.text == f"# All of it\n\nSee more ({url}more?a=1&b=2)."
    assert (fetched.url, fetched.is_partial) == (url, False)


async def test_the_server_hears_the_name_although_the_address_was_dialled(fetcher):
    async with LoopbackServer({"/": page("hello")}) as server:
        await fetcher().fetch(f"http://good.test:{server.port}/")
    assert server.requests[0].headers["host"] == f"good.test:{server.port}"


async def test_a_secure_connection_asks_for_the_name_at_the_checked_address(fetcher):
    hello = asyncio.get_running_loop().create_future()

    async def listen(reader, writer):
        hello.set_result(await reader.read(4096))
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(WebProblem):
            await fetcher().fetch(f"https://good.test:{port}/")
        assert b"good.test" in await hello


async def test_a_name_is_looked_up_once_so_that_it_cannot_change_its_mind(fetcher):
    asked = []

    async def rebinding(host, port):
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    async with LoopbackServer({"/": page("hello")}) as server:
        reader = fetcher(resolver=rebinding)
        assert (await reader.fetch(f"http://rebind.test:{server.port}/")).text == "hello"
    assert asked == ["rebind.test"]


@pytest.mark.parametrize(
    "url",
    [
        "http://private.test/",
        "http://metadata.test/latest/meta-data",
        "http://mixed.test/",
        "http://nowhere.test/",
        "http://127.0.0.2/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
    ],
)
async def test_an_address_that_is_not_public_is_refused(fetcher, url):
    with pytest.raises(WebProblem, match="not public"):
        await fetcher().fetch(url)


@pytest.mark.parametrize("url", ["http://localhost/", "http://127.1/", "http://2130706433/"])
async def test_loopback_is_refused_in_every_spelling(url):
    with pytest.raises(WebProblem, match="not public"):
        await Fetcher().fetch(url)


@pytest.mark.parametrize(
    "target",
    [
        "http://private.test/",
        "http://127.0.0.2/",
        "//metadata.test/",
        "file:///etc/passwd",
        "http://[bad",
    ],
)
async def test_a_redirect_is_checked_like_the_first_address(fetcher, target):
    async with LoopbackServer({"/": redirect(target)}) as server:
        with pytest.raises(WebProblem, match=r"not public|not the address"):
            await fetcher().fetch(f"http://good.test:{server.port}/")
    assert len(server.requests) == 1


async def test_a_redirect_to_a_public_page_is_followed(fetcher):
    async with LoopbackServer({"/a": redirect("b"), "/b": page("there")}) as server:
        fetched = await fetcher().fetch(f"http://good.test:{server.port}/a")
    assert (fetched.text, fetched.url) == ("there", f"http://good.test:{server.port}/b")


async def test_redirects_in_circles_end(fetcher):
    async with LoopbackServer({"/a": redirect("/b"), "/b": redirect("/a")}) as server:
        with pytest.raises(WebProblem, match="redirects"):
            await fetcher().fetch(f"http://good.test:{server.port}/a")
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    "url",
    [
        "ftp://good.test/",
        "file:///etc/passwd",
        "good.test",
        "http://",
        "http:///path",
        "http://good.test:99999/",
        "http://good.test:x/",
        "http://user:pass@good.test/",
        "http://good.test\\@private.test/",
        "http://good.test/\r\nHost: x",
        "http://[::1/",
        "javascript:alert(1)",
        "http://" + "é" * 100 + ".test/",
        "",
    ],
)
async def test_text_that_is_not_the_address_of_a_page_is_refused(fetcher, url):
    with pytest.raises(WebProblem):
        await fetcher().fetch(url)


async def drip():
    while True:
        yield b"<p>tea"
        await asyncio.sleep(0.005)


async def flood():
    while True:
        yield b"tea and more tea\n" * 1000


async def test_a_server_that_drips_is_cut_off(fetcher):
    async with LoopbackServer(lambda request: Reply(body=drip())) as server:
        with pytest.raises(WebProblem, match=r"took longer than 0\.2 s"):
            await fetcher(seconds=0.2).fetch(f"http://good.test:{server.port}/")


async def test_a_page_without_end_is_read_up_to_the_limit(fetcher):
    headers = {"Content-Type": "text/plain"}
    async with LoopbackServer(lambda request: Reply(body=flood(), headers=headers)) as server:
        fetched = await fetcher(most_bytes=100_000).fetch(f"http://good.test:{server.port}/")
    assert len(fetched.text) == 100_000
    assert fetched.is_partial


@pytest.mark.extra
async def test_a_packed_page_cannot_blow_up(fetcher):
    bomb = Reply(
        body=gzip.compress(b"\n" * 50_000_000),
        headers={"Content-Type": "text/plain", "Content-Encoding": "gzip"},
    )
    async with LoopbackServer({"/": bomb}) as server:
        fetched = await fetcher(most_bytes=100_000).fetch(f"http://good.test:{server.port}/")
    assert len(fetched.text) == 100_000
    assert fetched.is_partial


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(status=404), "returned status 404"),
        (Reply(status=500), "returned status 500"),
        (page("x", "application/pdf"), "cannot be read as text"),
        (page("x", "image/png"), "cannot be read as text"),
        (Reply(body=b"\0\1\2"), "not text"),
        (Reply(body=b"x", headers={"Content-Encoding": "br"}), "compressed as 'br'"),
        (
            Reply(body=b"not packed", headers={"Content-Encoding": "gzip"}),
            "page is broken",
        ),
        (Reply(body=b"x", headers={"Content-Length": "99"}), "cannot be read"),
        (Reply(status=302), "redirects"),
    ],
)
async def test_a_response_that_is_not_a_page_is_a_problem_with_advice(fetcher, reply, says):
    async with LoopbackServer({"/": reply}) as server:
        with pytest.raises(WebProblem, match=says):
            await fetcher().fetch(f"http://good.test:{server.port}/")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("Käse".encode(), "text/plain"),
        ("Käse".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
        (b"<meta charset='windows-1252'>K\xe4se", "text/html"),
        ("Käse".encode(), "text/plain; charset=zlib"),
        ("Käse".encode(), "text/plain; charset=idna"),
        ("Käse".encode(), ""),
    ],
)
async def test_the_charset_is_believed_where_it_is_one(fetcher, body, content_type):
    reply = Reply(body=body, headers={"Content-Type": content_type} if content_type else {})
    async with LoopbackServer({"/": reply}) as server:
        assert (await fetcher().fetch(f"http://good.test:{server.port}/")).text == "Käse"


async def test_a_second_address_is_tried_where_the_first_is_dead(fetcher):
    allowed = [ipaddress.ip_network("127.0.0.1/32"), ipaddress.ip_network("::1/128")]
    async with LoopbackServer({"/": page("alive")}) as server:
        fetched = await fetcher(allowed=allowed).fetch(f"http://two.test:{server.port}/")
    assert fetched.text == "alive"


async def test_cancelling_closes_the_connection(fetcher):
    closed = asyncio.Event()
    started = asyncio.Event()

    async def endless():
        try:
            while True:
                yield b"tea"
                started.set()
                await asyncio.sleep(0.005)
        finally:
            closed.set()

    async with LoopbackServer(lambda request: Reply(body=endless())) as server:
        task = asyncio.create_task(fetcher().fetch(f"http://good.test:{server.port}/"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(closed.wait(), 5)


@given(st.text(max_size=40), st.sampled_from(["", "http://", "https://", "http://[", "//"]))
async def test_no_address_is_too_strange_to_be_refused(text, scheme):
    async def nobody(host, port):
        return []

    with pytest.raises(WebProblem):
        await Fetcher(resolver=nobody).fetch(scheme + text)
