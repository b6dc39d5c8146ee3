"""The page in a real browser, from a real server with a scripted model.

The policy of the page allows no scripts but its own, so a test waits for what can be seen
(`wait_for_selector`, `expect`) and never for a function.
"""

import shutil
from contextlib import ExitStack

import pytest
from playwright.sync_api import expect, sync_playwright

from oracle.models.session import Exchange
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.sessions import Sessions
from oracle.testing import Reply, ScriptedModel, signal
from tests.api.conftest import root, serve
from tests.api.test_asking import Gate

__all__ = ["root", "serve"]  # fixtures of the server, for the tests of this folder too

# Slow machines wait longer; nothing depends on how long it takes.
expect.set_options(timeout=30_000)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


def look(path="auth.py"):
    return Reply(text=signal("need_turn", reason="look"), calls=[("read_file", {"path": path})])


def answer(text="It is in `auth.py:1`."):
    return text + signal("context_sufficient", sources_found=1)


class HeldModel(ScriptedModel):
    """Streams the first `shown` parts of its last reply, then waits until `gate` is opened."""

    def __init__(self, *replies, shown=2):
        super().__init__(*replies)
        self.gate = Gate()
        self._shown = shown

    async def stream(self, request):
        is_last = len(self.requests) == len(self._replies) - 1
        count = 0
        async for part in super().stream(request):
            if is_last and count == self._shown:
                await self.gate.wait()
            count += 1
            yield part


# Not for the whole session: while it is open there is a running event loop in this thread, and
# asynchronous tests of other modules cannot have their own.
@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no chromium; .ci/run installs Debian's")
    with sync_playwright() as playwright:
        # In a container the browser's own sandbox needs more than it may have.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """`open_page(address, viewport=PHONE)`; what a console complains about fails the test."""
    with ExitStack() as stack:
        complaints = []

        def opened(address, *, viewport=WIDE, allow=(), **options):
            context = browser.new_context(viewport=viewport, reduced_motion="reduce", **options)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(20_000)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on(
                "console",
                lambda said: complaints.append(said.text) if _counts(said, allow) else None,
            )
            page.goto(address)
            return page

        yield opened
    assert complaints == []


def _counts(said, allow):
    """A server that stops before the page is closed is not a mistake of the page."""
    allow = ("net::ERR_", *allow)
    return said.type == "error" and not any(each in said.text for each in allow)


@pytest.fixture
def served(serve):
    """A server whose one question has been asked and answered."""
    with serve(look(), answer()) as server:
        server.answer = server.ask().json()
        yield server


def long_talk(server, exchanges, answer="It is in `auth.py:1`.\n\n- a point\n- another"):
    """A conversation of so many exchanges, whose runs are no longer kept. Returns its address."""
    database = server.door.store.database
    ended = {"stop_reason": "answered"}

    async def store():
        session = await Sessions(database).create(
            session_id="5" * 32, title="Long", at=1.0, project=server.door.project
        )
        before = None
        for number in range(exchanges):
            exchange = Exchange(
                id=f"{number:032x}",
                session_id=session.id,
                parent_id=before,
                question=f"Question {number}?",
                answer=answer,
                metadata=ended,
                created_at=float(number),
            )
            await Exchanges(database).append(exchange)
            before = exchange.id
        return session.id

    return f"{server.address}/s/{server.run(store())}"


def ask(page, question="Where is login defined?"):
    page.fill("#question", question)
    page.keyboard.press("Enter")
