"""A pipe, a socket, a device or a folder where a file is expected: nothing waits, all is said."""

import os
import shutil
import socket
import sqlite3
from pathlib import Path

import pytest

from oracle.bt.lua.library import TreeLibrary
from oracle.errors import OracleError, PromptFileError, SettingsError, StoreError, TreeFileError
from oracle.regular_file import check_database, check_regular, read_regular
from oracle.services.project.ignore_rules import IgnoreRules
from oracle.services.prompting.segment_files import load_segments
from oracle.services.search import Index
from oracle.services.settings.toml_file import read_settings_file
from oracle.services.storage.database import Database, as_url, schema_of
from oracle.services.tools.project_tools import project_tools
from tests import processes
from tests.default_run import thinned

ROOT = Path(__file__).parents[2]


def socket_at(path):
    # A socket's address is short, so it is bound by a relative name.
    before = Path.cwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(before)


KINDS = {
    "a pipe": os.mkfifo,
    "a socket": socket_at,
    "a folder": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to a pipe": lambda path: (
        os.mkfifo(path.with_name(f"{path.name}.fifo")),
        path.symlink_to(f"{path.name}.fifo"),
    ),
    "a link in a circle": lambda path: path.symlink_to(path.name),
}


@pytest.fixture(params=KINDS)
def put(request):
    """Put something odd at a path, in the place of what is there."""

    def put(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        KINDS[request.param](path)
        return path

    return put


def test_nothing_but_a_regular_file_is_read(put, tmp_path):
    path = put(tmp_path / "x")
    for look in (read_regular, check_regular, check_database):
        with pytest.raises(OSError):
            look(path)


def test_settings_prompts_trees_and_ignore_rules_say_so(put, tmp_path):
    with pytest.raises(SettingsError, match=r"oracle\.toml"):
        read_settings_file(put(tmp_path / "oracle.toml"), "oracle.toml")
    with pytest.raises(PromptFileError, match=r"base\.md"):
        load_segments(put(tmp_path / "prompts" / "base.md").parent)
    with pytest.raises(TreeFileError, match=r"t\.lua"):
        TreeLibrary([put(tmp_path / "trees" / "t.lua").parent])
    put(tmp_path / ".gitignore")
    assert IgnoreRules(tmp_path).rule_against("a.py") is None


async def test_a_database_says_so(put, tmp_path):
    path = put(tmp_path / "oracle.db")
    with pytest.raises(StoreError):
        await Database.open(path)
    if path.exists():
        with pytest.raises(StoreError):
            schema_of(as_url(path))


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
async def test_the_files_beside_a_database_are_looked_at_too(suffix, tmp_path):
    sqlite3.connect(tmp_path / "oracle.db").close()
    os.mkfifo(tmp_path / f"oracle.db{suffix}")
    with pytest.raises(StoreError, match="pipe"):
        await Database.open(tmp_path / "oracle.db")


@pytest.mark.parametrize(
    ("tool", "file", "arguments"),
    [
        ("push_thread", "threads/x.md", {"thread": "x", "entry": "e"}),
        ("read_thread", "threads/x.md", {"thread": "x"}),
        ("read_file", "x.py", {"path": "x.py"}),
        ("read_note", "notes/x.md", {"note": "notes/x.md"}),
        ("write_note", "notes/x.md", {"title": "x", "content": "c"}),
        ("write_note", "notes/x.md", {"title": "x", "content": "c", "overwrite": True}),
    ],
)
async def test_tools_say_so(put, tool, file, arguments, tmp_path):
    put(tmp_path / file)
    tools = project_tools(tmp_path)
    mark = await tools.mark(tool, arguments)
    result = await tools.run(tool, arguments, mark)
    # A note that replaces a link replaces the link itself, and writes nothing through it.
    if not (arguments.get("overwrite") and (tmp_path / file).is_file()):
        assert not result["success"]
        assert "internally" not in result["content"]


async def test_odd_files_are_not_searched_and_break_no_search(put, tmp_path):
    put(tmp_path / "odd.py")
    put(tmp_path / "threads/odd.md")
    put(tmp_path / "AGENTS.md")
    (tmp_path / "a.py").write_text("def zeppelin(): ...\n")
    tools = project_tools(tmp_path)
    assert (await tools.run("search_code", {"query": "zeppelin"}))["sources"]
    assert (await tools.run("search_threads", {"query": "zeppelin"}))["success"]


async def test_a_thread_without_a_heading_is_found_and_an_odd_one_costs_only_itself(tmp_path):
    (tmp_path / "threads").mkdir()
    (tmp_path / "threads/loose.md").write_text("# loose\n\nA zeppelin, without any time.\n")
    (tmp_path / "threads/empty.md").write_text("")
    (tmp_path / "threads/binary.md").write_bytes(b"zeppelin\0\xff\xfe")
    (tmp_path / "threads/log.md").write_text("# log\n\n## 2026-01-01T00:00:00Z\n\nA zeppelin.\n")
    result = await project_tools(tmp_path).run("search_threads", {"query": "zeppelin"})
    assert {source["title"] for source in result["sources"]} == {"log", "loose"}
    for name in ("loose", "empty", "binary"):
        read = await project_tools(tmp_path).run("read_thread", {"thread": name})
        assert "internally" not in read["content"]


FILES_OF_THE_INDEX = ("current", "lock", "{g}/catalogue.db", "{g}/text/meta.json", "{g}/text")


@pytest.mark.parametrize("file", thinned(FILES_OF_THE_INDEX, 4))
def test_an_index_with_an_odd_file_is_built_again_or_refused(put, file, tmp_path):
    (tmp_path / "a.py").write_text("def zeppelin(): ...\n")
    with Index.open(tmp_path) as index:
        index.refresh()
    folder = tmp_path / ".oracle/index"
    generation = (folder / "current").read_text()
    put(folder / file.format(g=generation))
    refusals = []
    try:
        with Index.open(tmp_path) as index:
            index.refresh()
            assert index.search("zeppelin", "code", 3)
    except OracleError as problem:
        refusals = [str(problem)]
    assert all(str(folder) in refusal for refusal in refusals)


def test_a_pipe_among_the_segments_of_an_index_does_not_hang(tmp_path):
    (tmp_path / "a.py").write_text("def zeppelin(): ...\n")
    with Index.open(tmp_path) as index:
        index.refresh()
    folder = tmp_path / ".oracle/index"
    for file in (folder / (folder / "current").read_text() / "text").iterdir():
        file.unlink()
        os.mkfifo(file)
    with Index.open(tmp_path) as index:
        index.refresh()
        assert index.search("zeppelin", "code", 3)


PLACES = (
    "oracle.toml",
    ".oracle/oracle.db",
    ".oracle/index/current",
    ".oracle/index/lock",
    ".oracle/index",
    ".oracle/.gitignore",
    ".oracle",
    ".oracle/prompts/base.md",
    "AGENTS.md",
    "CLAUDE.md",
    "notes/x.md",
    "threads/x.md",
    "notes",
    "threads",
    ".gitignore",
    ".git/config",
    ".git/HEAD",
    "README.md",
    "pyproject.toml",
)


@pytest.mark.extra
@pytest.mark.parametrize("place", PLACES)
def test_no_command_hangs_or_shows_a_traceback(put, place, tmp_path):
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "a.py").write_text("def zeppelin(): ...\n")
    put(project / place)
    for command in (["ask", "Where is zeppelin?"], ["doctor"], ["index"], ["runs"]):
        ended = processes.run(
            [*processes.ORACLE, *command],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdin=processes.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert "Traceback" not in ended.stderr, (command, ended.stderr)
        assert ended.returncode >= 0
