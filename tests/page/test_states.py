"""What the page says when something is missing, broken or gone, and what one can do then."""

import re
import socket
import threading
from contextlib import suppress

import pytest
from playwright.sync_api import expect

from oracle.testing import Reply, ScriptedModel, signal
from tests.api.conftest import serving
from tests.api.test_access import make
from tests.page.conftest import HeldModel, answer, ask, look

pytestmark = pytest.mark.extra


def test_a_connection_that_is_back_is_no_longer_reported_as_lost(served, open_page):
    page = open_page(f"{served.address}/runs")
    page.wait_for_selector("tbody tr")
    page.context.set_offline(True)
    page.keyboard.press("g")
    page.keyboard.press("a")
    page.locator(".rail [aria-label='Search sessions']").click()
    page.locator(".sessions input").fill("login")
    expect(page.locator(".offline")).to_contain_text("The server does not answer.")
    page.context.set_offline(False)
    expect(page.locator(".offline")).to_have_count(0)


def test_a_folder_that_is_not_a_project_says_so(tmp_path, open_page):
    with serving(tmp_path, ScriptedModel()) as server:
        page = open_page(server.address)
        expect(page.locator(".state")).to_contain_text("This folder is not a project")
        expect(page.locator(".state code").first).to_have_text("oracle init")


def test_a_project_without_files_says_so(serve, root, open_page):
    for file in root.iterdir():
        if file.suffix == ".py":
            file.unlink()
    (root / "oracle.toml").rename(root / ".git")
    with serve() as server:
        page = open_page(server.address)
        expect(page.locator(".state")).to_contain_text("There are no files to answer from yet.")


def test_a_token_that_is_not_known_is_asked_for_again_with_the_reason(serve, open_page):
    with serve() as server:
        token = make(server)
        page = open_page(server.address, allow=("401",))
        dialog = page.locator("dialog")
        expect(dialog).to_contain_text("asks for a token")
        expect(dialog).not_to_contain_text("revoked")
        page.fill("#token", "oracle_nothing")
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("not known here, or it was revoked or has expired")
        page.fill("#token", token)
        page.keyboard.press("Enter")
        expect(page.locator(".state")).to_contain_text("indexed")
        expect(dialog).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/s/nothere", "There is no such conversation."),
        ("/runs/nothere", "There is no such run."),
        ("/trees/nothere", "There is no tree “nothere”."),
        ("/compare/no/where", "These two cannot be compared."),
    ],
)
def test_a_link_to_nothing_says_so(served, open_page, path, words):
    page = open_page(served.address + path, allow=("404",))
    expect(page.locator("main")).to_contain_text(words)
    expect(page.locator("body")).not_to_contain_text("`")
    if path.startswith("/runs"):
        expect(page.locator(".sentence")).to_contain_text("This run cannot be shown.")
        expect(page.locator(".livechip")).to_have_count(0)


def test_back_leads_from_the_answer_to_the_empty_page(served, open_page):
    page = open_page(served.address)
    page.get_by_text("Watch a recorded run instead").click()
    page.wait_for_url("**/runs/*")
    page.go_back()
    expect(page.locator(".welcome")).to_be_visible()


def test_a_question_makes_a_new_place_in_the_history(serve, open_page):
    with serve(look(), answer()) as server:
        page = open_page(server.address)
        ask(page)
        page.wait_for_selector(".closing")
        page.go_back()
        expect(page.locator(".welcome")).to_be_visible()
        page.go_forward()
        expect(page.locator(".stop-reason")).to_have_text("answered")


def test_a_conversation_that_was_deleted_elsewhere_can_go_on_as_a_new_one(serve, open_page):
    with serve(look(), answer(), look(), answer("Still in `auth.py:1`.")) as server:
        page = open_page(server.address, allow=("404",))
        ask(page)
        page.wait_for_selector(".closing")
        session = re.search(r"/s/(\w+)", page.url)[1]
        assert server.http.delete(f"/api/sessions/{session}").is_success
        ask(page, "And now?")
        page.get_by_role("button", name="Ask in a new conversation").click()
        expect(page.locator(".prose")).to_contain_text("Still in")
        assert session not in page.url


def test_a_citation_is_read_as_its_place_its_number_and_its_state(served, open_page):
    session = served.http.get("/api/sessions").json()[0]["id"]
    page = open_page(f"{served.address}/s/{session}")
    link = page.get_by_role("link", name="auth.py:1 , citation 1, holds")
    expect(link).to_be_visible()
    assert re.fullmatch(r"#\w{32}:1", link.get_attribute("href"))


class Line:
    """A line to a server that can be cut and mended. While it is cut, connections are refused."""

    def __init__(self, address):
        self._target = ("127.0.0.1", int(address.rsplit(":", 1)[1]))
        self._sockets, self._threads = [], []
        self.listen(0)

    def listen(self, port):
        door = socket.create_server(("127.0.0.1", port))
        self.port = door.getsockname()[1]
        self._sockets.append(door)
        self._begin(self._accept, door)

    def cut(self):
        # The door first: nobody shall come in while the others are sent away.
        self._sockets[0].shutdown(socket.SHUT_RDWR)
        self._threads[0].join(30)
        for one in self._sockets[1:]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)
        for one in self._sockets:
            one.close()
        self._sockets, self._threads = [], []

    def _begin(self, work, *given):
        thread = threading.Thread(target=work, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, door):
        with suppress(OSError):
            while True:
                near = door.accept()[0]
                self._sockets.append(near)
                far = socket.create_connection(self._target)
                self._sockets.append(far)
                self._begin(self._copy, near, far)
                self._begin(self._copy, far, near)

    @staticmethod
    def _copy(source, target):
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def test_a_line_that_breaks_in_mid_answer_is_reported_and_the_answer_goes_on(serve, open_page):
    model = HeldModel(look(), answer("It is in `auth.py:1`. And more of it follows here."))
    with serve(model=model) as server:
        line = Line(server.address)
        page = open_page(f"http://127.0.0.1:{line.port}")
        ask(page)
        page.wait_for_selector(".prose[aria-busy=true]")
        page.wait_for_url("**/s/*")
        line.cut()
        expect(page.locator(".sentence")).to_contain_text("Connection lost.")
        expect(page.locator(".prose")).to_contain_text("It is in")
        expect(page.locator(".livechip")).to_have_class(re.compile("away"))
        # Who cannot be reached for some time is not called a lost line any more.
        gone = page.locator(".offline")
        expect(gone).to_contain_text("The server does not answer. Start it with oracle serve.")
        expect(page.locator(".sentence")).to_contain_text("The server does not answer.")
        model.gate.set()
        line.listen(line.port)
        gone.get_by_role("button", name="Retry").click()
        expect(page.locator(".stop-reason")).to_have_text("answered")
        expect(page.locator(".prose")).to_contain_text("And more of it follows here.")
        expect(page.locator(".offline")).to_have_count(0)
        line.cut()


def test_a_run_that_nobody_works_on_is_called_interrupted_until_it_goes_on(serve, open_page):
    """As after a kill -9: the next server waits for the end of the lease."""
    model = HeldModel(look(), answer("It is in `auth.py:1`. And more of it follows here."))
    said = 'event: interrupted\ndata: {"type":"interrupted"}\n\n'
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        page.wait_for_url("**/s/*")
        page.wait_for_selector(".prose[aria-busy=true]")
        streams = re.compile(r"/api/runs/\w+/(stream|mind)$")
        page.route(
            streams, lambda route: route.fulfill(body=said, content_type="text/event-stream")
        )
        page.reload()
        expect(page.locator(".sentence")).to_contain_text("The run was interrupted.")
        expect(page.locator(".offline")).to_contain_text("It goes on by itself")
        page.unroute(streams)
        model.gate.set()
        expect(page.locator(".stop-reason")).to_have_text("answered")
        expect(page.locator(".offline")).to_have_count(0)


# A question that waits for a yes to this call.
WAITING = """async (call) => {
  const { state, touch } = await import("/page/scripts/store.js");
  const { newExchange, takeChunk } = await import("/page/scripts/chat/exchange.js");
  const exchange = newExchange({ id: "e", question: "Keep it?" });
  exchange.isHeard = true;
  const chunk = { type: "approval", id: "a", turn: 1, content: "Allow it?", tools: [call.name] };
  takeChunk(exchange, { ...chunk, calls: [call] });
  document.activeElement.blur();
  const exchanges = new Map([["e", exchange]]);
  state.session = { id: null, title: "Keep it?", exchanges, leaf: "e", shown: "e" };
  touch("session");
}"""


def test_what_a_write_would_change_is_shown_as_a_difference(serve, root, open_page):
    (root / "login.md").write_text("# Login\n\nIt is in old.py.\n")
    arguments = {"path": "login.md", "content": "# Login\n\nIt is in auth.py.\n"}
    with serve() as server:
        page = open_page(server.address, allow=("404",))
        page.wait_for_selector(".state")
        page.evaluate(WAITING, {"name": "save", "arguments": arguments})
        difference = page.get_by_label("What would be written")
        expect(difference.locator(".gone")).to_have_text("It is in old.py.")
        expect(difference.locator(".add").first).to_have_text("It is in auth.py.")
        expect(difference.locator("span:not(.add, .gone)").first).to_have_text("# Login")
        expect(page.locator("[data-approve=no]")).to_be_focused()


def test_a_real_run_that_may_not_write_by_itself_asks_with_the_difference(serve, root, open_page):
    """A token that may only ask: the run waits for the yes of another one."""
    note = root / "notes" / "login.md"
    note.parent.mkdir()
    note.write_text("# Login\n\nIn old.py.\n")
    arguments = {"title": "Login", "content": "In auth.py.", "overwrite": True}
    write = Reply(text=signal("need_turn", reason="x"), calls=[("write_note", arguments)])
    with serve(write, answer("It is kept: `notes/login.md:3`.")) as server:
        may_write = make(server, scope="write")
        page = open_page(server.address, allow=("401",))
        page.fill("#token", make(server, scope="ask"))
        page.keyboard.press("Enter")
        expect(page.locator(".state")).to_contain_text("indexed")
        ask(page, "Write a note about where login is.")
        difference = page.get_by_label("What would be written")
        expect(difference.locator(".gone")).to_have_text("In old.py.")
        expect(difference.locator(".add").first).to_have_text("In auth.py.")
        assert "old.py" in note.read_text()
        [run] = server.http.get("/api/runs", headers=bearer(may_write)).json()
        waiting = f"/api/runs/{run['id']}/approvals"
        [one] = server.http.get(waiting, headers=bearer(may_write)).json()
        server.http.post(
            f"{waiting}/{one['id']}", json={"approve": True}, headers=bearer(may_write)
        )
        expect(page.locator(".stop-reason")).to_be_visible()
        assert "auth.py" in note.read_text()


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    ("call", "file", "gone", "added"),
    [
        (
            ("write_note", {"title": "Login", "content": "In auth.py.", "overwrite": True}),
            ("notes/login.md", "# Login\n\nIn old.py.\n"),
            ["In old.py."],
            ["In auth.py."],
        ),
        (
            ("push_thread", {"thread": "login", "entry": "Keep it."}),
            ("threads/login.md", "## 2026-01-01T00:00:00Z\n\nBegun.\n"),
            [],
            ["", "Keep it."],
        ),
    ],
    ids=["a note", "a thread"],
)
def test_a_write_to_what_exists_shows_its_old_text(serve, root, open_page, call, file, gone, added):
    path = root / file[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file[1])
    with serve() as server:
        page = open_page(server.address, allow=("404",))
        page.wait_for_selector(".state")
        page.evaluate(WAITING, {"name": call[0], "arguments": call[1]})
        expect(page.locator(".approval .where")).to_contain_text(file[0])
        difference = page.get_by_label("What would be written")
        expect(difference.locator(".gone")).to_have_text(gone)
        expect(difference.locator(".add")).to_have_text(added)


def test_enlarged_to_twice_its_size_every_storey_of_the_mind_has_its_height(served, open_page):
    session = served.http.get("/api/sessions").json()[0]["id"]
    page = open_page(f"{served.address}/s/{session}", viewport={"width": 720, "height": 450})
    page.locator(".tabs button").nth(1).click()
    page.wait_for_selector(".tree .node")
    assert page.locator(".stage").bounding_box()["height"] >= 240
    page.locator(".lowerline").scroll_into_view_if_needed()
    expect(page.locator(".lowerline")).to_be_in_viewport()


def test_a_print_is_of_the_conversation(served, open_page):
    session = served.http.get("/api/sessions").json()[0]["id"]
    page = open_page(f"{served.address}/s/{session}")
    page.wait_for_selector(".closing")
    page.emulate_media(media="print")
    expect(page.locator(".prose")).to_be_visible()
    for hidden in (".mind", ".bar", ".composer", ".actions"):
        expect(page.locator(hidden)).to_be_hidden()


def test_targets_are_large_enough_to_hit(served, open_page):
    """But for words in a line of text, whose target reaches beyond them, and dense rows."""
    session = served.http.get("/api/sessions").json()[0]["id"]
    page = open_page(f"{served.address}/s/{session}")
    page.wait_for_selector(".closing")
    small = """() => [...document.querySelectorAll('button, select, input')]
        .filter(one => one.checkVisibility())
        .filter(one => !one.matches('.plainlink, .lowerline, .segments button'))
        .filter(one => one.getBoundingClientRect().height < 22).map(one => one.outerHTML)"""
    assert page.evaluate(small) == []
