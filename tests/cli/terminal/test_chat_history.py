"""The history of a chat is private, safe to show, and shared by chats that run at once."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.cli.terminal import chat_history
from oracle.cli.terminal.chat_history import (
    _decoded,
    _encoded,
    add_to_history,
    read_history,
    why_not_kept,
)
from oracle.settings import load_settings


def test_entries_come_back_in_order_with_all_their_lines(tmp_path):
    file = tmp_path / "h"
    entries = ["one", "two\nlines", "C:\\new\\n", "\\"]
    for entry in entries:
        add_to_history(file, entry)
    assert read_history(file) == entries
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@given(st.text())
def test_an_entry_takes_one_line_and_comes_back(text):
    assert "\n" not in _encoded(text)
    assert _decoded(_encoded(text)) == text


def test_blank_and_endless_entries_are_not_kept(tmp_path):
    file = tmp_path / "h"
    for entry in ("", " \n", "x" * 100_000):
        add_to_history(file, entry)
    assert read_history(file) == []


def test_two_chats_at_once_keep_the_entries_of_both(tmp_path):
    file = tmp_path / "h"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: add_to_history(file, f"q{number}"), range(200)))
    assert sorted(read_history(file)) == sorted(f"q{number}" for number in range(200))


def test_a_long_history_keeps_its_newest_entries(tmp_path, monkeypatch):
    monkeypatch.setattr(chat_history, "MOST_BYTES", 1_000)
    file = tmp_path / "h"
    for number in range(500):
        add_to_history(file, f"question {number}")
    assert file.stat().st_size <= 1_100
    kept = read_history(file)
    assert kept == [f"question {number}" for number in range(500 - len(kept), 500)]


def test_what_a_history_of_someone_else_holds_cannot_steer_the_terminal(tmp_path):
    file = tmp_path / "h"
    file.write_bytes(b"evil\x1b[31m \xe2\x80\xae\xff\x07\nsafe\\nline\n")
    assert read_history(file) == ["evil[31m \ufffd", "safe\nline"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_something_else_in_its_place_is_left_alone(tmp_path, make):
    make(tmp_path / "h")
    add_to_history(tmp_path / "h", "hello")
    assert read_history(tmp_path / "h") == []


def test_a_link_in_its_place_is_not_followed(tmp_path):
    (tmp_path / "target").write_text("private\n")
    (tmp_path / "h").symlink_to(tmp_path / "target")
    add_to_history(tmp_path / "h", "hello")
    assert read_history(tmp_path / "h") == []
    assert (tmp_path / "target").read_text() == "private\n"


def test_a_folder_that_is_gone_does_no_harm(tmp_path):
    add_to_history(tmp_path / "gone" / "h", "hello")
    add_to_history(None, "hello")
    assert read_history(None) == []


def test_a_history_that_cannot_be_kept_is_explained_on_one_line(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").touch()
    monkeypatch.chdir(tmp_path)
    settings, file = load_settings(), tmp_path / ".oracle" / "chat_history"
    assert why_not_kept(settings) is None
    file.mkdir()
    assert why_not_kept(settings).endswith("chat_history is a folder; remove it")
    file.rmdir()
    file.symlink_to("/dev/full")
    assert "is a symbolic link" in why_not_kept(settings)
