"""Writes the tree at rest into `index.html`, so that the first paint has it before any script.

It is taken from the page itself, drawn by a browser. The numbers of nodes are left out: they change
with every change of a tree, and the scripts bring them. Run it when `tests/page/test_first.py` says
that the two differ.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

INDEX = Path(__file__).parent.parent / "src" / "oracle" / "page" / "index.html"
PLACE = re.compile(r'<svg class="tree still atrest".*?(?=\n</div></section>)', re.DOTALL)
PARTS = ("svg.atrest", ".phases .marks")


@contextmanager
def served() -> Generator[str]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "oracle.toml").touch()
        server = subprocess.Popen(
            ["oracle", "serve", "--port", "0"], cwd=folder, stderr=subprocess.PIPE, text=True
        )
        try:
            assert server.stderr is not None
            yield next(found[0] for line in server.stderr if (found := re.search(r"http\S+", line)))
        finally:
            server.terminate()
            server.wait()


def drawn(address: str) -> str:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        parts = [page.locator(part).evaluate("one => one.outerHTML") for part in PARTS]
        browser.close()
    return "\n".join(parts)


def plain(svg: str) -> str:
    svg = re.sub(r'<text class="count"[^>]*>[^<]*</text>|<!--.*?-->', "", svg)
    return svg.replace('<g class="node', '\n<g class="node').replace("></path>", "/>")


if __name__ == "__main__":
    with served() as address:
        tree = plain(drawn(address))
    text = INDEX.read_text()
    assert PLACE.search(text), "index.html has no tree at rest"
    INDEX.write_text(PLACE.sub(lambda _: tree, text))
