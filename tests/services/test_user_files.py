"""What the user's own files promise: whole, private, and safe from two writers at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from oracle.errors import StoreError
from oracle.services.project.root import user_folder
from oracle.services.user_files import config_folder, recall, remember, rewrite
from tests.tables import each_row


def test_what_was_remembered_is_recalled():
    remember("notices", "no model", 17)
    remember("notices", "other", [1])
    remember("trust", "a", "b")
    assert recall("notices") == {"no model": 17, "other": [1]}
    assert recall("unknown") == {}


@each_row("content", ["", "{", "[]", '{"notices": 1}', "\0"])
def test_a_broken_memory_is_an_empty_one_and_can_be_written(content):
    remember("notices", "a", 1)
    (user_folder() / "remembered.json").write_text(content)
    assert recall("notices") == {}
    remember("notices", "a", 2)
    assert recall("notices") == {"a": 2}


def test_files_are_for_the_user_alone():
    remember("notices", "a", 1)
    file = user_folder() / "remembered.json"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_no_change_is_lost_when_many_write_at_once():
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: remember("t", str(number), number), range(40)))
    assert recall("t") == {str(number): number for number in range(40)}


def test_a_link_stays_a_link(tmp_path):
    target = tmp_path / "dotfiles" / "oracle.toml"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "oracle.toml"
    link.symlink_to(target)
    rewrite(link, lambda text: text + " new")
    assert link.is_symlink()
    assert target.read_text() == "old new"


def test_a_change_that_fails_leaves_the_file_and_nothing_else(tmp_path):
    file = tmp_path / "folder" / "a.toml"
    rewrite(file, lambda _: "first")

    def fail(_: str) -> str:
        raise ValueError

    with pytest.raises(ValueError):
        rewrite(file, fail)
    assert [each.name for each in file.parent.iterdir()] == ["a.toml"]
    assert file.read_text() == "first"


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file/a\.toml cannot be written: .*; make its folder"):
        rewrite(tmp_path / "file" / "a.toml", str)


def test_the_folder_follows_the_convention(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_folder() == tmp_path / "oracle"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert config_folder() == Path.home() / ".config" / "oracle"
