"""If the disk cannot be written, the error is clear, and the old index stays as it was."""

import errno
import sqlite3
import sys

import pytest

from oracle.errors import StoreError
from oracle.services.search import Index
from oracle.services.search.lock import only_one
from oracle.services.search.refusals import refusal
from oracle.services.search.reserve import reserved
from tests.default_run import thinned
from tests.processes import run
from tests.tables import each_row

LIMITED = """
import resource, sys
from oracle.errors import StoreError
from oracle.services.search import Index
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    Index.open(sys.argv[1]).refresh()
except StoreError as problem:
    print(problem)
"""


def write_all(project, word):
    for number in range(120):
        project.write(f"f{number}.py", f"def thing_{number}():\n    return '{word}'\n" * 20)


@pytest.mark.extra
@pytest.mark.parametrize("limit", thinned([1_000, 5_000, 30_000, 60_000, 200_000], 4))
def test_a_full_disk_is_named_and_the_old_index_stays(project, limit):
    write_all(project, "evening")
    project.indexed().close()
    write_all(project, "morning")
    for _ in range(2):
        command = [sys.executable, "-c", LIMITED, project.root, str(limit)]
        said = run(command, capture_output=True, text=True).stdout
        assert f"the index in {project.root}/.oracle/index cannot be used" in said
        assert "make room, and try again" in said
    index = project.index()
    assert len(index.search("evening", k=100)) == 100
    assert len(index.definitions("thing_7")) == 20
    assert index.refresh().rebuilt is None
    assert index.search("evening") == []
    assert len(index.search("morning", k=100)) == 100


@each_row(
    ("problem", "said"),
    [
        (OSError(errno.ENOSPC, "full"), "No space left on device; make room"),
        (PermissionError(errno.EACCES, "no"), "Permission denied; make it writable"),
        (OSError(errno.EROFS, "no"), "Read-only file system; make it writable"),
        (ValueError("IO error: 'No space left on device (os error 28)'"), "No space left"),
        (ValueError("Io { kind: StorageFull, os error 28) }"), "No space left"),
        (sqlite3.OperationalError("database is locked"), "another process is writing it"),
        (FileNotFoundError(errno.ENOENT, "gone"), ""),
        (sqlite3.DatabaseError("file is not a database"), ""),
        (ValueError("corrupt"), ""),
    ],
)
def test_a_disk_that_cannot_be_written_is_not_taken_for_damage(problem, said):
    assert refusal(problem).startswith(said)
    assert bool(refusal(problem)) == bool(said)


def test_a_read_only_database_is_a_refusal(tmp_path):
    sqlite3.connect(tmp_path / "x.db").execute("CREATE TABLE a (b)").connection.close()
    connection = sqlite3.connect(f"file:{tmp_path}/x.db?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("INSERT INTO a VALUES (1)")
    connection.close()
    assert "Permission denied" in refusal(caught.value)


def test_a_folder_in_which_a_file_is_in_the_way_is_named(project):
    (project.root / ".oracle").write_text("in the way")
    with pytest.raises(StoreError, match=r"\.oracle cannot be made"):
        Index.open(project.root)


def test_without_patience_a_busy_lock_is_an_error_that_says_so(tmp_path):
    at_work = "another process is writing"
    with only_one(tmp_path / "lock"), pytest.raises(StoreError, match=at_work):
        only_one(tmp_path / "lock", lambda: False).__enter__()
    with only_one(tmp_path / "lock", lambda: False):
        pass


def test_reserved_room_is_given_back(tmp_path):
    place = tmp_path / "reserve"
    with reserved(place, 3_000_000) as give_back:
        assert place.stat().st_size == 3_000_000
        give_back()
        assert not place.exists()
    with pytest.raises(ZeroDivisionError), reserved(place, 3_000_000):
        1 / 0  # noqa: B018
    assert not place.exists()
