"""A hit never shows a secret, though a file without secrets is not searched for them again."""

import os

import pytest

from oracle.services.project import redaction
from oracle.services.project.redaction import hide
from oracle.services.search.intake import secret_lines

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
LONG_AGO = 1_000_000_000


def settled(project, monkeypatch):
    """An index that is sure of the state of its files: they were not written just now."""
    monkeypatch.setattr("oracle.services.search.intake._JUST_NOW_NS", 0)
    return project.indexed()


def test_a_file_without_secrets_is_shown_without_looking_for_them(project, monkeypatch):
    project.write("tide.py", "def tide_table(): ...\n" * 40)
    index = settled(project, monkeypatch)
    monkeypatch.setattr("oracle.services.search.index.clean_text", lambda content: "looked")
    assert index.search("tide table")[0].text.startswith("def tide_table")


@pytest.mark.parametrize("text", ["def tide_table(): ...\n", f"tide_table = '{KEY}'\n"])
def test_a_secret_that_was_written_after_the_refresh_is_not_shown(project, monkeypatch, text):
    file = project.write("tide.py", text)
    index = settled(project, monkeypatch)
    project.write("tide.py", f"tide_table = '{KEY}'\n")
    os.utime(file, ns=(LONG_AGO, LONG_AGO))
    assert KEY not in index.search("tide table")[0].text


def test_a_key_that_is_in_use_is_hidden_in_every_file(project, monkeypatch):
    monkeypatch.setattr(redaction, "_known", [])
    project.write("tide.py", "tide_table = 'plain words of a key'\n")
    index = settled(project, monkeypatch)
    hide("plain words of a key")
    assert "plain words of a key" not in index.search("tide table")[0].text


def test_lines_without_secrets_are_shown_without_looking_for_them(project, monkeypatch):
    far = "".join(f"def filler_{number}(): ...\n" for number in range(200))
    project.write("tide.py", f"{'def tide_table(): ...' + chr(10)}{far}harbour = '{KEY}'\n")
    index = settled(project, monkeypatch)
    assert "[redacted: GitHub token]" in index.search("harbour")[0].text
    monkeypatch.setattr("oracle.services.search.index.clean_text", lambda content: "looked")
    assert index.search("tide table")[0].text.startswith("def tide_table")
    assert not any(KEY in hit.text for hit in index.search("harbour"))


def test_every_line_of_a_secret_counts():
    raw = f"a = 1\nkey = 'first {KEY}\nsecond\nthird'\nb = 2\n"
    clean = "a = 1\nkey = '[redacted: key]\n\n\nb = 2\n"
    assert secret_lines(raw, clean) == [2, 3, 4]
    assert secret_lines(raw, raw) == []


def test_secrets_that_change_the_number_of_lines_are_not_known_by_line():
    assert secret_lines("a\nb\n", "a\n") is None
