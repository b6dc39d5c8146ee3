"""Writes the pictures of the page, light and dark, to `docs/images/`.

A server answers from a copy of our sources with a model that plays a script, so that every picture
shows a real run, and each time the same one: it is near the reserve of its limits, and one citation
does not hold. Run it after a change of the page: `python scripts/make_page_pictures.py`, with names
of pictures for some of them only. It needs chromium.
"""

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright

from oracle.bt.wrappers.shadow_mode import ShadowMode
from oracle.services.llm.protocol import ModelRequest, Part
from oracle.testing import Reply, ScriptedModel, signal

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.api.conftest import serving  # noqa: E402

PICTURES = ROOT / "docs/images"
SETTINGS = "[limits]\nturns = 5\ntokens = 90000\n"
QUESTION = "How does the ledger keep a reserve for the last answer?"
WIDE, WIDEST = (1440, 900), (1920, 1080)
PHONE = (390, 844)

BUDGET, ROOM = "src/oracle/bt/trees/budget.lua", "src/oracle/services/control/room.py"
GUARDS, DECIDE = "src/oracle/bt/conditions/budget.py", "src/oracle/bt/trees/decide.lua"


def line_of(path: str, text: str) -> int:
    """The line with this text, so that the pictures cite what is there today."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


WEIGHED = line_of(BUDGET, 'BT.tree("budget"')
RESERVED = line_of(ROOM, "def reserve(")
ASKED_LAST = line_of(GUARDS, "def only_the_last_answer_is_left")

ANSWER = f"""\
The reserve is what the **last request** will need. Before each turn the tree compares it with \
what is left, and withdraws the tools in time.

1. `{BUDGET}:{WEIGHED}-{WEIGHED + 2}` weighs the messages first, because a longer conversation \
makes the last request longer too:

```lua
BT.tree("budget", {{
  root = BT.sequence("budget", {{
    budget.weigh_messages,
```

2. `{ROOM}:{RESERVED}` estimates the reserve: input, the longest output, and \
the time both take.
3. If only that much is left, `{GUARDS}:{ASKED_LAST}` holds, and the turn that \
follows is announced as the last one.

So an answer is never cut off by a limit that the tree could have seen (see also \
`src/oracle/services/old_ledger.py:12`). A run that has to stop there says so: it ends with \
`turn_limit` and what is missing, and never as if it were done."""


def looking(reason: str, *calls: tuple[str, dict[str, object]], confidence: float = 0.8) -> Reply:
    text = signal("need_turn", confidence, reason=reason, expected_turns=2)
    return Reply(text=text, calls=calls, seconds=0.05)


def answering() -> list[Reply]:
    read = [
        (BUDGET, 1, 40),
        (ROOM, RESERVED - 25, RESERVED + 23),
        (GUARDS, ASKED_LAST - 20, ASKED_LAST + 20),
    ]
    actions: dict[str, object] = {
        "path": "src/oracle/bt/trees/oracle-agent.lua",
        "start": 1,
        "end": 60,
    }
    files = [("read_file", {"path": path, "start": a, "end": b}) for path, a, b in read]
    return [
        looking("Searching for the reserve", ("search_code", {"query": "ledger reserve answer"})),
        looking("Reading the best places", *files),
        looking("Who withdraws the tools?", ("read_file", actions), confidence=0.55),
        Reply(text=ANSWER + signal("context_sufficient", 0.86, sources_found=4), piece=12),
    ]


class PicturedModel(ScriptedModel):
    """Plays one script after another, a run each; the last reply of a script is repeated.

    While it `is_paused` it waits in the middle of an answer.
    """

    def __init__(self, *scripts: list[Reply]) -> None:
        super().__init__(self._next, repeats_last=True, name="example-model")
        self.is_paused = False
        self._scripts = iter(scripts)
        self._script: Iterator[Reply] = iter(())
        self._last = Reply()

    def _next(self, request: ModelRequest) -> Reply:
        if not any(message["role"] == "assistant" for message in request.messages):
            self._script = iter(next(self._scripts))
        self._last = next(self._script, self._last)
        return self._last

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        length = 0
        async for part in super().stream(request):
            length += len(part.get("text", ""))
            yield part
            # The pictures are taken in another thread, which an event of this loop would not reach.
            while self.is_paused and length > 560:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


def short() -> list[Reply]:
    """Another run for the same question: it is content with less."""
    text = f"See `{BUDGET}:1-2` and `{ROOM}:{RESERVED}`."
    return [
        answering()[0],
        answering()[1],
        Reply(text=text + signal("context_sufficient", 0.7, sources_found=2)),
    ]


def partial() -> list[Reply]:
    text = f"The limits are in `{BUDGET}:9`."
    said = text + signal("partial_answer", 0.6, missing=["where the limits of a tool are set"])
    return [answering()[0], Reply(text=said)]


def told(path: str, line: int, what: str) -> Callable[[], list[Reply]]:
    """A run that looks twice and then quotes one place."""

    def script() -> list[Reply]:
        read = ("read_file", {"path": path, "start": max(1, line - 10), "end": line + 20})
        text = f"{what}: `{path}:{line}`." + signal("context_sufficient", 0.8, sources_found=1)
        return [answering()[0], looking("Reading it", read, confidence=0.7), Reply(text=text)]

    return script


# The oldest first.
ASKED: list[tuple[Callable[[], list[Reply]], str]] = [
    (
        told(ROOM, line_of(ROOM, "LEAST_MESSAGES"), "What a request may hold is here"),
        "What limits the size of a request?",
    ),
    (
        told(DECIDE, line_of(DECIDE, 'on("stuck"'), "The signal decides"),
        "What happens when the model says it is stuck?",
    ),
    (partial, "Where are the limits set?"),
    (
        told(BUDGET, WEIGHED, "It is weighed before each turn"),
        "Who weighs the messages, and when?",
    ),
    (short, QUESTION),
    (answering, QUESTION),
]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Where pictures are taken. `runs` are the seeded ones, newest first."""

    browser: Browser
    address: str
    scheme: str
    runs: list[dict[str, str]]

    def open(self, path: str, size: tuple[int, int] = WIDE, *, is_live: bool = False) -> Page:
        width, height = size
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=self.scheme,  # pyright: ignore[reportArgumentType]
            reduced_motion="reduce",
            device_scale_factor=2 if size == PHONE else 1,
        )
        page = context.new_page()
        page.goto(self.address + path)
        # What is live keeps its connection open, and the network is never idle.
        if not is_live:
            page.wait_for_load_state("networkidle")
        return page

    def take(self, page: Page, name: str) -> None:
        page.evaluate("document.fonts.ready")
        page.screenshot(path=PICTURES / f"page-{name}-{self.scheme}.png")
        page.context.close()

    def talk(self, run: dict[str, str]) -> str:
        return f"/s/{run['session_id']}#{run['id']}"


def first_visit(scene: Scene) -> None:
    page = scene.open("/")
    page.wait_for_selector(".tryout")
    scene.take(page, "first-visit")


def decided(scene: Scene) -> None:
    page = scene.open(scene.talk(scene.runs[0]))
    page.wait_for_selector(".closing")
    page.wait_for_selector(".stage svg")
    page.locator(".node.yes.capsule").first.click()
    page.wait_for_selector(".card")
    page.locator(".cite[data-number]").nth(3).wait_for()  # until then the answer has not its height
    page.locator(".scroll").evaluate("box => box.scrollTo(0, box.scrollHeight)")
    page.wait_for_selector(".stuck")
    scene.take(page, "decided")


def sources(scene: Scene) -> None:
    page = scene.open(scene.talk(scene.runs[0]))
    page.locator(".cite[data-number]").nth(1).click()
    page.wait_for_selector(".closing")
    page.locator(".scroll").evaluate("box => box.scrollTo(0, 260)")
    page.get_by_text("def reserve").wait_for()
    scene.take(page, "sources")


def wide(scene: Scene) -> None:
    page = scene.open(scene.talk(scene.runs[0]), WIDEST)
    page.locator(".cite[data-number]").nth(1).click()
    page.get_by_text("def reserve").wait_for()
    scene.take(page, "wide")


def runs(scene: Scene) -> None:
    page = scene.open("/runs")
    boxes = page.get_by_role("checkbox")
    boxes.nth(0).check()
    boxes.nth(1).check()
    scene.take(page, "runs")


def compare(scene: Scene) -> None:
    page = scene.open(f"/compare/{scene.runs[0]['id']}/{scene.runs[1]['id']}")
    scene.take(page, "compare")


def live(scene: Scene, model: PicturedModel) -> None:
    """In mid-answer: beside each other, and as panes of a phone."""
    model.is_paused = True
    page = scene.open("/")
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    page.get_by_text("estimates the reserve").wait_for()
    path = page.url.removeprefix(scene.address)
    page.wait_for_selector(".node.leaf")
    page.locator(".node.leaf").click()
    page.wait_for_selector(".card")
    page.wait_for_timeout(600)
    scene.take(page, "answering")
    for tab in ("Answer", "Mind"):
        phone = scene.open(path, PHONE, is_live=True)
        phone.wait_for_selector(".strip")
        phone.get_by_role("button", name=tab).click()
        phone.wait_for_timeout(400)
        scene.take(phone, f"phone-{tab.lower()}")
    model.is_paused = False


SETTLED: dict[str, Callable[[Scene], None]] = {
    "first-visit": first_visit,
    "decided": decided,
    "sources": sources,
    "wide": wide,
    "runs": runs,
    "compare": compare,
}


def main(names: list[str]) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("there is no chromium; apt-get install chromium brings it")
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        root = Path(folder) / "oracle"
        for part in ("src", "docs"):
            ignore = shutil.ignore_patterns("__pycache__", "images", "vendor", "data")
            shutil.copytree(ROOT / part, root / part, ignore=ignore)
        (root / "oracle.toml").write_text(SETTINGS)
        asked = [script for script, _ in ASKED]
        # Each is asked in the shadow too, of the plain loop. The last are asked while pictured.
        both = [script for each in asked for script in (each(), each())]
        model = PicturedModel(*both, answering(), answering())
        with serving(root, model) as server, sync_playwright() as playwright:
            # Without the index the first question would find nothing.
            while not server.http.get("/api/page").json()["index"]["is_ready"]:
                time.sleep(0.5)
            shadow = ShadowMode(server.door.agent.setup, server.door.store)
            for _, question in ASKED:
                said = server.http.post("/api/oracle", json={"question": question}, timeout=300)
                server.run(shadow.compare(said.raise_for_status().json()["run_id"]))
            seeded = server.http.get("/api/runs").json()
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for scheme in ("light", "dark"):
                scene = Scene(browser=browser, address=server.address, scheme=scheme, runs=seeded)
                for name, picture in SETTLED.items():
                    if not names or name in names:
                        picture(scene)
                if not names or "live" in names:
                    live(scene, model)
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
