"""`ddgs` is the real package. Only the addresses of its engines lead to a server on loopback."""

import asyncio
import re
import sys
import threading

import pytest

from oracle.errors import WebProblem
from oracle.services.installing import install_command
from oracle.services.web import scraped_search, searching
from oracle.services.web.scraped_search import ENGINES, Pace, scraped_results
from oracle.services.web.searching import WebSearchAccess, search_web
from oracle.testing.web import LoopbackServer, Reply
from tests.tables import each_row

DDGS = WebSearchAccess(provider="ddgs")
RESULT = (
    '<div class="body"><h2><a href="https://tea.test/{n}">Tea {n}</a></h2>'
    '<a href="https://tea.test/{n}">All about tea, part {n}</a></div>'
)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(scraped_search._pace, "_seconds", 0.0)


def redirect(monkeypatch, url):
    engines = pytest.importorskip("ddgs.engines").ENGINES["text"]
    for name in ENGINES.split(","):
        monkeypatch.setattr(engines[name], "search_url", f"{url}/{name}")


def answer(request):
    if request.path.startswith("/duckduckgo"):
        body = "".join(RESULT.format(n=number) for number in range(5))
        return Reply(body=f"<html><body>{body}</body></html>".encode())
    return Reply(status=403)


async def test_the_pages_of_an_engine_are_found_though_the_others_refuse(monkeypatch):
    async with LoopbackServer(answer) as server:
        redirect(monkeypatch, server.url)
        pages = await search_web(DDGS, "green tea & more", 3)
    assert [page.url for page in pages] == [f"https://tea.test/{n}" for n in range(3)]
    assert (pages[0].title, pages[0].excerpt) == ("Tea 0", "All about tea, part 0")


async def test_engines_that_all_refuse_are_one_clear_error(monkeypatch):
    async with LoopbackServer(lambda _: Reply(status=429)) as server:
        redirect(monkeypatch, server.url)
        with pytest.raises(WebProblem, match=r"found nothing: .*refuse.*continue without the web"):
            await search_web(DDGS, "tea", 3)


async def test_engines_that_cannot_be_reached_are_one_clear_error(monkeypatch):
    redirect(monkeypatch, "http://127.0.0.1:1")
    with pytest.raises(WebProblem, match=r"ddgs failed \(DDGSException: .*continue without"):
        await search_web(DDGS, "tea", 3)


def fake(monkeypatch, text):
    """A package of the same name, whose `text` is this."""

    class Engine:
        def __init__(self, **_):
            self.text = text

    module = type(sys)("ddgs")
    module.DDGS = Engine
    monkeypatch.setitem(sys.modules, "ddgs", module)


class Panic(BaseException):
    """As the part in Rust panics."""


@each_row(
    ("problem", "says"),
    [
        (ValueError("a\nb"), r"ddgs failed \(ValueError: a b\)"),
        (KeyError(), r"ddgs failed \(KeyError: KeyError\)"),
        (Panic("index out of bounds"), "Panic: index out of bounds"),
        (RuntimeError("No results found."), "found nothing"),
    ],
)
async def test_whatever_the_package_raises_is_a_tool_error(monkeypatch, problem, says):
    def text(*_, **__):
        raise problem

    fake(monkeypatch, text)
    with pytest.raises(WebProblem, match=says):
        await search_web(DDGS, "tea", 3)


async def test_a_package_that_hangs_is_left_behind_when_the_time_is_up(monkeypatch):
    release, ended = threading.Event(), threading.Event()

    def text(*_, **__):
        release.wait(60)
        ended.set()
        return []

    fake(monkeypatch, text)
    monkeypatch.setattr(searching, "_SECONDS", 0.05)
    with pytest.raises(WebProblem, match=r"ddgs did not answer within 0\.05 s"):
        await search_web(DDGS, "tea", 3)
    assert not ended.is_set()
    release.set()


async def test_a_missing_package_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ddgs", None)
    with pytest.raises(WebProblem, match=re.escape(install_command("search"))):
        await search_web(DDGS, "tea", 3)


async def test_what_is_not_a_page_is_skipped(monkeypatch):
    odd = [{"href": "javascript:x", "title": "a"}, {"title": "b"}, {"href": 3}, {}]
    fake(monkeypatch, lambda *_, **__: [*odd, {"href": "https://tea.test/", "body": None}])
    assert [page.url for page in await search_web(DDGS, "tea", 9)] == ["https://tea.test/"]


async def test_requests_are_spaced(monkeypatch):
    fake(monkeypatch, lambda *_, **__: [])
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    pace = Pace(2.0, clock=lambda: 100.0, sleep=sleep)
    await asyncio.gather(*(scraped_results("tea", 3, pace) for _ in range(3)))
    assert waited == [2.0, 4.0]
