"""A thread only grows, even if several processes write to it at the same time."""

import asyncio
import sys

import pytest

from oracle.services.tools.project_tools import project_tools
from oracle.services.tools.threads import entries_of
from tests.processes import Process

WRITER = """
import asyncio, pathlib, sys
from oracle.services.tools.project_tools import project_tools

async def main():
    tools = project_tools(pathlib.Path(sys.argv[1]))
    for number in range(20):
        entry = {"thread": "log", "entry": f"writer {sys.argv[2]} says {number}"}
        result = await tools.run("push_thread", entry)
        assert result["success"], result

asyncio.run(main())
"""


async def test_a_search_finds_whole_entries_with_their_times(tools):
    result = await tools.run("search_threads", {"query": "sqlite"})
    source = result["sources"][0]
    assert source["where"] == "thread:decisions@2026-01-08T12:00:00Z"
    assert source["text"] == "## 2026-01-08T12:00:00Z\n\nWe keep SQLite."
    assert (source["path"], source["start"], source["end"]) == ("threads/decisions.md", 3, 5)
    assert (await tools.run("search_threads", {"query": "zeppelin"}))["empty"]


@pytest.mark.parametrize(
    "later",
    ["", "\n## 2026-02-01T12:00:00Z\n\nNothing else.\n"],
    ids=["no entry", "an entry follows"],
)
async def test_a_log_in_a_form_of_its_own_is_found_as_lines_of_its_file(root, tools, later):
    log = "# Cache\n2026-01-02: We use Redis, because memcached forgets.\n"
    (root / "threads/cache.md").write_text(log + later)
    result = await tools.run("search_threads", {"query": "memcached"})
    source = result["sources"][0]
    assert (source["where"], source["text"]) == ("threads/cache.md:1-2", log.strip())


async def test_a_log_in_a_form_of_its_own_is_read_as_it_is(root, tools):
    (root / "threads/cache.md").write_text("# Cache\n2026-01-02: We use Redis.\n")
    result = await tools.run("read_thread", {"thread": "cache"})
    assert [source["where"] for source in result["sources"]] == ["threads/cache.md:1-2"]


async def test_a_thread_is_read_newest_first(tools):
    result = await tools.run("read_thread", {"thread": "Decisions", "last": 1})
    assert [source["entry"] for source in result["sources"]] == ["2026-01-09T12:00:00Z"]
    assert "1 of 2 entries" in result["content"]


@pytest.mark.parametrize(
    ("name", "says"),
    [("decision", "did you mean 'decisions'?"), ("zzz", "there are decisions"), ("../x", "there")],
)
async def test_a_thread_that_is_not_there_is_a_result(tools, name, says):
    result = await tools.run("read_thread", {"thread": name})
    assert not result["success"]
    assert says in result["content"]


async def test_an_entry_is_added_behind_the_others_with_its_time(root, tools):
    before = (root / "threads/decisions.md").read_text()
    result = await tools.run("push_thread", {"thread": "Decisions", "entry": "And black tea.\n"})
    after = (root / "threads/decisions.md").read_text()
    assert after == before + "\n## 2026-02-01T12:00:00.000000Z\n\nAnd black tea.\n"
    source = result["sources"][0]
    assert source["where"] == "thread:decisions@2026-02-01T12:00:00.000000Z"
    assert after.split("\n")[source["start"] - 1] == "## 2026-02-01T12:00:00.000000Z"
    assert after.split("\n")[source["end"] - 1] == "And black tea."


async def test_a_new_name_begins_a_thread(root, tools):
    await tools.run("push_thread", {"thread": "../Prices & more", "entry": "Up."})
    text = (root / "threads/prices-more.md").read_text()
    assert text == "# prices-more\n\n## 2026-02-01T12:00:00.000000Z\n\nUp.\n"


async def test_two_entries_never_have_the_same_time(tools):
    for _ in range(3):
        await tools.run("push_thread", {"thread": "fast", "entry": "again"})
    result = await tools.run("read_thread", {"thread": "fast"})
    times = [source["entry"] for source in result["sources"]]
    assert len(set(times)) == 3
    assert times == sorted(times, reverse=True)


async def test_an_entry_cannot_forge_another(tools):
    forged = "Fine.\n\n## 2020-01-01T00:00:00Z\n\nWe sell coffee.\r\n## 2020-01-02T00:00:00Z"
    await tools.run("push_thread", {"thread": "forged", "entry": forged})
    result = await tools.run("read_thread", {"thread": "forged"})
    assert len(result["sources"]) == 1


async def test_an_entry_that_a_crash_tore_off_does_not_swallow_the_next(root, tools):
    (root / "threads/torn.md").write_text("# torn\n\n## 2026-01-01T00:00:00Z\n\nhalf a sen")
    await tools.run("push_thread", {"thread": "torn", "entry": "whole"})
    lines = (root / "threads/torn.md").read_text().split("\n")
    assert [entry.text for entry in entries_of("torn", lines)] == ["half a sen", "whole"]


async def test_processes_and_calls_that_append_at_once_lose_nothing(root, tools):
    writers = [Process([sys.executable, "-c", WRITER, root, str(number)]) for number in range(3)]
    calls = [tools.run("push_thread", {"thread": "log", "entry": f"call {n}"}) for n in range(20)]
    results = await asyncio.gather(*calls)
    codes = [await asyncio.to_thread(writer.wait) for writer in writers]
    assert codes == [0, 0, 0]
    assert all(result["success"] for result in results)
    text = (root / "threads/log.md").read_text()
    entries = entries_of("log", text.split("\n"))
    assert len({entry.text for entry in entries}) == 80
    assert len({entry.time for entry in entries}) == 80


@pytest.mark.parametrize(("thread", "entry"), [("?!", "x"), ("ok", " \n ")])
async def test_what_cannot_be_an_entry_is_refused(tools, thread, entry):
    result = await tools.run("push_thread", {"thread": thread, "entry": entry})
    assert not result["success"]


async def test_a_thread_that_is_a_link_is_not_written_through(root, tools):
    outside = root.parent / "outside.md"
    outside.write_text("mine")
    (root / "threads/link.md").symlink_to(outside)
    result = await tools.run("push_thread", {"thread": "link", "entry": "x"})
    assert not result["success"]
    assert outside.read_text() == "mine"


async def test_after_a_crash_it_is_known_whether_the_entry_was_added(tools):
    given = {"thread": "decisions", "entry": "And black tea.\n"}
    mark = await tools.mark("push_thread", given)
    assert await tools.was_done("push_thread", given, mark) is None
    await tools.run("push_thread", given, mark)
    done = await tools.was_done("push_thread", given, mark)
    assert done is not None
    assert done["sources"][0]["entry"] == "2026-02-01T12:00:00.000000Z"


async def test_a_thread_of_many_megabytes_can_still_grow(root):
    entry = "## 2026-01-01T00:00:00Z\n\n" + "words " * 1000 + "\n\n"
    (root / "threads/long.md").write_text("# long\n\n" + entry * 900)
    tools = project_tools(root)
    result = await tools.run("push_thread", {"thread": "long", "entry": "the last"})
    lines = (root / "threads/long.md").read_text().split("\n")
    assert lines[result["sources"][0]["end"] - 1] == "the last"
