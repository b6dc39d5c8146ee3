"""No path leads out of the root, and strange files give results, not exceptions."""

import os
import threading

import pytest

from oracle.errors import ToolProblem
from oracle.services.tools.files import ProjectFiles
from oracle.services.tools.project_tools import project_tools


async def read(tools, path, **more):
    return await tools.run("read_file", {"path": path, **more})


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "src/../../outside.txt",
        "/etc/passwd",
        "//etc/passwd",
        "..",
        "src/shop/../../../outside.txt",
        "link.txt",
        "folder/outside.txt",
        "chain.txt",
    ],
)
async def test_no_path_and_no_link_leads_outside(root, tools, path):
    (root.parent / "outside.txt").write_text("not yours")
    (root / "link.txt").symlink_to(root.parent / "outside.txt")
    (root / "folder").symlink_to(root.parent)
    (root / "chain.txt").symlink_to(root / "link.txt")
    result = await read(tools, path)
    assert not result["success"]
    assert "not yours" not in result["content"]
    assert "lies outside the project" in result["content"]


async def test_a_link_inside_the_project_is_read(root, tools):
    (root / "alias.py").symlink_to("src/shop/checkout.py")
    assert "check_out" in (await read(tools, "alias.py"))["content"]


async def test_a_link_to_a_secret_is_no_way_to_it(root, tools):
    (root / "harmless.txt").symlink_to(".env")
    result = await read(tools, "harmless.txt")
    assert not result["success"]
    assert "basket-secret" not in result["content"]


@pytest.mark.parametrize("looks", [300, pytest.param(5000, marks=pytest.mark.extra)])
async def test_a_link_that_changes_between_two_looks_never_leads_outside(root, looks):
    outside = root.parent / "outside.txt"
    outside.write_text("not yours")
    (root / "inside.txt").write_text("yours")
    files = ProjectFiles(root)
    done = threading.Event()

    def swap():
        while not done.is_set():
            for target in (outside, root / "inside.txt"):
                (root / "new").symlink_to(target)
                os.replace(root / "new", root / "swapped.txt")

    (root / "swapped.txt").symlink_to("inside.txt")
    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(looks):
            try:
                seen.add(files.read("swapped.txt").raw)
            except ToolProblem:
                seen.add("refused")
    finally:
        done.set()
        thread.join()
    assert "not yours" not in seen


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("src/nothing.py", "there is no file"),
        ("src/shop", "is a folder"),
        ("a\0b", "holds a NUL byte"),
        ("pipe", "is a pipe"),
        ("picture.dat", "is a binary file of 3 bytes"),
        ("loop", "cannot be read"),
        ("x" * 900, "cannot be read"),
        ("README.md/below", "there is no file"),
        (".env", "name of a file with secrets"),
        ("tls/server.key", "name of a file with secrets"),
        ("build/out.py", "is ignored"),
        (".oracle/oracle.txt", "is ignored"),
        (".git/config", "is ignored"),
        ("", "path is ''"),
    ],
)
async def test_what_cannot_be_read_is_a_result_with_the_reason(root, tools, path, says):
    os.mkfifo(root / "pipe")
    (root / "picture.dat").write_bytes(b"\x89\0\1")
    (root / "loop").symlink_to("loop")
    result = await read(tools, path)
    assert not result["success"]
    assert says in result["content"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_file_that_may_not_be_read_is_a_result(root, tools):
    (root / "mine.py").write_text("secret")
    (root / "mine.py").chmod(0)
    assert "cannot be read" in (await read(tools, "mine.py"))["content"]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"caf\xe9\n", "caf\ufffd"),
        ("café\n".encode("utf-16"), "café"),
        (b"\xef\xbb\xbfcaf\xc3\xa9\n", "café"),
        (b"one\r\ntwo\r\n", "1  one\n2  two"),
        ("a\u2028b\x0cc\n".encode(), "a\u2028b\x0cc"),
    ],
)
async def test_strange_text_is_still_text(root, tools, data, shown):
    (root / "strange.txt").write_bytes(data)
    assert shown in (await read(tools, "strange.txt"))["content"]


@pytest.mark.extra
async def test_of_a_huge_file_the_beginning_is_read(root, tools):
    with (root / "huge.txt").open("wb") as file:
        file.write(b"first line\n" * 500_000)
        file.truncate(100_000_000)
    result = await read(tools, "huge.txt", end=2)
    assert result["sources"][0]["text"] == "first line\nfirst line"
    assert "only its beginning can be read" in result["content"]


async def test_the_lines_asked_for_are_quoted_with_where_they_stand(tools):
    result = await read(tools, "./src/shop/basket.py", start=4, end=5)
    (source,) = result["sources"]
    assert source["where"] == "src/shop/basket.py:4-5"
    assert (source["path"], source["start"], source["end"]) == ("src/shop/basket.py", 4, 5)
    assert source["text"].splitlines()[0] == "    def add_item(self, item):"
    assert len(source["digest"]) == 64


@pytest.mark.parametrize(
    ("lines", "says"),
    [({"start": 99}, "has 12 lines"), ({"start": 5, "end": 2}, "is before start")],
)
async def test_lines_that_are_not_there_are_a_result(tools, lines, says):
    assert says in (await read(tools, "src/shop/basket.py", **lines))["content"]


async def test_a_file_that_changes_is_read_anew(root, tools):
    before = await read(tools, "src/shop/checkout.py")
    (root / "src/shop/checkout.py").write_text("changed = True\n")
    after = await read(tools, "src/shop/checkout.py")
    assert before["sources"][0]["digest"] != after["sources"][0]["digest"]
    found = await tools.run("search_code", {"query": "changed"})
    assert found["sources"][0]["text"] == "changed = True"


async def test_lines_in_the_middle_of_a_private_key_stay_hidden(root, tools):
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
    (root / "a.py").write_text(
        f"KEY = 1\n-----BEGIN PRIVATE KEY-----\n{body * 5}-----END PRIVATE KEY-----\nx = 1\n"
    )
    assert "MIIE" not in (await read(tools, "a.py", start=4, end=5))["content"]
    assert (await read(tools, "a.py", start=9))["sources"][0]["text"] == "x = 1"


def test_only_what_is_the_projects_own_is_listed(root):
    (root / "out").symlink_to(root.parent)
    (root / "nested").mkdir()
    (root / "nested" / ".gitignore").write_text("*.py\n!kept.py\n")
    (root / "nested" / "kept.py").touch()
    (root / "nested" / "gone.py").touch()
    paths = {entry.path for entry in ProjectFiles(root).entries()}
    assert {"keep.log", "nested/kept.py", "src/shop/basket.py", ".gitignore"} <= paths
    assert paths.isdisjoint(
        {
            "noise.log",
            "build/out.py",
            ".env",
            "tls/server.key",
            "nested/gone.py",
            ".oracle/oracle.txt",
        }
    )
    assert not any(path.startswith("out/") for path in paths)


def test_what_is_ignored_for_oracle_is_not_listed(root):
    (root / ".oracleignore").write_text("src/\n!*.log\n")
    paths = {entry.path for entry in ProjectFiles(root).entries()}
    assert not any(path.startswith("src/") for path in paths)
    assert "noise.log" in paths


async def test_notes_are_seen_even_where_git_ignores_them(root):
    (root / ".gitignore").write_text("notes/\nthreads/\n")
    tools = project_tools(root)
    assert (await tools.run("read_note", {"note": "The supplier"}))["success"]
    assert (await tools.run("read_thread", {"thread": "decisions"}))["success"]


def test_a_broken_line_in_gitignore_spoils_no_other(root):
    (root / ".gitignore").write_text("!\n[\n/\n*.log\n")
    paths = {entry.path for entry in ProjectFiles(root).entries()}
    assert "noise.log" not in paths
    assert "README.md" in paths
