import subprocess
from pathlib import Path

import pytest

from oracle.errors import InputError, StoreError
from oracle.services.project.root import find_root, made_user_folder, oracle_folder, user_folder


@pytest.mark.parametrize("marker", ["oracle.toml", ".git"])
def test_the_root_is_the_nearest_folder_with_a_marker(tmp_path, marker):
    deep = tmp_path / "project" / "src" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "oracle.toml").touch()
    (tmp_path / "project" / marker).touch()
    assert find_root(deep) == tmp_path / "project"


def test_outside_of_a_project_the_error_says_how_to_make_one(tmp_path):
    with pytest.raises(InputError, match="`oracle init`"):
        find_root(tmp_path)


def test_git_does_not_see_the_folder(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (oracle_folder(tmp_path) / "oracle.db").touch()
    assert oracle_folder(tmp_path) == tmp_path / ".oracle"
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).stdout == b""


def test_a_folder_that_cannot_be_made_is_named_with_the_way_out(tmp_path):
    (tmp_path / ".oracle").write_text("a file in the way")
    with pytest.raises(StoreError, match=r"\.oracle cannot be made: .*move the file away$"):
        oracle_folder(tmp_path)


@pytest.mark.parametrize(
    ("state", "folder"),
    [("{tmp}/state", "{tmp}/state/oracle"), ("", "{home}/.local/state/oracle"), ("a/b", None)],
)
def test_what_belongs_to_no_project_lies_in_the_users_state(tmp_path, monkeypatch, state, folder):
    monkeypatch.setenv("XDG_STATE_HOME", state.format(tmp=tmp_path))
    expected = (folder or "{home}/.local/state/oracle").format(tmp=tmp_path, home=Path.home())
    assert str(user_folder()) == expected


def test_the_users_folder_is_for_the_user_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert made_user_folder().stat().st_mode & 0o077 == 0
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="`oracle init`"):
        made_user_folder()


def test_a_home_that_is_not_absolute_is_not_made_in_the_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", "relative")
    assert user_folder().is_absolute()
    assert not user_folder().is_relative_to(tmp_path)
