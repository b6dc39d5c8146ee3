"""The frame: first visit, sessions, runs, keys, narrow screens, accessibility."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.page.conftest import PHONE, HeldModel, answer, ask, look

pytestmark = pytest.mark.extra

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    "rules": {"label-content-name-mismatch": {"enabled": True}},
}
WIDTHS = (360, 390, 639, 640, 768, 1023, 1024, 1280, 1440, 1920, 2560)


def violations(page):
    """What axe finds, run from here: the policy of the page does not allow its script."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]
    return [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found]


@pytest.mark.parametrize("path", ["/", "/runs", "talk", "keys", "sessions"])
def test_axe_finds_nothing(served, open_page, path):
    session = served.http.get("/api/sessions").json()[0]["id"]
    address = path if path.startswith("/") else f"/s/{session}"
    page = open_page(served.address + address, color_scheme="light")
    page.wait_for_selector({"/": ".tryout", "/runs": "tbody tr"}.get(path, ".closing"))
    if path == "keys":
        page.get_by_label("Keyboard shortcuts").click()
    if path == "sessions":
        page.locator("[data-panel=sessions]").click()
        page.wait_for_selector(".session-tools")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-theme=dark]")
    assert violations(page) == []


def test_axe_finds_nothing_on_a_phone(served, open_page):
    session = served.http.get("/api/sessions").json()[0]["id"]
    page = open_page(f"{served.address}/s/{session}", viewport=PHONE)
    page.wait_for_selector(".closing")
    assert violations(page) == []
    page.get_by_role("button", name="Mind").click()
    page.wait_for_selector(".outline .row")
    assert violations(page) == []


LONG_WORD = "word" * 60
# The page, its panes, and the rows of text in them. Code and the stage may.
SIDEWAYS = """() => [document.documentElement, document.body,
      ...document.querySelectorAll("main, .scroll, .whatif, .listhead, .runs")]
    .filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
    .map(one => `${one.tagName}.${one.className} ${one.scrollWidth} > ${one.clientWidth}`)"""


@pytest.fixture
def long_words(serve):
    """A server whose one question has a word that is longer than any line."""
    with serve(look(), answer(f"It is in `auth.py:1`. {LONG_WORD}")) as server:
        server.ask(f"Where is {LONG_WORD} defined?")
        yield server


@pytest.mark.parametrize("path", ["/", "/runs", "/trees", "talk"])
def test_nothing_scrolls_sideways(long_words, open_page, path):
    session = long_words.http.get("/api/sessions").json()[0]["id"]
    page = open_page(long_words.address + (path if path != "talk" else f"/s/{session}"))
    page.wait_for_selector(".closing, .tryout, tbody tr, .whatif p")
    for width in (*WIDTHS, 700, 899, 900):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(SIDEWAYS) == [], width


@pytest.mark.parametrize("width", [640, 768, 899, 900])
def test_a_question_in_the_list_of_runs_has_room(served, open_page, width):
    page = open_page(f"{served.address}/runs", viewport={"width": width, "height": 800})
    assert page.locator("td.q").first.bounding_box()["width"] > 200


def test_a_phone_has_tabs_and_a_strip_that_stops_the_run(serve, open_page):
    model = HeldModel(look(), answer("It is in `auth.py:1`. " * 20))
    with serve(model=model) as server:
        page = open_page(server.address, viewport=PHONE)
        ask(page)
        page.wait_for_selector(".strip")
        page.get_by_role("button", name="Mind").click()
        expect(page.locator("main.chat")).to_be_hidden()
        page.get_by_role("button", name="Answer").click()
        expect(page.locator("main.chat")).to_be_visible()
        page.locator(".strip [data-act=stop]").click()
        expect(page.locator(".stop-reason")).to_have_text("cancelled")
        model.gate.set()


def test_everything_can_be_done_with_the_keyboard(served, open_page):
    page = open_page(served.address)
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_selector("tbody tr")
    page.keyboard.press("j")
    expect(page.locator("td.q a").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h2.question")).to_have_text("Where is login defined?")
    page.keyboard.press("g")
    page.keyboard.press("a")
    page.wait_for_selector("#question")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("m?")
    expect(page.locator("#question")).to_have_value("m?")


def test_two_runs_are_chosen_for_a_comparison(serve, open_page):
    with serve(look(), answer(), look(), answer()) as server:
        server.ask()
        server.ask()
        page = open_page(f"{server.address}/runs")
        boxes = page.get_by_role("checkbox")
        boxes.nth(0).check()
        boxes.nth(1).check()
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url("**/compare/*/*")


def test_sessions_are_found_as_one_types(serve, open_page):
    with serve(look(), answer(), look(), answer()) as server:
        server.ask("Where is login defined?")
        server.ask("What does auth.py return?")
        page = open_page(server.address)
        page.locator("[data-panel=search]").click()
        expect(page.locator(".sessions .row")).to_have_count(2)
        expect(page.locator(".sessions input")).to_be_focused()
        page.keyboard.type("return")
        expect(page.locator(".sessions .row")).to_have_count(1)


def test_what_is_typed_after_sessions_are_opened_is_for_them(served, open_page):
    page = open_page(served.address)
    page.locator("[data-panel=sessions]").click()
    expect(page.locator(".sessions input")).to_be_focused()
    page.keyboard.type("login")
    expect(page.locator(".sessions input")).to_have_value("login")
    page.keyboard.press("Escape")
    expect(page.locator(".sessions")).not_to_have_class("sessions is-open")


def test_on_a_very_wide_screen_sessions_stay_open_beside_the_conversation(served, open_page):
    session = served.http.get("/api/sessions").json()[0]["id"]
    page = open_page(f"{served.address}/s/{session}", viewport={"width": 2560, "height": 1200})
    panel = page.locator(".sessions")
    expect(panel.locator(".row")).to_have_count(1)
    page.keyboard.press("Escape")
    box, chat = panel.bounding_box(), page.locator(".chat").bounding_box()
    assert box["x"] + box["width"] <= chat["x"] + 1


def test_the_theme_is_chosen_and_remembered(served, open_page):
    page = open_page(served.address, color_scheme="light")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    page.get_by_label("Light or dark").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")


def test_an_address_without_anything_says_so(served, open_page):
    page = open_page(f"{served.address}/s/none", allow=("404",))
    expect(page.get_by_text("There is no such conversation.")).to_be_visible()
