"""Tests in forks are reported as in one process, also when a worker dies."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.processes import run

pytestmark = pytest.mark.extra

ROOT = Path(__file__).parents[1]
PYTEST = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
TESTS = """
import os
import pytest

@pytest.fixture(scope="session", autouse=True)
def session(tmp_path_factory):
    yield
    (tmp_path_factory.getbasetemp() / "ended").touch()

@pytest.mark.parametrize("number", range(30))
def test_good(number, tmp_path):
    (tmp_path / "mine").mkdir()

def test_bad():
    print("said before")
    assert 1 == 2

@pytest.mark.skip
def test_later(): ...

def test_deadly():
    os._exit(7)

def test_last(): ...
"""


def in_forks(folder, *options):
    (folder / "test_some.py").write_text(TESTS)
    given = ("-q", "-c", "/dev/null", "-p", "no:cacheprovider", f"--basetemp={folder}/base")
    command = [sys.executable, "-c", PYTEST, "-p", "tests.forked_workers", *given, *options]
    # The plugins of other packages take seconds to import, and no test here needs one.
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    streams = {"capture_output": True, "text": True}
    return run([*command, folder / "test_some.py"], cwd=ROOT, env=env, **streams)


@pytest.mark.parametrize("forks", ["1", "2"])
def test_every_test_is_reported_once_and_one_that_kills_its_worker_has_failed(tmp_path, forks):
    done = in_forks(tmp_path, "--forks", forks)
    assert "2 failed, 31 passed, 1 skipped" in done.stdout
    assert "said before" in done.stdout
    assert "the worker of this test has ended with 7" in done.stdout
    assert sorted(re.findall(r"^FAILED .*::(\w+)", done.stdout, re.MULTILINE)) == [
        "test_bad",
        "test_deadly",
    ]
    assert done.returncode == 1
    if forks == "1":
        # The worker that died has ended nothing. The one in its place ran the rest.
        assert [file.parent.name for file in tmp_path.glob("base/*/ended")] == ["worker1"]


def test_after_the_first_failure_no_more_tests_are_handed_out(tmp_path):
    done = in_forks(tmp_path, "--forks", "1", "-x")
    assert "1 failed, 30 passed" in done.stdout
    assert "stopping after 1 failures" in done.stdout
