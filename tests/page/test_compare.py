"""Two runs side by side, a run and its shadow, and trees beside their Lua, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from oracle.bt.wrappers.shadow_mode import ShadowMode
from tests.page.conftest import answer, look
from tests.page.test_frame import violations
from tests.page.test_mind import PLACES, newest_run

pytestmark = pytest.mark.extra

# Of a letter of the text that is seen, and of the field that it is typed in: the places must agree.
ORIGINS = """pane => [...pane.querySelectorAll('.shown, textarea')].map(one => {
    const { font, padding, tabSize, whiteSpace } = getComputedStyle(one);
    const { x, y } = one.getBoundingClientRect();
    return JSON.stringify({ font, padding, tabSize, whiteSpace, x, y });
})"""


def test_two_runs_have_one_shape_and_their_differences_are_numbered(serve, open_page):
    with serve(look(), answer(), answer("It is in `auth.py:1`."), answer()) as server:
        server.ask()
        server.ask()
        first, second = [run["id"] for run in server.http.get("/api/runs").json()[:2]]
        page = open_page(f"{server.address}/compare/{second}/{first}")
        expect(page.locator(".verdict h1 em")).to_contain_text("differ")
        sides = page.locator(".side")
        expect(sides).to_have_count(2)
        assert sides.nth(0).evaluate(PLACES) == sides.nth(1).evaluate(PLACES)
        widths = page.locator(".side").nth(0).evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert widths[0] == widths[1]
        expect(page.locator(".diffs [aria-current=true] i")).to_have_text("1")
        page.keyboard.press("n")
        count = page.locator(".diffs i").count()
        expect(page.locator(".diffs [aria-current=true] i")).to_have_text(str(min(2, count)))
        assert violations(page) == []


def test_a_shadow_pair_has_the_table_of_the_gate_and_its_place_in_runs(serve, open_page):
    with serve(look(), answer(), look(), answer(), look()) as server:
        server.ask()
        shadow = ShadowMode(server.door.agent.setup, server.door.store)
        pair = server.run(shadow.compare(newest_run(server)))
        page = open_page(f"{server.address}/runs")
        section = page.get_by_role("region", name="Shadow")
        expect(section).to_contain_text("The plain loop and the tree, on the same question.")
        section.get_by_role("link", name=pair.run_id[:8]).click()
        expect(page.locator(".sides header").nth(0)).to_contain_text("tree")
        expect(page.locator(".sides header").nth(1)).to_contain_text("plain loop")
        # Nothing of the tree was done by the plain loop, whose tree does not have it.
        of_tree = page.locator(".side").nth(1).locator(".node", has_text="assess")
        expect(of_tree.first).to_have_class(re.compile("absent"))
        expect(
            page.locator(".side").nth(1).locator(".node", has_text="not here")
        ).not_to_have_count(0)
        expect(page.locator(".diffs li").first).to_contain_text("plain loop not in its tree")
        gate = page.locator(".gate")
        expect(gate.locator("summary")).to_contain_text("as good or better on")
        gate.locator("summary").click()
        expect(gate.get_by_role("row", name=re.compile("needless"))).to_be_visible()
        assert violations(page) == []


def test_a_changed_copy_of_a_tree_is_tried_on_recordings_and_nothing_is_written(
    served, open_page, root
):
    before = sorted(path.name for path in root.iterdir())
    page = open_page(f"{served.address}/trees/budget", allow=["400 (Bad Request)"])
    lua = page.get_by_label("Lua of this tree, a copy")
    expect(lua).to_have_value(re.compile("WARNING_SHARE"))
    lua.fill(lua.input_value().replace("WARNING_SHARE = 0.7", "WARNING_SHARE = 0.001"))
    expect(page.locator(".whatif")).to_contain_text("most of a budget is spent")
    lua.fill("BT.tree(")
    expect(page.locator(".whatif .problem")).to_contain_text("budget.lua")
    page.get_by_role("button", name="Undo all").click()
    expect(page.locator(".whatif")).to_contain_text("Tried on 1 recording")
    assert sorted(path.name for path in root.iterdir()) == before


def test_the_way_into_a_comparison_offers_pairs(serve, open_page):
    with serve(look(), answer(), answer("It is in `auth.py:1`."), answer()) as server:
        server.ask()
        server.ask()
        page = open_page(server.address)
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.press("c")
        expect(page.locator(".choose")).to_contain_text("asked twice")
        assert violations(page) == []
        page.locator(".choose li a").first.click()
        expect(page.locator(".verdict h1 em")).to_contain_text("differ")


def test_lua_is_set_as_code_right_behind_the_field_that_it_is_typed_in(served, open_page):
    page = open_page(f"{served.address}/trees/budget")
    expect(page.locator(".shown .k", has_text="local").first).to_be_attached()
    assert len(set(page.locator(".editor").evaluate(ORIGINS))) == 1
    lua = page.get_by_label("Lua of this tree, a copy")
    lua.fill("return nil -- <b>typed</b>")
    expect(page.locator(".shown")).to_have_text("return nil -- <b>typed</b>")
    expect(page.locator(".shown .c")).to_have_text("-- <b>typed</b>")
