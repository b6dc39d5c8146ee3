"""What the first HTML asks for, so that the browser need not find it module by module."""

import re

from oracle.api.page_files import page_folder

IMPORT = re.compile(r'^(?:import|export)\b[^"\n]*"(\.[^"]+)";', re.MULTILINE)
PRELOAD = re.compile(r'<link rel="modulepreload" href="/page/([^"]+)">')


def modules(first="scripts/app.js"):
    """All that a module needs, itself included; the nearest first."""
    folder = page_folder()
    found = [first]
    for name in found:
        text = (folder / name).read_text()
        for other in IMPORT.findall(text):
            path = (folder / name).parent.joinpath(other).resolve().relative_to(folder.resolve())
            if path.as_posix() not in found:
                found.append(path.as_posix())
    return found


def test_every_module_is_asked_for_with_the_first_html():
    """Otherwise each level of imports costs one more way to the server and back."""
    needed = modules()
    assert len(needed) > 50
    html = (page_folder() / "index.html").read_text()
    assert PRELOAD.findall(html) == needed[1:]
