"""Hostile and unusual trees and files."""

import os
import socket

import pytest

from tests.timing import within


def paths(hits):
    return [hit.path for hit in hits]


@pytest.mark.parametrize(
    "name",
    [
        "a b.py",
        "ünïcode.py",
        "日本語.py",
        "new\nline.py",
        "quote'\".py",
        "-rf.py",
        "a;b.py",
        "{x}.py",
    ],
)
def test_hostile_names_are_names_like_others(project, name):
    project.write(name, "alpha = 1\n")
    index = project.indexed()
    assert paths(index.search("alpha")) == [name]
    index.update([name])
    assert index.explain(name) is None


def test_a_name_that_is_not_valid_text_is_left_out(project):
    with open(os.fsencode(project.root) + b"/\xff\xfe.py", "wb") as file:
        file.write(b"alpha = 1\n")
    assert project.indexed().paths() == []


def test_deep_trees_and_long_lines_do_no_harm(project):
    deep = "/".join("d" for _ in range(150))
    project.write(f"{deep}/a.py", "alpha = 1\n")
    project.write("nested.py", "x = " + "(" * 20_000 + ")" * 20_000 + "\n")
    project.write("nested.js", "[" * 50_000)
    project.write("one_line.py", "alpha = 'x'; " * 500)
    assert set(paths(project.indexed().search("alpha"))) == {f"{deep}/a.py", "one_line.py"}


@pytest.mark.parametrize(
    ("name", "begins", "goes_on"),
    [("a.py", "x = (a\n", ".b()\n"), ("a.js", "a\n", ".b()\n"), ("a.rs", "fn f() { a\n", ".b()\n")],
)
def test_calls_that_are_chained_without_end_cost_no_more_than_others(
    project, name, begins, goes_on
):
    project.write(name, f"{begins}{goes_on * 60_000}")
    with within(5):  # A query that visits all of it takes minutes.
        project.indexed()


def test_paths_that_are_longer_than_the_system_takes_are_left_out(project):
    project.write("a.py", "alpha = 1\n")
    here = os.open(project.root, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("y" * 250, dir_fd=here)
        inner = os.open("y" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert project.indexed().paths() == ["a.py"]


def test_odd_kinds_of_files_are_neither_waited_for_nor_followed(project):
    project.write("a.py", "alpha = 1\n")
    os.mkfifo(project.root / "pipe.py")
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.relpath(project.root / "socket.py"))
    server.close()
    (project.root / "zero.py").symlink_to("/dev/zero")
    (project.root / "loop").symlink_to(".")
    (project.root / "gone.py").symlink_to("gone.py")
    with open(project.root / "sparse.py", "wb") as file:
        file.truncate(2 << 30)
    project.write("x" * 252 + ".py", "alpha = 2\n")
    assert project.indexed().paths() == ["a.py", "x" * 252 + ".py"]


@pytest.mark.parametrize(
    ("name", "line"),
    [("a.rs", "fn a(){"), ("a.sh", "$("), ("a.js", "f(function(){"), ("a.rb", "class A")],
)
def test_sources_that_are_nested_without_end_take_no_time(project, name, line):
    project.write(name, f"# alpha\n{(line + chr(10)) * 20_000}")
    with within(10):
        index = project.indexed()
        assert paths(index.search("alpha")) == [name]
        assert index.references("alpha_beta") == []
