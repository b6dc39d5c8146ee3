"""Each provider is asked in its own protocol, and an error says what to set."""

import pytest

from oracle.errors import WebProblem
from oracle.services.web.searching import SEARCH_PROVIDERS, WebSearchAccess, search_web
from oracle.testing.web import LoopbackServer, Reply, brave, searxng, tavily
from tests.tables import each_row

KEY = "tvly-Zq8Xw7Vu6Ts5Rq4Po3Nm"
PAGES = [
    {
        "title": f"<strong>Tea</strong> {number}",
        "url": f"https://tea.test/{number}",
        "content": "All about &amp; around tea",
        "description": "All about &amp; around tea",
        "score": 0.9,
    }
    for number in range(9)
]
ANSWERS = {"searxng": searxng(PAGES), "tavily": tavily(PAGES, KEY), "brave": brave(PAGES, KEY)}


def settings(name, server, key=KEY):
    return WebSearchAccess(provider=name, url=server.url, key=key)


@pytest.mark.parametrize("name", SEARCH_PROVIDERS)
async def test_a_provider_gives_its_first_pages(name):
    async with LoopbackServer(ANSWERS[name]) as server:
        pages = await search_web(settings(name, server), "green tea & more", 3)
    assert [page.url for page in pages] == [f"https://tea.test/{n}" for n in range(3)]
    assert (pages[0].title, pages[0].excerpt) == ("Tea 0", "All about & around tea")
    request = server.requests[0]
    assert "green tea & more" in (request.parameter("q") or request.body.decode())


@pytest.mark.parametrize("name", ["tavily", "brave"])
async def test_a_wrong_key_is_named_but_never_shown(name):
    async with LoopbackServer(ANSWERS[name]) as server:
        with pytest.raises(WebProblem, match=f"{name.upper()}_API_KEY") as problem:
            await search_web(settings(name, server, key="wrong-key-9876"), "tea", 3)
    assert "wrong-key-9876" not in str(problem.value)
    assert "wrong-key-9876" not in repr(settings(name, server, key="wrong-key-9876"))


@each_row(
    ("set_up", "says"),
    [
        (WebSearchAccess(), r"\[web\].*ORACLE_WEB_PROVIDER"),
        (WebSearchAccess(provider="serxng"), "did you mean 'searxng'"),
        (WebSearchAccess(provider="searxng"), "ORACLE_WEB_URL"),
        (WebSearchAccess(provider="searxng", url="localhost:8888"), "ORACLE_WEB_URL"),
        (WebSearchAccess(provider="searxng", url="ftp://x"), "ORACLE_WEB_URL"),
        (WebSearchAccess(provider="tavily"), "TAVILY_API_KEY.*key_variable"),
        (WebSearchAccess(provider="brave"), "BRAVE_API_KEY.*key_variable"),
        (WebSearchAccess(provider="searxng", url="http://127.0.0.1:1"), "cannot be reached"),
    ],
)
async def test_what_is_not_set_up_says_what_to_set(set_up, says):
    with pytest.raises(WebProblem, match=says):
        await search_web(set_up, "tea", 3)


@each_row(
    ("reply", "says"),
    [
        (Reply(status=403), "search.formats"),
        (Reply(status=429), "too many"),
        (Reply(status=500), "returned status 500"),
        (Reply(status=302, headers={"Location": "http://x/"}), "returned status 302"),
        (Reply(body=b"<html>"), "JSON"),
        (Reply(body=b"[" * 100_000), "JSON"),
        (Reply(body=b" " * 3_000_000), "too much"),
    ],
)
async def test_a_provider_that_fails_is_a_problem_with_advice(reply, says):
    async with LoopbackServer(lambda request: reply) as server:
        with pytest.raises(WebProblem, match=says):
            await search_web(settings("searxng", server), "tea", 3)


@each_row(
    "body",
    [
        b"[]",
        b"{}",
        b'{"results": {}}',
        b'{"results": [1, {}, {"url": 5}, {"url": "file:///x"}]}',
        b'{"results": [{"url": "javascript:x"}]}',
    ],
)
async def test_what_is_not_shaped_like_a_page_is_left_out(body):
    async with LoopbackServer(lambda request: Reply(body=body)) as server:
        assert await search_web(settings("searxng", server), "tea", 3) == []
