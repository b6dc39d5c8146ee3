"""A project that cannot be written, such as a mounted source: the question is answered anyway."""

import ctypes
import os
import subprocess
import sys

import pytest

from oracle.services.project.root import FOLDER
from oracle.services.storage.unwritable import place_for_records
from oracle.settings import load_settings
from tests.cli.processes import QUESTION, make_project

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="rights are taken away by prctl")
ORACLE = [sys.executable, "-c", "from oracle.cli.main import run; run()"]
IS_WRITABLE = (
    "import sys; from pathlib import Path; from oracle.services.project.root import "
    "is_writable; sys.exit(not is_writable(Path.cwd()))"
)
WARNING = "cannot be written, so neither the run nor the conversation is stored; "


def without_rights():
    """Of root, what lets it write everywhere. It is called between fork and exec."""
    drop_from_bounding_set, overrides = 24, (1, 2, 3)
    for capability in overrides:
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def started(folder, *command):
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "ORACLE_MODEL_NAME": "embedded"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=without_rights,
    )


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir(mode=0o755)
    yield make_project(folder)
    folder.chmod(0o755)


@pytest.mark.extra
@pytest.mark.parametrize("has_folder", [False, True])
def test_a_question_is_answered_with_one_warning_and_nothing_is_left(project, has_folder):
    if has_folder:
        # What belongs to the user is made private, and can be written then.
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder to somebody else")
        (project / FOLDER).mkdir(mode=0o755)
        os.chown(project / FOLDER, 65534, 65534)
    project.chmod(0o555)
    result = started(project, *ORACLE, "ask", QUESTION)
    assert (result.returncode, "session.py:1" in result.stdout) == (0, True), result.stderr
    assert [line for line in result.stderr.splitlines() if "oracle: " in line] == [
        line for line in result.stderr.splitlines() if WARNING in line
    ]
    assert result.stderr.count("oracle: warning: ") == 1
    quiet = started(project, *ORACLE, "ask", "-q", QUESTION)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert not (project / FOLDER / "oracle.db").exists()


def test_the_place_of_a_project_that_can_be_written_is_its_own(project):
    with place_for_records(load_settings(project, environment={})) as (url, warning):
        assert (url.database, warning) == (str(project / FOLDER / "oracle.db"), "")


@pytest.mark.parametrize(("folder", "file", "code"), [(0o777, 0o666, 0), (0o777, 0o444, 1)])
def test_a_database_that_cannot_be_written_counts_too(project, folder, file, code):
    (project / FOLDER).mkdir()
    (project / FOLDER / "oracle.db").touch(mode=file)
    (project / FOLDER).chmod(folder)
    assert started(project, sys.executable, "-c", IS_WRITABLE).returncode == code
