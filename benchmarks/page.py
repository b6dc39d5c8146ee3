"""The page while an answer is written: 1,000 messages before it, and a tree of 900 nodes beside it.

A real browser asks a real server, whose model says a piece every 12 ms. The browser's own trace
tells how long each task of its main thread took. A task is long from 50 ms on. Its time by the
clock counts what other programs do meanwhile, so its CPU time decides, divided by how much slower
than usual this machine is now (`tests/timing.py`). It needs chromium.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.measure import report
from oracle.services.llm.protocol import ModelRequest, Part
from oracle.testing import Reply, ScriptedModel, signal
from tests.api.conftest import serving
from tests.page.conftest import long_talk
from tests.timing import slowness

EXCHANGES = 500
LONG = 50.0
PAUSE = 0.012
# Turn, and the whole tree.
DETAILS = {"2": "detail Turn", "3": "detail All"}
ANSWER = "".join(
    f"Part {n} is {n * 7919 % 1013} of `auth.py:1`, **{n**3}** in all.\n\n"
    f"- {n * 31}\n- {n * 77}\n\n"
    f"```python\ndef login_{n * n}():\n    return {n}\n```\n\n"
    for n in range(16)
)
WATCH = """() => {
    window.seen = { long: 0, shifts: 0 };
    new PerformanceObserver(list => { seen.long += list.getEntries().length; })
        .observe({ type: "longtask" });
    new PerformanceObserver(list => {
        for (const one of list.getEntries()) if (!one.hadRecentInput) seen.shifts += one.value;
    }).observe({ type: "layout-shift" });
}"""


class Talking(ScriptedModel):
    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        async for part in super().stream(request):
            yield part
            await asyncio.sleep(PAUSE)


def run() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("        there is no chromium")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for key, words in DETAILS.items():
            with TemporaryDirectory() as folder:
                _measure(browser, Path(folder), key, words)
        browser.close()


def _measure(browser: Browser, root: Path, key: str, words: str) -> None:
    (root / "oracle.toml").write_text("")
    for name in ("auth", "one", "two"):
        (root / f"{name}.py").write_text(f"def {name}():\n    return True\n")
    looks = [
        Reply(text=signal("need_turn", reason=name), calls=[("read_file", {"path": f"{name}.py"})])
        for name in ("auth", "one", "two")
    ]
    last = Reply(text=ANSWER + signal("context_sufficient", sources_found=1), piece=12)
    with serving(root, Talking(*looks, last, repeats_last=True)) as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(long_talk(server, EXCHANGES))
        page.wait_for_selector(f".exchange >> nth={EXCHANGES - 1}", state="attached")
        page.wait_for_load_state("networkidle")
        before = slowness()
        trace, seen = _traced(browser, page, key)
        _report(words, _tasks(trace), seen, max(before, slowness()))
        page.close()


def _traced(browser: Browser, page: Page, key: str) -> tuple[bytes, dict[str, float]]:
    page.evaluate(WATCH)
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    page.fill("#question", "Where is login defined?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange.is-live", state="attached")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(key)
    # A selector that is looked for again and again would be work of the page too.
    while page.evaluate("document.querySelector('.is-live') !== null"):
        page.wait_for_timeout(500)
    return browser.stop_tracing(), page.evaluate("seen")


def _tasks(trace: bytes) -> list[float]:
    """Milliseconds of CPU of each task of the page's main thread."""
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    return [
        event.get("tdur", 0) / 1000
        for event in events
        if event.get("ph") == "X"
        and event["name"] == "ThreadControllerImpl::RunTask"
        and (event["pid"], event["tid"]) in mains
    ]


def _report(words: str, tasks: list[float], seen: dict[str, float], slow: float) -> None:
    longest = max(tasks)
    print(f"        {words}, {len(tasks):,} tasks, this machine {slow:.1f} times slower than usual")
    report(
        "… longest task (CPU, to a usual machine)",
        f"{longest / slow:.0f} ms ({longest:.0f} ms here)",
        f"at most {LONG:.0f} ms",
        longest / slow <= LONG,
    )
    over = sum(task > LONG for task in tasks)
    report("… over 50 ms of CPU, by the clock", f"{over}, {seen['long']:.0f}", "no limit", True)
    shifts = seen["shifts"]
    report("… layout shift without input", f"{shifts:.3f}", "at most 0.1", shifts <= 0.1)
