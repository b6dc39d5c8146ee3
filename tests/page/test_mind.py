"""The mind in a real browser: a recording is played, two runs are compared, a live run is held."""

import re

import pytest
from playwright.sync_api import expect

from oracle.testing import ScriptedModel
from tests.api.test_asking import Gate
from tests.page.conftest import PHONE, HeldModel, answer, ask, look
from tests.page.test_frame import violations

pytestmark = pytest.mark.extra

expect.set_options(timeout=30_000)  # on a busy machine a frame may come late


# How many nodes change in the document when the playhead goes one step on.
# Until what was asked for before is drawn: its changes are not those of the step.
SETTLED = """async () => {
    let changes = 1;
    const watcher = new MutationObserver(records => { changes += records.length; });
    const all = {subtree: true, attributes: true, characterData: true, childList: true};
    watcher.observe(document.querySelector('.tree'), all);
    while (changes > 0) {
        changes = 0;
        for (let i = 0; i < 10; i++) await new Promise(requestAnimationFrame);
    }
    watcher.disconnect();
}"""
TOUCHED_BY_A_STEP = """async () => {
    const touched = new Set();
    const element = node => node.nodeType === 1 ? node : node.parentElement;
    const watcher = new MutationObserver(records => {
        for (const one of records) touched.add(element(one.target).closest('.node'));
    });
    const all = {subtree: true, attributes: true, characterData: true, childList: true};
    watcher.observe(document.querySelector('.tree'), all);
    document.querySelector('[aria-label="Step on"]').click();
    for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
    touched.delete(null);
    return touched.size;
}"""
# How many boxes the renderer draws again when the playhead goes one step on.
DRAWN_BY_A_STEP = """async () => {
    const { options } = await import("/page/vendor/preact.js");
    const before = options.__r; // called before a component is drawn
    let drawn = 0;
    options.__r = one => { drawn += one.type.name === 'Box'; before?.(one); };
    document.querySelector('[aria-label="Step on"]').click();
    for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
    options.__r = before;
    return drawn;
}"""
# The most boxes that were added in one frame after a key.
MOST_ADDED_IN_A_FRAME = """async (key) => {
    const added = [];
    let now = 0;
    const watcher = new MutationObserver(records => {
        for (const { addedNodes } of records)
            for (const one of addedNodes)
                if (one.nodeType === 1)
                    now += one.matches('.node') + one.querySelectorAll('.node').length;
    });
    watcher.observe(document.querySelector('.tree'), {subtree: true, childList: true});
    document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    for (let i = 0; i < 30; i++) {
        await new Promise(requestAnimationFrame);
        added.push(now);
        now = 0;
    }
    return Math.max(...added);
}"""
TRANSFORMED = """nodes => nodes.flatMap(node => [node, ...node.querySelectorAll("*")])
    .filter(one => getComputedStyle(one).transform !== "none").length"""
PLACES = """side => [...side.querySelectorAll('.node')]
    .map(one => {
        const shape = one.querySelector('.shape');
        const at = ['x', 'y', 'd'].map(name => shape?.getAttribute(name));
        return one.dataset.id + one.style.transform + at;
    })"""


class SlowStart(ScriptedModel):
    """Waits before its first reply until `gate` is opened."""

    def __init__(self, *replies):
        super().__init__(*replies)
        self.gate = Gate()

    async def stream(self, request):
        if not self.requests:
            await self.gate.wait()
        async for part in super().stream(request):
            yield part


def newest_run(server):
    return server.http.get("/api/runs").json()[0]["id"]


@pytest.fixture
def recording(served, open_page):
    """The page of a recorded run, shown to its end."""

    def opened(query="", **options):
        page = open_page(f"{served.address}/runs/{newest_run(served)}{query}", **options)
        page.wait_for_selector(".tree .node, .outline .row")
        expect(page.locator(".time .at")).to_have_text(re.compile(r"step \d+ of \d+$"))
        return page

    return opened


def step_of(page):
    return int(page.locator(".time .at").inner_text().split("step ")[1].split(" ")[0])


def sentence(page):
    return page.locator(".sentence strong")


def test_a_recording_says_what_was_decided_and_draws_it_as_a_line(recording):
    page = recording()
    expect(sentence(page)).to_have_text("Believed and answered.")
    expect(page.locator(".node.decided .name")).to_have_text("exit turns")
    tops = page.locator(".node.lit > .shape").evaluate_all(
        "shapes => shapes.map(shape => Math.round(shape.getBoundingClientRect().top))"
    )
    assert len(tops) > 2
    assert len(set(tops)) == 1


def test_a_recording_can_be_stepped_scrubbed_and_played(recording):
    page = recording()
    last = step_of(page)
    page.get_by_label("To the start").click()
    expect(page.locator(".time .at")).to_have_text(f"start, step 0 of {last}")
    expect(page.locator(".node.decided")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".time .at")).to_contain_text(f"step 2 of {last}")
    page.keyboard.press("]")
    expect(sentence(page)).to_have_text("Another turn.")
    page.locator("body").click(position={"x": 700, "y": 60})
    page.get_by_label("To the start").click()
    page.locator("button", has_text="4×").click()
    page.get_by_label("Play", exact=True).click()
    expect(page.locator(".time .at")).to_have_text(f"end, step {last} of {last}")
    expect(sentence(page)).to_have_text("Believed and answered.")


def test_the_pointer_moves_the_playhead(recording):
    page = recording()
    box = page.locator("svg.lanes").bounding_box()
    page.mouse.click(box["x"] + 62, box["y"] + 60)
    expect(page.locator(".time .at")).to_contain_text("start, step")
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 60)
    expect(page.locator(".time .at")).to_contain_text("end, step")


def test_an_address_holds_the_moment_and_the_node(recording, served, open_page):
    page = recording()
    page.keyboard.press("[")
    expect(sentence(page)).to_have_text("Another turn.")
    page.keyboard.press("f")
    expect(page.locator(".card h3")).to_contain_text("another turn is granted")
    expect(page).to_have_url(re.compile(r"at=1\.\d+&node="))
    other = open_page(page.url)
    expect(sentence(other)).to_have_text("Another turn.")
    expect(other.locator(".card h3")).to_contain_text("another turn is granted")


def test_a_card_says_what_a_node_is_for_and_shows_its_lua(recording):
    page = recording()
    page.keyboard.press("f")
    page.locator(".card footer .plainlink").first.click()
    expect(page.locator(".card .lua")).to_contain_text("BT.exit")
    page.keyboard.press("Escape")
    expect(page.locator(".card")).to_have_count(0)


def test_the_tree_is_walked_by_keys(recording):
    page = recording()
    page.locator(".node[tabindex='0']").focus()
    page.keyboard.press("Home")
    expect(page.locator(".node:focus")).to_have_attribute("aria-level", "1")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".node:focus")).to_have_attribute("aria-level", "2")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".node:focus")).to_have_attribute("aria-level", "1")
    page.keyboard.press("End")
    expect(page.locator(".node:focus")).not_to_have_attribute("aria-level", "1")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.locator(".card h3")).to_contain_text("turn")
    expect(page.locator(".node[tabindex='0']")).to_have_count(1)


def test_a_folded_box_opens_and_stays_open(recording):
    page = recording()
    drawn = page.locator(".node").count()
    page.locator(".node.idle [data-open]").first.click()
    expect(page.locator(".node")).not_to_have_count(drawn)
    opened = page.locator(".node").count()
    page.keyboard.press("s")
    page.keyboard.press("t")
    expect(page.locator(".node")).to_have_count(opened)


def test_all_draws_what_is_in_view_and_touches_only_what_changes(recording):
    page = recording()
    page.keyboard.press("3")
    expect(page.locator(".minimap")).to_contain_text(re.compile(r"\d{3} nodes"))
    page.get_by_label("To the start").click()
    drawn = page.locator(".tree .node").count()
    assert 50 < drawn < 500
    page.evaluate(SETTLED)
    touched = page.evaluate(TOUCHED_BY_A_STEP)
    assert touched < drawn / 4


def test_the_overview_has_no_transform_of_its_own_for_each_node(recording):
    """The browser looks through each of them in each frame, and there are hundreds."""
    page = recording()
    page.keyboard.press("3")
    page.wait_for_selector(".tree.tiny .node")
    own = ".tree.tiny .node[style], .tree.tiny .node [transform], .tree.tiny .node svg"
    assert page.locator(own).count() == 0
    assert page.locator(".tree.tiny .node").evaluate_all(TRANSFORMED) == 0


def test_nothing_moves_while_all_is_played(recording):
    page = recording()
    page.keyboard.press("3")
    page.get_by_label("To the start").click()
    before = page.locator(".tree").evaluate(PLACES)
    for _ in range(25):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("]")
    after = page.locator(".tree").evaluate(PLACES)
    assert set(before) <= set(after)


# So high that many boxes are in view.
HIGH = {"width": 1440, "height": 2600}


def test_a_step_costs_what_it_changes_not_what_is_drawn(recording):
    """No time is measured: a slow machine takes longer, but it draws the same things."""
    page = recording(viewport=HIGH)
    page.keyboard.press("3")
    page.wait_for_selector(".tree .node >> nth=300")
    page.get_by_label("To the start").click()
    # The first step is the beginning of the run, which changes a hundred nodes at once.
    page.evaluate(DRAWN_BY_A_STEP)
    assert 0 < page.evaluate(DRAWN_BY_A_STEP) < page.locator(".tree .node").count() / 8


def test_a_frame_adds_only_so_many_boxes(recording):
    page = recording(viewport=HIGH)
    assert page.evaluate(MOST_ADDED_IN_A_FRAME, "3") <= 120 < page.locator(".tree .node").count()


def test_zoom_and_pan_are_of_the_drawing_only(recording):
    page = recording()
    page.keyboard.press("3")
    expect(page.locator(".zoom")).to_contain_text("40 %")
    page.keyboard.press("+")
    expect(page.locator(".zoom")).to_contain_text("50 %")
    page.keyboard.press("0")
    expect(page.locator(".zoom")).to_contain_text("100 %")
    before = page.locator(".world").get_attribute("style")
    box = page.locator("svg.tree").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 20)
    page.mouse.wheel(0, 120)
    expect(page.locator(".world")).not_to_have_attribute("style", before)


def test_nothing_moves_for_those_who_asked_for_that(serve, open_page):
    model = HeldModel(look(), answer("It is in `auth.py:1`. " * 20))
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        halo = page.locator(".tree .halo")
        expect(halo).to_be_attached()
        assert halo.evaluate("one => getComputedStyle(one).animationName") == "none"
        moving = page.locator(".tree .node").evaluate_all(
            "nodes => nodes.filter(one => getComputedStyle(one).transitionDuration !== '0s').length"
        )
        assert moving == 0
        expect(sentence(page)).to_have_text("The model is writing.")
        model.gate.set()
        expect(sentence(page)).to_have_text("Believed and answered.")


def test_a_live_run_goes_on_while_one_looks_back(serve, open_page):
    model = HeldModel(look(), answer("It is in `auth.py:1`. " * 20))
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        expect(sentence(page)).to_have_text("The model is writing.")
        expect(page.locator(".livechip")).not_to_have_class("away")
        page.locator("#mind").click(position={"x": 300, "y": 70})
        page.keyboard.press("[")
        expect(sentence(page)).to_have_text("Another turn.")
        model.gate.set()
        expect(page.get_by_role("button", name="Play again")).to_be_visible()
        expect(sentence(page)).to_have_text("Another turn.")
        page.keyboard.press("l")
        expect(sentence(page)).to_have_text("Believed and answered.")


def test_a_live_run_is_held_before_a_node_and_goes_on(serve, open_page):
    model = SlowStart(look(), answer())
    with serve(model=model) as server:
        page = open_page(server.address)
        ask(page)
        expect(sentence(page)).to_have_text("The model is writing.")
        page.locator(".node.leaf").click()
        page.get_by_role("button", name="Break before it").click()
        expect(page.locator(".node .stop")).to_be_attached()
        model.gate.set()
        expect(sentence(page)).to_contain_text("Held before")
        expect(page.locator(".board")).to_contain_text("messages")
        page.get_by_role("button", name="Go on").click()
        expect(sentence(page)).to_have_text("Believed and answered.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("keys", ["", "2", "3", "s", "f"])
def test_axe_finds_nothing_in_the_mind(recording, keys, scheme):
    page = recording(color_scheme=scheme)
    if keys:
        page.keyboard.press(keys)
        page.wait_for_selector({"s": ".excerpt pre", "f": ".card"}.get(keys, ".node"))
    assert violations(page) == []


def test_a_phone_has_the_tree_as_an_outline(served, open_page):
    page = open_page(f"{served.address}/runs/{newest_run(served)}", viewport=PHONE)
    page.get_by_role("button", name="Mind").click()
    decided = page.locator(".outline .decided")
    expect(decided).to_have_attribute("aria-label", re.compile("^exit turns, exit, decided"))
    decided.click()
    expect(page.locator(".card h3")).to_contain_text("exit turns")
    assert violations(page) == []


def test_forced_colours_keep_the_line_visible(recording):
    page = recording(forced_colors="active")
    width = "one => getComputedStyle(one).strokeWidth"
    line = page.locator(".tree .edge.lit").first.evaluate(width)
    assert line != page.locator(".tree .edge:not(.lit)").first.evaluate(width)


def test_the_map_of_the_whole_tree_can_be_dragged(recording):
    page = recording()
    page.keyboard.press("3")
    expect(page.locator(".minimap.is-map")).to_be_visible()
    before = page.locator(".world").evaluate("one => one.style.transform")
    box = page.locator(".minimap svg").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 100, box["y"] + 60)
    expect(page.locator(".world")).not_to_have_attribute("style", re.compile(re.escape(before)))
    page.mouse.up()


def test_a_cited_file_opens_in_the_chosen_editor(recording, served):
    page = recording()
    page.keyboard.press("s")
    page.get_by_role("button", name="Open in editor").click()
    page.get_by_label("Editor").select_option("vscode")
    page.keyboard.press("Escape")
    link = page.get_by_role("link", name="Open in editor")
    expect(link).to_have_attribute("href", f"vscode://file{served.root}/auth.py:1")
