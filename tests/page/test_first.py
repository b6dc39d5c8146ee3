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
    before = [page.locator("#question").bounding_box(), heading.bounding_box()]
    held.pop().continue_()
    expect(page.locator(".tryout li button").first).to_be_visible()
    expect(page.locator("svg.atrest")).to_be_visible()
    after = [page.locator("#question").bounding_box(), heading.bounding_box()]
    context.close()
    for was, now in zip(before, after, strict=True):
        assert abs(was["y"] - now["y"]) <= 24  # half of a row: there may be one more or less
