"""The first visit: what is not known yet has its place."""

import pytest
from playwright.sync_api import expect

from tests.page.conftest import WIDE

pytestmark = pytest.mark.extra


def test_nothing_moves_when_the_project_is_known(served, browser):
    """The first answer of the server is held until the field was seen without it."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    held = []
    page.route("**/api/page", lambda route: held.append(route))
    page.goto(served.address)
    heading = page.get_by_role("heading", name="What will decide")
    expect(page.locator(".is-waiting .bone").first).to_be_visible()
    # The tree of the first HTML is there until the one of this project is known.
    expect(page.locator(".atrest.is-waiting .name").first).to_be_visible()
    before = [page.locator("#question").bounding_box(), heading.bounding_box()]
    held.pop().continue_()
    expect(page.locator(".tryout li button").first).to_be_visible()
    expect(page.locator("svg.atrest")).to_be_visible()
    after = [page.locator("#question").bounding_box(), heading.bounding_box()]
    context.close()
    for was, now in zip(before, after, strict=True):
        assert abs(was["y"] - now["y"]) <= 1


PLACED = """texts => texts.filter(one => one.checkVisibility()).map(one => {
    const { x, y } = one.getBoundingClientRect();
    return [one.textContent.trim(), Math.round(x), Math.round(y)];
})"""
FIRST = "h1, .lead, .phases h2, .phases p:not(.marks), svg.atrest .name, svg.atrest .d"


@pytest.fixture
def open_first(served, browser):
    """The page before its scripts have come."""
    contexts = []

    def opened(path="/", width=1440):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}))
        page = contexts[-1].new_page()
        page.route("**/page/scripts/app.js", lambda route: route.abort())
        page.goto(served.address + path)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [390, 768, 1024, 1440, 1920])
def test_the_first_html_has_what_the_scripts_draw_where_they_draw_it(
    served, open_first, open_page, width
):
    """If the tree is another one: python scripts/make_first_paint.py."""
    page = open_page(served.address, viewport={"width": width, "height": 900})
    page.wait_for_selector(".tryout li button")
    first = open_first(width=width).locator(FIRST).evaluate_all(PLACED)
    drawn = page.locator(FIRST).evaluate_all(PLACED)
    assert [row[0] for row in first] == [row[0] for row in drawn]
    assert len(first) == 2 if width < 1024 else len(first) > 20
    for was, now in zip(first, drawn, strict=True):
        assert max(abs(was[1] - now[1]), abs(was[2] - now[2])) <= 2, (was, now)


def test_at_another_address_the_first_html_is_an_empty_frame(open_first):
    page = open_first("/runs")
    expect(page.locator(".first-paint .bar")).to_be_visible()
    expect(page.locator(".first-paint svg.atrest")).to_be_hidden()
