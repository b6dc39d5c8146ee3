"""Writes and crashes: nothing is written twice, nothing is lost unsaid, no edit is overwritten."""

import asyncio
import errno
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from oracle.errors import InterruptedWrite
from oracle.services.storage.database import Database
from oracle.services.storage.runs import Runs
from oracle.services.tools import writing
from oracle.services.tools.project_tools import project_tools
from oracle.services.tools.threads import entries_of
from oracle.services.tools.tickets import placing
from tests import processes
from tests.default_run import thinned

WRITER = Path(__file__).with_name("killed_writer.py")
AGENT = Path(__file__).with_name("killed_agent.py")
ROOT = Path(__file__).parents[2]
SECRET = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz"
ENTRY = f"We keep SQLite.   \n\n{SECRET}\r\n" * 9
PUSH = ("push_thread", {"thread": "log", "entry": ENTRY})
NOTE = ("write_note", {"title": "Log", "content": ENTRY})
OVER = ("write_note", {"title": "Log", "content": ENTRY, "overwrite": True})
OLD = "# log\n\n## 2026-01-01T00:00:00Z\n\nOlder.\n"
FILES = {"push_thread": "threads/log.md", "write_note": "notes/log.md"}
# As many as the longest of these writes takes, with some to spare.
MOST_STEPS = 40


def kill_at(folder, call, step, torn=""):
    """Write, and die before a step; False if the write had fewer steps."""
    tool, arguments = call
    folder.mkdir(exist_ok=True)
    ended = processes.run(
        [sys.executable, WRITER, tool, json.dumps(arguments), str(step), torn],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode != 0


async def written(folder, call):
    """The same without dying: only the record is missing."""
    tools = project_tools(folder)
    mark = await tools.mark(*call)
    (folder / "mark.json").write_text(json.dumps(mark))
    assert (await tools.run(*call, mark))["success"]


async def resume(folder, call, **options):
    """What a resumed run does with an open intent; 'unknown' if it may not write."""
    tool, arguments = call
    tools = project_tools(folder, **options)
    mark = json.loads((folder / "mark.json").read_text())
    try:
        done = await tools.was_done(tool, arguments, mark)
    except InterruptedWrite:
        return "unknown"
    if done is None:
        done = await tools.run(tool, arguments, mark)
    return "done" if done["success"] else done["content"]


def times_written(folder):
    texts = [path.read_text() for path in folder.rglob("*.md")]
    return sum(text.count("We keep SQLite.") for text in texts) // 9


def litter(folder):
    return [path.name for path in folder.rglob(".oracle-*")]


def begin_with(folder, call, old):
    if old:
        file = folder / FILES[call[0]]
        file.parent.mkdir(parents=True)
        file.write_text(OLD)


@pytest.mark.parametrize(
    ("call", "old"), thinned([(PUSH, OLD), (PUSH, ""), (NOTE, ""), (OVER, OLD)], 2)
)
async def test_killed_at_any_step_a_write_is_done_once(call, old, tmp_path):
    for step in range(MOST_STEPS):
        folder = tmp_path / str(step)
        folder.mkdir()
        begin_with(folder, call, old)
        was_killed = kill_at(folder, call, step)
        assert await resume(folder, call) == "done", step
        assert times_written(folder) == 1, step
        assert litter(folder) == [], step
        if not was_killed:
            break
    assert not was_killed
    assert step > 4


@pytest.mark.parametrize(
    ("call", "old"),
    [
        (PUSH, OLD),
        pytest.param(PUSH, "", marks=pytest.mark.extra),
        pytest.param(NOTE, "", marks=pytest.mark.extra),
        pytest.param(OVER, OLD, marks=pytest.mark.extra),
    ],
)
async def test_a_torn_write_is_made_whole_or_reported(call, old, tmp_path):
    ends = set()
    for step in range(MOST_STEPS):
        folder = tmp_path / str(step)
        folder.mkdir()
        begin_with(folder, call, old)
        was_killed = kill_at(folder, call, step, "torn")
        ends.add(end := await resume(folder, call))
        assert end in ("done", "unknown")
        assert times_written(folder) <= 1
        assert end == "unknown" or times_written(folder) == 1
        if not was_killed:
            break
    # A note is put in place in one step, so half of it is never seen.
    assert ends == ({"done", "unknown"} if call is PUSH else {"done"})


def append(text):
    def edit(file):
        file.write_text((file.read_text() if file.exists() else "") + text)

    return edit


EDITS = {
    "fixes a word": lambda file: file.write_text(file.read_text().replace("keep", "use")),
    "removes it": lambda file: file.write_text(OLD),
    "deletes the file": lambda file: file.unlink(),
    "renames the file": lambda file: file.rename(file.with_name("other.md")),
    "saves with CRLF": lambda file: file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n")),
    "strips blanks": lambda file: file.write_text(
        "\n".join(line.rstrip() for line in file.read_text().split("\n"))
    ),
    "adds an entry": append("\n## 2026-02-02T00:00:00Z\n\nBy hand.\n"),
    "adds thirty entries": append(
        "".join(f"\n## 2027-01-{day:02}T00:00:00Z\n\nLater.\n" for day in range(1, 31))
    ),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("call", [PUSH, NOTE, OVER])
async def test_what_a_user_does_after_the_write_stays(edit, call, tmp_path):
    """The process died after the write and before its record."""
    begin_with(tmp_path, call, OLD if call is not NOTE else "")
    await written(tmp_path, call)
    file = tmp_path / FILES[call[0]]
    EDITS[edit](file)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
    assert await resume(tmp_path, call) in ("done", "unknown")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.md")} == before


@pytest.mark.parametrize("edit", ["adds an entry", "adds thirty entries", "deletes the file"])
async def test_an_entry_that_was_never_begun_is_added_whatever_users_did(edit, tmp_path):
    begin_with(tmp_path, PUSH, OLD)
    assert kill_at(tmp_path, PUSH, 0)
    EDITS[edit](tmp_path / FILES["push_thread"])
    assert await resume(tmp_path, PUSH) == "done"
    assert times_written(tmp_path) == 1


async def test_a_note_that_the_user_deleted_after_the_crash_is_not_written_again(tmp_path):
    ends = []
    for step in range(MOST_STEPS):
        was_killed = kill_at(tmp_path / str(step), NOTE, step)
        note = tmp_path / str(step) / FILES["write_note"]
        was_there = note.exists()
        note.unlink(missing_ok=True)
        ends.append(await resume(note.parent.parent, NOTE))
        assert ends[-1] == ("unknown" if was_there else "done"), step
        assert note.exists() == (not was_there), step
        if not was_killed:
            break
    assert {"unknown", "done"} == set(ends)


async def test_where_only_links_can_place_a_note_a_missing_one_is_in_doubt(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "rename_new", lambda *_: False)
    await written(tmp_path, NOTE)
    note = tmp_path / FILES["write_note"]
    assert litter(tmp_path) == []
    key = json.loads((tmp_path / "mark.json").read_text())["key"]
    os.link(note, hidden := note.with_name(placing(key)))
    assert await resume(tmp_path, NOTE) == "done"
    os.link(note, hidden)
    note.unlink()
    assert await resume(tmp_path, NOTE) == "unknown"
    assert not note.exists()


@pytest.mark.parametrize("call", [PUSH, NOTE])
async def test_a_hidden_file_that_is_gone_is_given_as_the_reason(call, tmp_path):
    begin_with(tmp_path, PUSH, OLD)
    tools = project_tools(tmp_path)
    mark = await tools.mark(*call)
    for name in litter(tmp_path):
        next(tmp_path.rglob(name)).unlink()
    with pytest.raises(InterruptedWrite, match="how far the write came is gone"):
        await tools.was_done(*call, mark)


@pytest.mark.parametrize("step", range(0, 12, 3))
async def test_a_note_that_was_changed_before_it_was_replaced_is_not_replaced(step, tmp_path):
    begin_with(tmp_path, OVER, OLD)
    kill_at(tmp_path, OVER, step)
    file = tmp_path / FILES["write_note"]
    file.write_text("The user's own words.\n")
    assert await resume(tmp_path, OVER) == "unknown"
    assert file.read_text() == "The user's own words.\n"


async def test_ten_killed_runs_with_one_text_give_ten_entries(tmp_path):
    """All are killed first, at different steps, then all are resumed."""
    begin_with(tmp_path, PUSH, OLD)
    marks = []
    for step in range(10):
        kill_at(tmp_path, PUSH, step)
        marks.append((tmp_path / "mark.json").read_text())
    for mark in marks:
        (tmp_path / "mark.json").write_text(mark)
        end = await resume(tmp_path, PUSH)
        written = times_written(tmp_path)
        assert end in ("done", "unknown")
    entries = entries_of("log", (tmp_path / FILES["push_thread"]).read_text().split("\n"))
    assert len(entries) == written + 1
    assert len({entry.key for entry in entries}) == len(entries)
    assert written == 10


async def test_two_processes_that_take_over_the_same_write_do_it_once(tmp_path):
    for call in (PUSH, NOTE):
        folder = tmp_path / call[0]
        folder.mkdir()
        assert kill_at(folder, call, 0)
        await asyncio.gather(*(resume(folder, call) for _ in range(8)))
        assert times_written(folder) == 1


async def test_a_process_that_was_only_slow_does_not_write_after_the_one_that_took_over(tmp_path):
    tools = project_tools(tmp_path)
    marks = [await tools.mark(*PUSH), await tools.mark(*NOTE)]
    for call, mark in zip((PUSH, NOTE), marks, strict=True):
        assert (await tools.run(*call, mark))["success"]
        await tools.run(*call, mark)
    assert times_written(tmp_path) == 2


async def test_a_full_disk_in_mid_write_leaves_nothing_and_is_no_success(tmp_path, monkeypatch):
    begin_with(tmp_path, PUSH, OLD)
    tools = project_tools(tmp_path)
    mark = await tools.mark(*PUSH)
    real, left = os.write, [300]

    def write(descriptor, data):
        if len(data) < 100:
            return real(descriptor, data)
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = real(descriptor, data[: left[0]])
        left[0] -= count
        return count

    monkeypatch.setattr(os, "write", write)
    result = await tools.run(*PUSH, mark)
    assert "nothing was written" in result["content"]
    assert (tmp_path / FILES["push_thread"]).read_text() == OLD
    assert litter(tmp_path) == []


async def test_what_others_added_while_the_disk_was_full_is_not_cut_off(tmp_path, monkeypatch):
    begin_with(tmp_path, PUSH, OLD)
    file = tmp_path / FILES["push_thread"]
    tools = project_tools(tmp_path)
    real = os.write

    def write(descriptor, data):
        if len(data) < 100:
            return real(descriptor, data)
        real(descriptor, data[:50])
        with file.open("a") as other:
            other.write("echo >> log.md\n")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", write)
    assert not (await tools.run(*PUSH))["success"]
    assert "echo >> log.md" in file.read_text()


async def test_an_editor_that_replaces_the_file_does_not_swallow_the_entry(tmp_path, monkeypatch):
    begin_with(tmp_path, PUSH, OLD)
    file = tmp_path / FILES["push_thread"]
    from oracle.services.tools import threads

    real, saved = threads._lock, []

    def lock(descriptor, name):
        real(descriptor, name)
        if not saved:
            saved.append(file.with_suffix(".new").write_text(OLD + "\nEdited.\n"))
            file.with_suffix(".new").replace(file)

    monkeypatch.setattr(threads, "_lock", lock)
    result = await project_tools(tmp_path).run(*PUSH)
    assert result["success"]
    assert "Edited." in file.read_text()
    assert times_written(tmp_path) == 1


async def test_what_has_no_mark_is_never_known(tmp_path):
    """An intent of an older version, or a tool that cannot tell."""
    tools = project_tools(tmp_path)
    for call in (PUSH, NOTE, OVER):
        with pytest.raises(InterruptedWrite):
            await tools.was_done(*call)
        with pytest.raises(InterruptedWrite):
            await tools.was_done(*call, {"key": "../../x", "before": None})


async def test_a_dry_run_leaves_no_trace_and_is_simply_run_again(tmp_path):
    tools = project_tools(tmp_path, dry_run=True)
    mark = await tools.mark(*PUSH)
    assert await tools.was_done(*PUSH, mark) is None
    assert list(tmp_path.rglob("*.md")) == litter(tmp_path) == []


# -- whole runs ------------------------------------------------------------------------------------


def run_agent(folder, command, call, step=0):
    return processes.run(
        [sys.executable, AGENT, command, call[0], json.dumps(call[1]), str(step)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        capture_output=True,
        text=True,
    )


async def killed_and_resumed(folder, call, step, between=lambda: None):
    died = run_agent(folder, "ask", call, step)
    assert died.returncode == -signal.SIGKILL, died.stderr
    between()
    async with await Database.open(folder / "oracle.db") as database:
        (run,) = await Runs(database).newest()
        await Runs(database).release(run.id, run.lease_owner)
    resumed = run_agent(folder, run.id, call)
    assert resumed.returncode == 0, resumed.stderr
    return json.loads(resumed.stdout)


@pytest.mark.parametrize("step", [0, 10**6])
@pytest.mark.parametrize("call", [PUSH, NOTE])
async def test_a_run_killed_around_its_write_is_resumed_and_writes_once(call, step, tmp_path):
    said = await killed_and_resumed(tmp_path, call, step)
    assert times_written(tmp_path) == 1
    assert [chunk["success"] for chunk in said if chunk["type"] == "tool_result"] == [True]
    assert said[-1]["stop_reason"] == "answered"


@pytest.mark.extra
@pytest.mark.parametrize("step", range(30))
@pytest.mark.parametrize("call", [PUSH, NOTE, OVER])
async def test_a_run_killed_at_any_step_writes_once(call, step, tmp_path):
    begin_with(tmp_path, call, OLD if call is OVER else "")
    await killed_and_resumed(tmp_path, call, step)
    assert times_written(tmp_path) == 1


async def test_in_doubt_the_model_and_the_user_are_asked_to_look(tmp_path):
    file = tmp_path / FILES["push_thread"]
    said = await killed_and_resumed(tmp_path, PUSH, 10**6, between=lambda: file.write_text(OLD))
    assert file.read_text() == OLD
    (result,) = [chunk for chunk in said if chunk["type"] == "tool_result"]
    assert "whether it was done is not known" in result["content"]
    assert "Look before you call it again" in result["content"]
    warnings = [chunk for chunk in said if chunk["type"] == "system"]
    assert [chunk["content"] for chunk in warnings if chunk["severity"] == "warning"] == [
        result["content"]
    ]
