import errno
import os
import sys
from pathlib import Path

import pytest

from oracle.errors import InputError, StoreError
from oracle.services.settings import template as module
from oracle.services.settings.template import template, write_new
from oracle.settings import SETTINGS, load_settings
from tests.processes import PIPE, Process


def test_the_template_as_it_is_changes_nothing(tmp_path):
    write_new(tmp_path)
    settings = load_settings(tmp_path, environment={})
    assert {origin.source for origin in settings.origins.values()} == {"default"}


def test_with_the_comment_signs_gone_every_setting_is_set_to_what_it_shows(tmp_path):
    lines = template().splitlines()
    bare = [line[1:] if line.startswith("#") and line[1:2].isalpha() else line for line in lines]
    (tmp_path / "oracle.toml").write_text("\n".join(bare))
    settings = load_settings(tmp_path, environment={"ORACLE_TRUST": str(tmp_path)})
    assert {origin.source for origin in settings.origins.values()} == {"file"}
    for row in SETTINGS.values():
        assert settings.value(row.name) == (row.example if row.default is None else row.default)


@pytest.mark.parametrize("text", ["", "[model]\n"])
def test_a_file_that_is_there_is_never_overwritten(tmp_path, text):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "oracle.toml").write_text(text)
    with pytest.raises(InputError, match="exists and is left unchanged"):
        write_new(folder)
    assert (folder / "oracle.toml").read_text() == text
    assert [path.name for path in folder.iterdir()] == ["oracle.toml"]


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path):
    (tmp_path / "oracle.toml").symlink_to("elsewhere.toml")
    with pytest.raises(InputError, match="exists"):
        write_new(tmp_path)
    assert not (tmp_path / "elsewhere.toml").exists()


def test_where_links_cannot_be_made_it_is_still_never_overwritten(tmp_path):
    draft, target = tmp_path / "draft", tmp_path / "oracle.toml"
    draft.write_text("new")
    module._copy(draft, target)
    with pytest.raises(InputError, match="exists"):
        module._copy(draft, target)
    assert target.read_text() == "new"


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(InputError, match="cannot be written: No such file or directory; choose"):
        write_new(tmp_path / "nowhere")


def test_a_full_disk_is_told_and_nothing_is_left_behind(tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device; free some space, then try"):
        write_new(tmp_path)
    assert list(tmp_path.iterdir()) == []


RACER = """
import sys
from pathlib import Path
from oracle.errors import InputError
from oracle.services.settings.template import write_new
print("ready", flush=True)
sys.stdin.readline()
try:
    write_new(Path(sys.argv[1]))
    print("won")
except InputError:
    print("lost")
"""


def test_of_several_processes_at_once_one_writes_and_the_others_are_told(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    command = [sys.executable, "-c", RACER, str(folder)]
    racers = [Process(command, stdin=PIPE, stdout=PIPE, text=True) for _ in range(4)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = sorted(racer.communicate()[0] for racer in racers)
    assert told == ["lost\n", "lost\n", "lost\n", "won\n"]
    assert [path.name for path in Path(folder).iterdir()] == ["oracle.toml"]
    assert (folder / "oracle.toml").read_text(encoding="utf-8") == template()
