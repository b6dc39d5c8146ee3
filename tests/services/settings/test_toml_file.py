import json
import os
import tomllib
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.errors import SettingsError
from oracle.services.settings.toml_file import LARGEST_FILE, read_settings_file, written_in
from tests.tables import each_row
from tests.timing import within

PLACES = [
    ("", []),
    ("# nothing\n\n", []),
    ("[a]\nx = 1\n", [("a", 1), ("a.x", 2)]),
    ("[a]\r\n\r\nx = 1\r\n", [("a", 1), ("a.x", 3)]),
    ("\ufeff[a]\nx = 1", [("a", 1), ("a.x", 2)]),
    ("a.x = 1\na.'y z' = 2\n", [("a.x", 1), ("a.y z", 2)]),
    ("a = { x = 1, y = 2 }\n", [("a.x", 1), ("a.y", 1)]),
    ("a = {}\n", [("a", 1)]),
    ('[a]\nt = """\n[b]\ny = 1\n"""\nz = 2', [("a", 1), ("a.t", 2), ("a.z", 6)]),
    (
        "[a]\nt = '''\n'''\nl = [ # ]\n  '[',\n]\nz = 2",
        [("a", 1), ("a.t", 2), ("a.l", 4), ("a.z", 7)],
    ),
    ('[a]\nx = "# \\" ["  # "]\ny = 2', [("a", 1), ("a.x", 2), ("a.y", 3)]),
    ('[a]\nx = """a"""""\ny = ""\nz = 1', [("a", 1), ("a.x", 2), ("a.y", 3), ("a.z", 4)]),
    ('  [ "a" ]  # [b]\n  x=1', [("a", 1), ("a.x", 2)]),
    ("[[a]]\nx = 1", [("a", 1), ("a.x", 2)]),
    ("[a.b.c]\nx = 1", [("a.b", 1)]),
    ("x = 1", [("x", 1)]),
]


@each_row(("text", "places"), PLACES)
def test_each_entry_has_its_line(text, places):
    found = [(".".join(item.path), item.line) for item in written_in(text, "oracle.toml")]
    assert found == places


@each_row(
    ("text", "told"),
    [
        ("[a]\nx =\n", "oracle.toml:2: invalid value"),
        ("[a]\n\nx = yes", "oracle.toml:3: invalid value"),
        ("[a", "oracle.toml:1: expected"),
        ('[a]\nx = "b\n', "oracle.toml:2: illegal character"),
        ('[a]\nx = """b\n\n', "oracle.toml:2: unterminated string"),
        ("[a]\nx = 1\nx = 2\n", "oracle.toml:3: .*set twice, keep one"),
        ("[a]\n[a]\n", "oracle.toml:2: .*set twice, keep one"),
        ("x = " + "[" * 10_000, "oracle.toml: .*nested too deep"),
        ("x = " + "9" * 5_000, "oracle.toml: it has a number that is too long"),
    ],
)
def test_what_is_no_toml_is_told_with_its_line(text, told):
    with pytest.raises(SettingsError, match=told):
        written_in(text, "oracle.toml")


def test_no_file_is_nothing_written(tmp_path):
    assert read_settings_file(tmp_path / "oracle.toml", "oracle.toml") == []


def test_a_file_that_is_not_utf_8_is_told_with_its_line(tmp_path):
    (tmp_path / "oracle.toml").write_bytes(b"[model]\n\nname = 'caf\xe9'\n")
    with pytest.raises(SettingsError, match=r"oracle\.toml:3: is not UTF-8"):
        read_settings_file(tmp_path / "oracle.toml", "oracle.toml")


def test_what_is_no_plain_file_is_refused_without_waiting_for_it(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    for name in ("folder", "pipe", "endless"):
        with pytest.raises(SettingsError, match="x: is not a file"):
            read_settings_file(tmp_path / name, "x")


def test_a_file_that_cannot_be_read_is_told_with_the_reason(tmp_path):
    (tmp_path / "oracle.toml").symlink_to("oracle.toml")
    with pytest.raises(SettingsError, match=r"x: cannot be read: .*symbolic links; make it a file"):
        read_settings_file(tmp_path / "oracle.toml", "x")


def test_a_huge_file_is_refused_and_a_large_one_is_read_quickly(tmp_path):
    file = tmp_path / "oracle.toml"
    file.write_text("x = [" + "\n" * (LARGEST_FILE - 6) + "]")
    with within(2):
        assert len(read_settings_file(file, "x")) == 1
    file.write_text("#" * (LARGEST_FILE + 1))
    with pytest.raises(SettingsError, match="x: is larger than 64 KiB"):
        read_settings_file(file, "x")


WILD = st.text(alphabet="ab[]{}=\"'#\n\\., 1\r\t", max_size=60)
VALUES = st.one_of(
    st.text(alphabet="a[]{}=\"'#\n\\,é", max_size=12).map(json.dumps),
    st.text(alphabet='a[]{}="#\n\\,', max_size=12).map("'''\n{}'''".format),
    st.text(alphabet="a[]{}='#\n,", max_size=12).map('"""{}"""'.format),
    st.lists(st.sampled_from(["1", "']'", '"[#"', "# ]\n2"])).map(
        lambda items: f"[\n{', '.join([*items, '0'])}\n]"
    ),
)
LINES = st.lists(st.tuples(VALUES, st.sampled_from(["", '  # [x] "', "\n\n", "\n# '''"])))


@given(LINES)
def test_lines_and_values_are_those_of_the_text_however_it_is_written(lines):
    text, expected = "[s]\n", {}
    for number, (value, after) in enumerate(lines):
        expected[f"k{number}"] = text.count("\n") + 1
        text += f"k{number} = {value}{after}\n"
    found = [item for item in written_in(text, "x") if len(item.path) == 2]
    assert {item.path[1]: item.line for item in found} == expected
    assert {item.path[1]: item.value for item in found} == tomllib.loads(text)["s"]


@given(WILD)
@example('a = """"""\nb = 1')
@example("[a]\n[[b.c]]\nx = [{y = '}'}]")
def test_whatever_is_written_is_read_or_refused(text):
    with suppress(SettingsError):
        written_in(text, "x")
