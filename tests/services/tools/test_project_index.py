"""The index that tools share: fresh for each question, closed after it, in memory if need be."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading

import pytest

from oracle.services.search.bound import Bound
from oracle.services.search.lock import only_one
from oracle.services.tools import project_index
from oracle.services.tools.project_index import ProjectIndex
from oracle.services.tools.project_tools import project_tools
from tests import processes


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/tide.py").write_text("def tide_height():\n    return 'high'\n")
    return root


@pytest.fixture
def index(project):
    made = ProjectIndex(project)
    yield made
    made.close()


async def found(index, query, **options):
    return [hit.path for hit in await index.search(query, "code", 10, **options)]


async def test_the_first_search_finds_what_is_there(index, project):
    assert await found(index, "how high is the tide") == ["src/tide.py"]
    assert (project / ".oracle/index/current").exists()


def add(root):
    (root / "moon.py").write_text("moonrise = 1\n")


def change(root):
    (root / "src/tide.py").write_text("moonrise = 1\n")


def remove(root):
    (root / "src/tide.py").unlink()


def ignore(root):
    (root / ".gitignore").write_text("src/\n")


@pytest.mark.parametrize(
    ("happens", "tides", "moons"),
    [
        (add, ["src/tide.py"], ["moon.py"]),
        (change, ["src/tide.py"], ["src/tide.py"]),
        (remove, [], []),
        (ignore, [], []),
    ],
)
async def test_what_happens_between_two_questions_is_seen(index, project, happens, tides, moons):
    async with index.at_hand():
        assert await found(index, "tide") == ["src/tide.py"]
    happens(project)
    async with index.at_hand():
        assert await found(index, "tide") == tides
        assert await found(index, "moonrise") == moons


@pytest.mark.extra
async def test_only_what_lies_in_a_folder_is_found_there(index, project):
    for number in range(300):
        (project / f"tide{number}.py").write_text("tide = tide_height = 'tide'\n" * 5)
    assert await found(index, "tide", under="src") == ["src/tide.py"]
    assert await found(index, "tide", under="src/tide.py") == ["src/tide.py"]
    assert await found(index, "tide", under="sr") == []


async def test_it_knows_the_names_of_the_project(index, project):
    (project / "notes.md").write_text("# Spring Tides\n")
    async with index.at_hand():
        known = await index.known(["tide_height", "zebra", "spring tides", "tide.py"])
    assert known == {"tide_height": 1, "spring tides": 1, "tide.py": 1}


async def test_half_a_letter_in_a_question_is_no_name_and_no_damage(index, project, caplog):
    async with index.at_hand():
        assert await index.known(["tide\ud800", "tide_height"]) == {"tide_height": 1}
        with pytest.raises(UnicodeEncodeError):
            await index.asked(lambda opened: opened.definitions("\ud800"))
    assert caplog.text == ""
    assert len([*project.glob(".oracle/index/g*")]) == 1


async def test_what_is_damaged_is_mended_when_names_are_looked_up(index, project):
    async with index.at_hand():
        with sqlite3.connect(next(project.glob(".oracle/index/g*/catalogue.db"))) as database:
            database.execute("DROP TABLE symbols")
        database.close()
        assert await index.known(["tide_height"]) == {"tide_height": 1}


async def test_where_no_index_can_be_written_it_is_kept_in_memory(index, project, caplog):
    (project / ".oracle").write_text("in the way")
    async with index.at_hand():
        assert await found(index, "tide_height") == ["src/tide.py"]
        assert await index.known(["tide_height", "zebra"]) == {"tide_height": 1}
    assert len(caplog.records) == 1
    assert "the index is kept in memory" in caplog.text
    (project / ".oracle").unlink()
    async with index.at_hand():
        assert await index.known(["tide_height"]) == {"tide_height": 1}
    assert (project / ".oracle/index/current").exists()


async def test_outside_of_a_project_nothing_is_written(project):
    index = ProjectIndex(project, on_disk=False)
    assert await found(index, "tide_height") == ["src/tide.py"]
    add(project)
    assert await found(index, "moonrise") == ["moon.py"]
    assert not (project / ".oracle").exists()
    index.close()


async def test_what_does_not_fit_in_memory_is_said_and_the_likeliest_files_come_first(project):
    for number in range(20):
        (project / f"f{number}.py").write_text("tide = 1\n")
    index = ProjectIndex(project, on_disk=False, bound=Bound(files=3))
    result = await project_tools(project, index=index).run("search_code", {"query": "tide"})
    assert result["sources"][0]["path"] == "src/tide.py"
    assert "Not all files were searched" in result["content"]
    assert "files left out: 18" in result["content"]
    index.close()


async def test_a_build_that_runs_out_of_time_answers_and_goes_on_with_the_next_look(project):
    for number in range(2):
        (project / f"f{number}.py").write_text("ebb = 1\n")
    index = ProjectIndex(project, on_disk=False, bound=Bound(seconds=0.0))
    tools = project_tools(project, index=index)
    contents = [(await tools.run("search_code", {"query": "ebb"}))["content"] for _ in range(3)]
    assert "files left out: 2). The next search reads more of them." in contents[0]
    assert "files left out: 1)." in contents[1]
    assert "left out" not in contents[2]
    index.close()


async def test_looks_that_wait_for_each_other_share_the_time_of_one(project):
    for number in range(9):
        (project / f"f{number}.py").write_text("ebb = 1\n")
    index = ProjectIndex(project, on_disk=False, bound=Bound(seconds=0.0))
    await asyncio.gather(*(index.search("ebb", "code", 5) for _ in range(3)))
    assert "files left out: 9)" in index.left_out
    index.close()


async def test_a_walk_without_an_end_is_cut_and_keeps_what_it_knew(project):
    index = ProjectIndex(project, on_disk=False, bound=Bound(walked=1))
    assert await found(index, "tide") == ["src/tide.py"]
    (project / "first.py").write_text("ebb = 1\n")
    assert await found(index, "tide") == ["src/tide.py"]
    assert "files left out: some" in index.left_out
    index.close()


async def test_terms_are_not_called_unknown_while_files_are_left_out(project):
    index = ProjectIndex(project, on_disk=False, bound=Bound(files=0))
    assert await index.known(["tide_height"]) is None
    index.close()


async def test_a_file_system_that_hangs_does_not_hold_up_a_question(project, monkeypatch):
    hanging, gate = threading.Event(), threading.Event()

    def hang(step):
        hanging.set()
        gate.wait(300)

    monkeypatch.setattr(project_index, "SECONDS_TO_LEAVE", 0.0)
    index = ProjectIndex(project, hang)
    asking = asyncio.ensure_future(question(index))
    await asyncio.to_thread(hanging.wait, 60)
    asking.cancel()
    done, _ = await asyncio.wait({asking}, timeout=20)
    assert done == {asking}
    gate.set()
    index.close()


FULL = """
import asyncio, resource, sys
from pathlib import Path
from oracle.services.tools.project_index import ProjectIndex
from tests.services.tools.test_project_index import found

async def main(root):
    index = ProjectIndex(root)
    async with index.at_hand():
        print(await found(index, "tide_height"), await index.known(["tide"]))

resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))
asyncio.run(main(Path(sys.argv[1])))
"""


def test_where_the_disk_is_full_the_index_is_kept_in_memory(project):
    command = [sys.executable, "-c", FULL, project]
    done = processes.run(command, capture_output=True, text=True)
    assert done.stdout == "['src/tide.py'] {'tide': 1}\n", done.stderr
    assert f"can be made in {project}" in done.stderr or "cannot be used" in done.stderr


async def test_another_process_that_takes_its_time_is_not_waited_for(
    index, project, monkeypatch, caplog
):
    monkeypatch.setattr(project_index, "SECONDS_FOR_OTHERS", 0.0)
    await found(index, "tide")
    with only_one(project / ".oracle/index/lock"):
        async with index.at_hand():
            assert await found(index, "tide_height") == ["src/tide.py"]
    assert "another process is writing the index" in caplog.text


async def test_an_index_that_must_be_begun_does_not_wait_for_ever_either(
    index, project, monkeypatch, caplog
):
    monkeypatch.setattr(project_index, "SECONDS_FOR_OTHERS", 0.0)
    (project / ".oracle/index").mkdir(parents=True)
    with only_one(project / ".oracle/index/lock"):
        asking = asyncio.ensure_future(question(index))
        done, _ = await asyncio.wait({asking}, timeout=20)
    assert await asking == {}
    assert done == {asking}
    assert "another process is writing the index" in caplog.text


async def test_a_damaged_index_is_built_anew_and_told(index, project, caplog):
    async with index.at_hand():
        pass
    next(project.glob(".oracle/index/g*/catalogue.db")).write_bytes(b"noise" * 1_000)
    async with index.at_hand():
        assert await found(index, "tide") == ["src/tide.py"]
    assert "the index was built anew: file is not a database" in caplog.text


async def test_many_search_at_once_and_one_of_them_may_leave(index):
    searches = [asyncio.ensure_future(found(index, "tide")) for _ in range(20)]
    await asyncio.sleep(0)
    searches[7].cancel()
    results = await asyncio.gather(*searches, return_exceptions=True)
    assert isinstance(results.pop(7), asyncio.CancelledError)
    assert results == [["src/tide.py"]] * 19
    assert await found(index, "tide") == ["src/tide.py"]


async def test_questions_that_wait_share_one_refresh(project):
    steps, gate = [], threading.Event()
    index = ProjectIndex(project, steps.append)
    await index.asked(lambda opened: opened.paths())
    before = len(steps)
    (project / "moon.py").write_text("moonrise = 1\n")
    busy = asyncio.ensure_future(index.asked(lambda opened: gate.wait(300)))
    questions = [asyncio.ensure_future(question(index)) for _ in range(3)]
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*questions) == [{"moonrise": 1}] * 3
    assert await busy
    assert [step.path for step in steps[before:]].count("moon.py") == 1
    index.close()


async def question(index):
    async with index.at_hand():
        return await index.known(["moonrise"])


async def test_a_refresh_that_nobody_waits_for_is_given_up(project):
    for number in range(50):
        (project / f"f{number}.py").write_text("x = 1\n")
    steps, begun, gate = [], threading.Event(), threading.Event()

    def slowly(step):
        steps.append(step)
        begun.set()
        assert gate.wait(300)

    index = ProjectIndex(project, slowly)
    asking = asyncio.ensure_future(question(index))
    await asyncio.to_thread(begun.wait, 60)
    asking.cancel()
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(steps) == 1
    assert open_files(project) == []
    index.close()


def open_files(root):
    handles = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    places = [os.readlink(handle) for handle in handles if os.path.lexists(handle)]
    return [place for place in places if place.startswith(f"{root}/.oracle")]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not show them")
async def test_nothing_is_open_between_questions(index, project):
    async with index.at_hand():
        async with index.at_hand():
            await found(index, "tide")
        assert open_files(project) != []
    assert open_files(project) == []


TWICE = """
import sys
from oracle import Oracle
oracle = Oracle(project=sys.argv[1])
for _ in range(2):
    print(oracle.ask_sync("where is tide_height defined?").stop_reason)
"""


@pytest.mark.extra
def test_a_program_ends_without_a_warning_or_a_wait(project):
    (project / "oracle.toml").touch()
    command = [sys.executable, "-W", "error", "-c", TWICE, project]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("answered\nanswered\n", "")


def test_closing_ends_the_thread(project):
    before = threading.enumerate()
    index = ProjectIndex(project)
    asyncio.run(question(index))
    index.close()
    assert set(threading.enumerate()) <= set(before)


async def test_a_file_that_is_edited_between_two_questions_of_one_agent_is_found(project):
    from oracle import Oracle

    (project / "oracle.toml").touch()
    oracle = Oracle(project=project)
    first = await oracle.ask("where is tide_height defined?")
    (project / "src/moon.py").write_text("def moonrise_hour():\n    return 5\n")
    second = await oracle.ask("where is moonrise_hour defined?", first.context_id)
    assert "src/moon.py:1" in second.text
