"""What a frame costs while an answer is written, with a long conversation and the whole tree.

Nothing here is timed: a slow machine takes longer, but it draws the same things. `python -m
benchmarks page` measures the time.
"""

import pytest
from playwright.sync_api import expect

from oracle.testing import Reply, signal
from tests.page.conftest import HeldModel, answer, ask, long_talk, look

pytestmark = pytest.mark.extra

EXCHANGES = 500
# Long, and without repeating itself: the tree would cut that short.
TEXT = "".join(
    f"Part {n} is {n * 7919 % 1013} of `auth.py:1`, **{n**3}** in all.\n\n"
    f"- {n * 31}\n- {n * 77}\n\n"
    for n in range(30)
)

# Counts, from now on: elements added in each frame, components drawn by name, places asked for.
WATCH = """async () => {
    const { options } = await import("/page/vendor/preact.js");
    const seen = window.seen = { most: 0, drawn: {}, places: 0, shifts: 0 };
    const before = options.__r; // called before a component is drawn
    options.__r = one => {
        const name = one.type.name ?? "";
        seen.drawn[name] = (seen.drawn[name] ?? 0) + 1;
        before?.(one);
    };
    const count = one => one.nodeType === 1 ? 1 + one.querySelectorAll("*").length : 0;
    new MutationObserver(records => {
        let added = 0;
        for (const { addedNodes } of records) for (const one of addedNodes) added += count(one);
        seen.most = Math.max(seen.most, added);
    }).observe(document.body, { subtree: true, childList: true });
    new PerformanceObserver(list => {
        for (const one of list.getEntries()) if (!one.hadRecentInput) seen.shifts += one.value;
    }).observe({ type: "layout-shift" });
    const place = Element.prototype.getBoundingClientRect;
    Element.prototype.getBoundingClientRect = function () {
        seen.places += Boolean(this.closest(".scroll"));
        return place.call(this);
    };
}"""


@pytest.fixture
def writing(serve, open_page):
    """A page on which the answer to a question after many others is being written."""
    last = Reply(text=TEXT + signal("context_sufficient", sources_found=1), piece=24)
    model = HeldModel(look(), last, shown=4)
    with serve(model=model) as server:
        page = open_page(long_talk(server, EXCHANGES))
        expect(page.locator(".exchange")).to_have_count(EXCHANGES)
        yield page, model


def end_of(page):
    return page.locator(".exchange:last-child .stop-reason")


def test_text_redraws_neither_the_tree_nor_other_exchanges(writing):
    page, model = writing
    ask(page)
    expect(page.locator(".exchange.is-live .prose")).to_contain_text("Part 0")
    page.wait_for_selector(".tree .node.leaf")
    page.evaluate(WATCH)
    model.gate.set()
    expect(end_of(page)).to_have_text("answered")
    drawn = page.evaluate("seen.drawn")
    # A few dozen pieces of text came; the tree changed as often as its nodes did, in a few frames.
    assert drawn["Exchange"] <= drawn["Prose"] + 40
    assert drawn["TreeStage"] < 40


def test_a_frame_adds_few_elements_and_nothing_jumps(writing):
    page, model = writing
    model.gate.set()
    page.evaluate(WATCH)
    ask(page)
    expect(end_of(page)).to_have_text("answered")
    seen = page.evaluate("seen")
    assert seen["most"] < 1_500  # most of it is the text, which came at once
    assert seen["shifts"] < 0.25
    # Each message of the conversation is a part of the prompt; together they are one row.
    row = page.locator(".segments li", has_text="history")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("×")


def test_to_scroll_looks_at_few_exchanges(writing):
    page, _ = writing
    page.evaluate(WATCH)
    page.locator(".scroll").evaluate(
        """async box => {
            for (let at = 0; at < 20; at += 1) {
                box.scrollTop += 400;
                await new Promise(requestAnimationFrame);
            }
        }"""
    )
    assert page.evaluate("seen.places") < 20 * 30


def test_an_answer_whose_run_is_gone_is_shown_without_a_complaint(serve, open_page):
    with serve(answer()) as server:
        page = open_page(long_talk(server, 2))
        expect(page.locator(".exchange .prose")).to_have_count(2)
        page.wait_for_load_state("networkidle")
        expect(page.locator(".note.is-broken")).to_have_count(0)
