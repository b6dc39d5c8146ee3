"""The files of the page, and what it asks for before anything was asked."""

import re

import pytest

from oracle.api import page_files
from oracle.services.embedded.model import EmbeddedModel
from oracle.testing import ScriptedModel
from tests.api.test_asking import found, look
from tests.tables import each_row


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page of two files, with things around it that are not part of it."""
    folder = tmp_path / "package" / "page"
    (folder / "scripts").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>oracle</title>")
    (folder / "scripts" / "main.js").write_text("export {};")
    (folder / "scripts" / ".hidden.js").write_text("hidden")
    (folder / "notes.py").write_text("secret")
    (folder.parent / "outside.js").write_text("secret")
    (folder / "link.js").symlink_to(folder.parent / "outside.js")
    monkeypatch.setattr(page_files, "page_folder", lambda: folder)
    return folder


ROUTES = [
    "/",
    "/s/3f9a",
    "/trees",
    "/trees/decide",
    "/compare",
    "/runs",
    "/runs/3f9a?at=3.1&node=a",
    "/compare/3f9a/77aa",
]


@each_row("path", ROUTES)
def test_each_address_of_the_page_is_the_same_file(server, page, path):
    response = server.http.get(path)
    head = server.http.head(path)
    assert (response.status_code, response.text) == (200, (page / "index.html").read_text())
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert (head.status_code, head.content) == (200, b"")


def test_nothing_but_our_own_files_may_run_in_it(serve, page):
    with serve() as server:
        headers = server.http.get("/").headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"


def test_a_file_is_sent_again_only_after_it_has_changed(serve, page):
    with serve() as server:
        first = server.http.get("/page/scripts/main.js")
        tag = {"If-None-Match": f'W/"old", {first.headers["etag"]}'}
        again = server.http.get("/page/scripts/main.js", headers=tag)
        (page / "scripts" / "main.js").write_text("export const more = 1;")
        changed = server.http.get("/page/scripts/main.js", headers=tag)
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.content) == (304, b"")
    assert (changed.status_code, changed.text) == (200, "export const more = 1;")


@each_row(
    "path",
    [
        "../outside.js",
        "..%2foutside.js",
        "%2e%2e/outside.js",
        "scripts/../../outside.js",
        "scripts/.hidden.js",
        "scripts//main.js",
        "scripts\\main.js",
        "scripts",
        "notes.py",
        "link.js",
        "none.js",
        "",
        "%00.js",
    ],
)
def test_nothing_else_can_be_read_through_it(server, page, path):
    response = server.http.get(f"/page/{path}")
    assert response.status_code == 404
    assert set(response.json()["error"]) == {"kind", "message"}


def test_the_first_visit_is_about_this_project(serve, root):
    (root / "src").mkdir()
    for name in ("berth", "crane", "tide"):
        text = f"class {name.title()}Planner:\n    pass\n\n\ndef plan_the_{name}():\n    pass\n"
        (root / "src" / f"{name}.py").write_text(text)
    # It defines the most, but nothing else speaks of it.
    odd = ("escape_quotes", "narrow_columns", "padded_numbers")
    (root / "src" / "odds.py").write_text("\n\n".join(f"def {each}():\n    pass\n" for each in odd))
    with serve(look(), found()) as server:
        run_id = server.ask().json()["run_id"]
        page = server.http.get("/api/page").json()
    assert page["index"]["is_ready"]
    assert page["index"]["files"] == 6
    assert page["model"] == {"name": "scripted", "is_configured": True, "meaning": None}
    assert [each["question"] for each in page["questions"]] == [
        "How does plan_the_berth work?",
        "Where is BerthPlanner defined, and who uses it?",
        "What are all the parts of src, and what is each for?",
    ]
    assert [row["name"] for row in page["tree"]["outline"] if row["depth"] == 1] == [
        *("budget", "response", "fallback", "decide", "work"),
    ]
    assert all(row["description"] for row in page["tree"]["outline"])
    assert [run["id"] for run in page["runs"]] == [run_id]


def test_lines_of_a_file_are_shown(serve, root):
    with serve() as server:
        params = {"path": "auth.py", "first": 2, "last": 9}
        shown = server.http.get("/api/lines", params=params).json()
        whole = server.http.get("/api/lines", params={"path": "auth.py", "digest": "abc"}).json()
    assert shown == {
        "path": "auth.py",
        "lines": [{"n": 2, "text": "    return True"}],
        "first": 2,
        "last": 2,
        "total": 2,
        "changed": None,
    }
    assert [line["n"] for line in whole["lines"]] == [1, 2]
    assert whole["changed"] is True


UNREAD = [".env", ".ENV", "../outside.py", "/etc/passwd", "build/made.py", "none", "auth.py:1"]


@pytest.fixture
def hidden(root):
    (root / ".env").write_text("KEY=1")
    (root / ".gitignore").write_text("build/")
    (root / "build").mkdir()
    (root / "build" / "made.py").write_text("made = 1")


@each_row("path", UNREAD)
def test_what_a_tool_may_not_read_no_route_shows(hidden, server, path):
    lines = server.http.get("/api/lines", params={"path": path})
    text = server.http.get("/api/source", params={"path": path})
    assert (lines.status_code, text.status_code) == (404, 404)
    assert lines.text == text.text
    # Neither the content nor what the owner of the machine could do about it.
    assert not {"KEY", "-f", "secrets.allow"}.intersection(re.split(r"[\s=;]", text.text))


def test_lines_are_the_same_as_data_and_as_text(serve, root):
    (root / "long.py").write_text("".join(f"n = {n}\n" for n in range(1, 8)))
    asked = [(None, None), (3, 5), (6, None), (None, 2), (9, 12), (5, 100)]
    with serve() as server:
        for begin, end in asked:
            data = server.http.get(
                "/api/lines",
                params={"path": "long.py"} | _known(first=begin, last=end),
            ).json()
            text = server.http.get(
                "/api/source", params={"path": "long.py"} | _known(start=begin, end=end)
            ).text
            assert "\n".join(line["text"] for line in data["lines"]) == text, (begin, end)
            assert text
        for names in (("lines", "first", "last"), ("source", "start", "end")):
            params = {"path": "long.py", names[1]: 5, names[2]: 2}
            assert server.http.get(f"/api/{names[0]}", params=params).status_code == 400


def _known(**values):
    return {name: value for name, value in values.items() if value is not None}


def test_a_secret_in_a_file_is_not_shown(serve, root):
    secret = "ghp_" + "q7Zk2Vx9Lm4Tn8Rw1Yb6Hc3Jd5Fs0GpAe2Ui"
    (root / "settings.py").write_text(f'API_KEY = "{secret}"\n')
    with serve() as server:
        shown = server.http.get("/api/lines", params={"path": "settings.py"}).text
    assert secret not in shown


@pytest.mark.parametrize("is_embedded", [True, False])
def test_the_page_says_whether_there_is_a_language_model(serve, is_embedded):
    model = EmbeddedModel() if is_embedded else ScriptedModel()
    with serve(model=model) as server:
        said = server.http.get("/api/page").json()["model"]
    assert said["is_configured"] is not is_embedded
    assert ("oracle models use" in (said["meaning"] or "")) is is_embedded


def test_a_file_is_compressed_for_those_who_can_read_it(serve, page):
    text = "export const words = 1;\n" * 200
    (page / "scripts" / "main.js").write_text(text)
    with serve() as server:
        address = "/page/scripts/main.js"
        packed = server.http.get(address, headers={"Accept-Encoding": "br, gzip"})
        plain = server.http.get(address, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text == text
    assert int(packed.headers["content-length"]) * 10 < int(plain.headers["content-length"])
    assert packed.headers["etag"] != plain.headers["etag"]
    for each in (packed, plain):
        assert "Accept-Encoding" in each.headers["vary"]


def test_long_json_is_compressed(serve):
    with serve() as server:
        packed = server.http.get("/api/page")
        plain = server.http.get("/api/page", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json()["tree"] == plain.json()["tree"]
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
