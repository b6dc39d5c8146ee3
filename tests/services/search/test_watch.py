"""Following the file system."""

import shutil
import threading

import pytest

from oracle.errors import NotFound
from oracle.services.search.watch import follow


def test_a_watched_project_follows_its_files(project):
    project.write("a.py", "alpha = 1\n")
    index, stop = project.index(), threading.Event()
    reports = follow(index, stop)
    assert next(reports).added == 1
    project.write("b.py", "beta = 1\n")
    assert next(reports).added == 1
    stop.set()
    assert [hit.path for hit in index.search("beta")] == ["b.py"]


@pytest.mark.extra
def test_a_burst_of_changes_is_followed(project):
    index, stop = project.index(), threading.Event()
    reports = follow(index, stop)
    next(reports)
    for number in range(500):
        project.write(f"f{number}.py", f"x = {number}\n")
    added = 0
    while added < 500:
        added += next(reports).added
    stop.set()
    assert len(index.paths()) == 500


def test_removing_a_followed_project_is_an_error(project):
    project.write("a.py", "alpha = 1\n")
    reports = follow(project.index(), threading.Event())
    next(reports)
    shutil.rmtree(project.root)
    with pytest.raises(NotFound, match="is gone, so there is nothing left to follow"):
        list(reports)
