"""Ask, stream, stop, reload, approve and branch, as a person does it."""

import re

import pytest
from playwright.sync_api import expect

from oracle.testing import Reply, signal
from tests.page.conftest import HeldModel, answer, ask, look

pytestmark = pytest.mark.extra

LONG = "It is in `auth.py:1`. " + "One more sentence about it. " * 20


def test_a_question_is_answered_with_a_citation_that_opens_its_lines(serve, open_page):
    with serve(look(), answer()) as server:
        page = open_page(server.address)
        expect(page.locator("#question")).to_be_focused()
        ask(page)
        expect(page.locator(".stop-reason")).to_have_text("answered")
        expect(page.locator("h2.question")).to_have_text("Where is login defined?")
        expect(page.locator(".steps .what")).to_have_text("read auth.py")
        assert re.search(r"/s/\w+#\w+$", page.url)
        page.locator(".cite").click()
        expect(page.locator(".cite")).to_have_attribute("aria-current", "true")
        expect(page.get_by_text("def login():")).to_be_visible()
        assert page.url.endswith(":1")


def test_text_appears_while_it_is_written(serve, open_page):
    model = HeldModel(look(), answer(LONG), shown=4)
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        expect(page.locator(".prose")).to_have_attribute("aria-busy", "true")
        expect(page.locator(".prose")).to_contain_text("It is in auth.py:1")
        expect(page.locator(".closing")).to_have_count(0)
        model.gate.set()
        expect(page.locator(".prose")).to_have_attribute("aria-busy", "false")
        expect(page.locator(".cite sup")).to_have_text("1")


def test_a_run_is_stopped_with_escape_and_says_so(serve, open_page):
    model = HeldModel(look(), answer(LONG))
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        page.wait_for_selector(".prose[aria-busy=true]")
        page.keyboard.press("Escape")
        expect(page.locator(".stop-reason")).to_have_text("cancelled")
        expect(page.locator(".stop-reason")).to_have_class(re.compile("is-scarce"))
        model.gate.set()


def test_a_page_that_is_loaded_again_in_mid_answer_goes_on(serve, open_page):
    model = HeldModel(look(), answer(LONG), shown=4)
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        page.wait_for_selector(".prose[aria-busy=true]")
        page.wait_for_url("**/s/*")
        page.reload()
        expect(page.locator("h2.question")).to_have_text("Where is login defined?")
        page.wait_for_selector(".prose[aria-busy=true]")
        model.gate.set()
        expect(page.locator(".stop-reason")).to_have_text("answered")
        assert page.locator(".exchange").count() == 1


@pytest.mark.parametrize("is_yes", [True, False])
def test_a_write_waits_for_a_yes_in_place(serve, root, open_page, is_yes):
    wish = "Hm." + signal("need_capability", capability="write_note", reason="to keep it")
    write = Reply(calls=[("write_note", {"title": "Login", "content": "It is in auth.py."})])
    with serve(look(), wish, write if is_yes else answer(), answer()) as server:
        page = open_page(server.address)
        ask(page)
        asked = page.locator(".approval")
        expect(asked).to_contain_text("write_note")
        asked.locator(f"[data-approve={'yes' if is_yes else 'no'}]").click()
        expect(page.locator(".stop-reason")).to_be_visible()
        expect(asked).to_contain_text("You allowed it." if is_yes else "You did not allow it.")
    assert bool(list(root.rglob("*ogin*.md"))) is is_yes


def test_a_question_that_is_edited_becomes_a_branch(serve, open_page):
    with serve(look(), answer(), look(), answer("Nowhere else: `auth.py:1`.")) as server:
        page = open_page(server.address)
        ask(page)
        page.locator("[data-act=edit]").click()
        expect(page.locator("#question")).to_have_value("Where is login defined?")
        ask(page, "Where else is login defined?")
        expect(page.locator("h2.question")).to_have_text("Where else is login defined?")
        expect(page.locator("[data-branches]")).to_contain_text("branch 2 of 2")
        page.get_by_label("Previous branch").click()
        expect(page.locator("h2.question")).to_have_text("Where is login defined?")
        page.locator("[data-panel=sessions]").click()
        expect(page.locator(".branch-tree a")).to_have_count(2)


def test_a_conversation_goes_on_and_can_be_linked_to(serve, open_page):
    with serve(look(), answer(), answer("And `auth.py:2`.")) as server:
        page = open_page(server.address)
        ask(page)
        page.wait_for_selector(".closing")
        page.wait_for_url("**/s/*")
        first = page.url
        ask(page, "And what does it return?")
        expect(page.locator(".closing")).to_have_count(2)
        other = open_page(first)
        expect(other.locator(".exchange")).to_have_count(2)
        expect(other.locator(".cite").first).to_be_visible()


def test_of_a_long_conversation_only_what_is_near_is_drawn(serve, open_page):
    exchange = """async (count) => {
      const { state, touch } = await import("/page/scripts/store.js");
      const { newExchange } = await import("/page/scripts/chat/exchange.js");
      const exchanges = new Map();
      for (let n = 0; n < count; n += 1) {
        const stored = { id: `e${n}`, parent_id: n ? `e${n - 1}` : null, question: `Question ${n}?`,
          answer: "A paragraph.\\n\\n- `auth.py:1`", created_at: n,
          metadata: { stop_reason: "answered" } };
        exchanges.set(stored.id, Object.assign(newExchange(stored), { isHeard: true }));
      }
      const leaf = `e${count - 1}`;
      state.session = { id: null, title: "Long", exchanges, leaf, shown: leaf };
      touch("session");
    }"""
    with serve() as server:
        page = open_page(server.address, allow=("404",))
        page.evaluate(exchange, 1000)
        expect(page.locator(".exchange")).to_have_count(1000)
        assert page.locator(".prose").count() < 100
        page.locator(".scroll").evaluate("box => box.scrollTo(0, box.scrollHeight)")
        expect(page.locator("[data-exchange=e999] .prose")).to_contain_text("A paragraph.")


def test_the_way_it_ended_lists_what_is_missing(serve, open_page):
    missing = ["the logout", "who calls it"]
    text = "Part of it: `auth.py:1`." + signal("partial_answer", missing=missing)
    with serve(look(), text, text, text) as server:
        page = open_page(server.address)
        ask(page, "Where are login and logout defined?")
        expect(page.locator(".stop-reason")).to_have_text("partial answer")
        lists = page.locator(".lists div", has_text="Missing")
        expect(lists.get_by_role("listitem")).to_have_text(missing)


def test_a_citation_that_does_not_hold_says_why(serve, open_page):
    with serve(look(), answer("It is in `auth.py:1`, and `other.py:7` too.")) as server:
        page = open_page(server.address)
        ask(page)
        expect(page.locator(".cite.fails")).to_contain_text("other.py:7")
        expect(page.locator(".cite-problem")).to_have_text("not read")
        expect(page.locator(".prose")).not_to_contain_text("⚠")


def test_a_server_that_is_gone_is_reported_and_the_text_stays(serve, open_page):
    with serve(look(), answer()) as server:
        page = open_page(server.address, allow=("ERR_CONNECTION_REFUSED",))
        ask(page)
        page.wait_for_selector(".closing")
        server.stop()
        ask(page, "And now?")
        expect(page.locator(".note.is-broken")).to_be_visible()
        expect(page.locator(".prose").first).to_contain_text("It is in")


PARTS = "It is in `auth.py:1`.\n\n" + "\n\n".join(f"Part {number} of it." for number in range(40))


def test_what_is_written_is_followed_to_its_end(serve, open_page):
    model = HeldModel(look(), answer(), look(), answer(PARTS), shown=30)
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        expect(page.locator(".closing")).to_have_count(1)
        ask(page, "And where else?")
        expect(page.get_by_text("Part 20 of it.")).to_be_in_viewport()
        model.gate.set()
        expect(page.locator(".closing")).to_have_count(2)
        expect(page.locator(".closing").last).to_be_in_viewport()


def test_a_reader_who_scrolls_up_is_left_where_they_are(serve, open_page):
    model = HeldModel(look(), answer(PARTS), shown=30)
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        page.wait_for_selector(".prose[aria-busy=true]")
        expect(page.get_by_text("Part 20 of it.")).to_be_visible()
        page.mouse.move(300, 400)
        page.mouse.wheel(0, -5000)
        expect(page.locator(".question")).to_be_in_viewport()
        model.gate.set()
        page.wait_for_selector(".closing")
        expect(page.locator(".question")).to_be_in_viewport()


def test_a_link_to_a_citation_opens_it_also_of_an_earlier_exchange(serve, open_page):
    with serve(look(), answer("It is in `auth.py:1` and `gone.py:7`."), look(), answer()) as server:
        page = open_page(server.address)
        for count, question in enumerate(("Where is login?", "And where else?"), 1):
            ask(page, question)
            expect(page.locator(".closing")).to_have_count(count)
        first = page.locator(".cite").nth(1).get_attribute("href")
        session = page.url.partition("#")[0]
        other = open_page(session + first)
        expect(other.locator(".sources [aria-selected=true]")).to_contain_text("gone.py")
        # Beside the answer it has the same words as in it.
        problem = other.locator(".cite-problem").first.inner_text()
        expect(other.locator(".excerpt .verdict")).to_have_text(problem)
        expect(other.locator(".excerpt")).to_contain_text("nothing backs it")
        expect(other.locator(".excerpt")).not_to_contain_text("⚠")


def test_a_second_question_goes_to_the_same_conversation_also_before_its_name_is_known(
    serve, open_page
):
    with serve(look(), answer(), look(), answer("And `auth.py:2`.")) as server:
        page = open_page(server.address)
        held = []
        page.route("**/api/runs?limit=50", lambda route: held.append(route))
        ask(page)
        page.wait_for_selector(".closing")
        ask(page, "And what does it return?")
        expect(page.locator("h2.question")).to_have_count(2)
        held.pop().continue_()
        expect(page.locator(".closing")).to_have_count(2)
        assert len(server.http.get("/api/sessions").json()) == 1
