"""One setting is changed in a file; the rest of the text stays as it is."""

import os
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import InputError, NotFound, OracleError, SettingsError, StoreError
from oracle.services.settings.editing import set_value, unset_value, value_in
from oracle.services.settings.template import template
from oracle.settings import load_settings

SET = [
    ("", "limits.turns", 4, "[limits]\nturns = 4\n"),
    ("", "limits.turns", "4", "[limits]\nturns = 4\n"),
    ("", "limits.money", "off", '[limits]\nmoney = "off"\n'),
    ("", "limits.money", 0.5, "[limits]\nmoney = 0.5\n"),
    ("", "limits.seconds", "60", "[limits]\nseconds = 60\n"),
    ("", "secrets.files", "*.vars, a b", '[secrets]\nfiles = ["*.vars", "a b"]\n'),
    ("", "secrets.files", ["x"], '[secrets]\nfiles = ["x"]\n'),
    ("", "model.name", 'a:"\\é', '[model]\nname = "a:\\"\\\\é"\n'),
    ("\ufeff", "limits.turns", 4, "\ufeff[limits]\nturns = 4\n"),
    ("# hi", "limits.turns", 4, "# hi\n\n[limits]\nturns = 4\n"),
    ("[web]\n", "limits.turns", 4, "[web]\n\n[limits]\nturns = 4\n"),
    # replaced in place, with the comment after it
    ("[limits]\nturns = 3  # few\n", "limits.turns", 4, "[limits]\nturns = 4  # few\n"),
    ("[limits]\r\nturns=3\r\n", "limits.turns", 4, "[limits]\r\nturns=4\r\n"),
    ("[limits]\nturns = 3", "limits.turns", 4, "[limits]\nturns = 4"),
    ('["limits"]\n  "turns" = 3\n', "limits.turns", 4, '["limits"]\n  "turns" = 4\n'),
    ("limits.turns = 3\n", "limits.turns", 4, "limits.turns = 4\n"),
    ("[model]\nname = '''a:\n#b'''\n", "model.name", "a:c", '[model]\nname = "a:c"\n'),
    # added where it belongs
    (
        "[limits]\ntokens = 9 # t\n\n# the web\n[web]\n",
        "limits.turns",
        4,
        "[limits]\ntokens = 9 # t\nturns = 4\n\n# the web\n[web]\n",
    ),
    ("[limits]", "limits.turns", 4, "[limits]\nturns = 4\n"),
    ("[limits]\r\n", "limits.turns", 4, "[limits]\r\nturns = 4\r\n"),
    ("[limits]\n  tokens = 9", "limits.turns", 4, "[limits]\n  tokens = 9\n  turns = 4\n"),
    (
        "[limits]\n# why\n#turns = 30\n# more\n",
        "limits.turns",
        4,
        "[limits]\n# why\n#turns = 30\nturns = 4\n# more\n",
    ),
    (
        "[model]\nname = '''\n#base_url = 1\n'''\n",
        "model.base_url",
        "http://h/v1",
        "[model]\nname = '''\n#base_url = 1\n'''\nbase_url = \"http://h/v1\"\n",
    ),
    (
        "limits.tokens = 9\n[web]\n",
        "limits.turns",
        4,
        "limits.tokens = 9\nlimits.turns = 4\n[web]\n",
    ),
    # inline tables
    (
        "limits = { turns = 3, tokens = 9 } # x\n",
        "limits.turns",
        4,
        "limits = { turns = 4, tokens = 9 } # x\n",
    ),
    ("limits = { tokens = 9 }\n", "limits.turns", 4, "limits = { tokens = 9, turns = 4 }\n"),
    ("limits = {}\n", "limits.turns", 4, "limits = { turns = 4 }\n"),
    (
        "secrets = {files=['a,}', \"b\"],allow=[]}",
        "secrets.allow",
        "c",
        'secrets = {files=[\'a,}\', "b"],allow=["c"]}',
    ),
]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "oracle.toml"


@pytest.mark.parametrize(("old", "name", "value", "new"), SET)
def test_a_value_is_written_and_the_rest_stays(file, old, name, value, new):
    file.write_bytes(old.encode())
    set_value(file, name, value)
    assert file.read_bytes().decode() == new


UNSET = [
    ("[limits]\nturns = 3 # few\ntokens = 9\n", "[limits]\ntokens = 9\n"),
    ("[limits]\nturns = 3", ""),
    ("# a\n\n[limits]\nturns = 3\n\n[web]\n", "# a\n\n[web]\n"),
    ("[web]\n\n[limits]\nturns = 3\n", "[web]\n"),
    ("[limits] # mine\nturns = 3\n", "[limits] # mine\n"),
    ("# a\n[limits]\r\n# b\r\n turns = 3\r\n# c\r\n", "# a\n[limits]\r\n# b\r\n# c\r\n"),
    ("limits.turns = 3\nweb.provider = 'brave'\n", "web.provider = 'brave'\n"),
    ("limits = { turns = 3, tokens = 9 }\n", "limits = { tokens = 9 }\n"),
    ("limits = { tokens = 9, turns = 3 }\n", "limits = { tokens = 9 }\n"),
    ("limits = { turns = 3 }\n", "limits = {  }\n"),
    ("[limits]\ntokens = 9\n", "[limits]\ntokens = 9\n"),
]


@pytest.mark.parametrize(("old", "new"), UNSET)
def test_a_value_is_removed_and_the_rest_stays(file, old, new):
    file.write_bytes(old.encode())
    unset_value(file, "limits.turns")
    assert file.read_bytes().decode() == new


def test_what_is_not_there_is_removed_without_making_a_file(file):
    unset_value(file, "limits.turns")
    assert not file.exists()


@pytest.mark.parametrize("name", ["limits.turns", "web.provider", "trees.folder"])
def test_in_the_template_it_goes_below_its_own_comment(file, name):
    file.write_text(template())
    set_value(file, name, {"limits.turns": 4, "web.provider": "brave"}.get(name, "x"))
    lines = file.read_text().splitlines()
    key = name.partition(".")[2]
    (place,) = [number for number, line in enumerate(lines) if line.startswith(f"{key} = ")]
    assert lines[place - 1].startswith(f"#{key} = ")
    unset_value(file, name)
    assert file.read_text() == template()


REFUSED = [
    ("", "limits.turns", "x", SettingsError, "limits.turns is 'x'; write a whole number from 1"),
    ("", "limits.turns", 0, SettingsError, "limits.turns is 0; write"),
    ("", "limits.truns", 3, NotFound, "no setting 'limits.truns'; did you mean 'limits.turns'?"),
    ("", "limits", 3, NotFound, "no setting 'limits'"),
    ("", "model.name", "a\nb", SettingsError, "model.name is 'a\\nb'; write"),
    ("", "model.api_key", "hush", InputError, "`oracle keys set PROVIDER`"),
    ("", "ANTHROPIC_API_KEY", "hush", InputError, "`oracle keys set PROVIDER`"),
    ("", "model.name", "sk-ant-api03-" + "hush0" * 12, InputError, "`oracle keys set PROVIDER`"),
    ("", "model.key_variable", "sk-hush", SettingsError, "model.key_variable is not the name of"),
    ("", "database.url", "postgresql://me:hush@h/db", SettingsError, "contains a password"),
    (
        "[secrets]\nfiles = [ # one\n 'a', # ]\n] # end\nallow = []\n",
        "secrets.files",
        "b",
        SettingsError,
        "has comments inside its value, which would be lost; edit the file by hand",
    ),
    ("x = ", "limits.turns", 3, SettingsError, "oracle.toml:1: invalid value"),
    ("model = 3", "model.name", "a:b", SettingsError, "oracle.toml: model.name cannot be changed"),
    ("[[limits]]", "limits.turns", 3, SettingsError, "oracle.toml: limits.turns cannot be changed"),
    ("[limits.turns]", "limits.turns", 3, SettingsError, "edit it by hand"),
    ("\udcff", "limits.turns", 3, StoreError, "is not UTF-8 text"),
]


@pytest.mark.parametrize(("old", "name", "value", "error", "told"), REFUSED)
def test_what_is_refused_leaves_the_file_unchanged(
    file, monkeypatch, old, name, value, error, told
):
    monkeypatch.chdir(file.parent)
    file.write_bytes(old.encode(errors="surrogateescape"))
    with pytest.raises(error) as problem:
        set_value(file, name, value)
    assert told in str(problem.value)
    assert "hush" not in str(problem.value)
    assert file.read_bytes() == old.encode(errors="surrogateescape")
    assert sorted(os.listdir(file.parent)) == ["oracle.toml"]


def test_the_mode_of_the_file_is_kept_and_a_new_one_has_the_usual_mode(file):
    os.umask(mask := os.umask(0o022))
    set_value(file, "limits.turns", 3)
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask
    file.chmod(0o640)
    set_value(file, "limits.turns", 4)
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_read_only_file_is_left_alone(file):
    file.write_text("[limits]\nturns = 3\n")
    file.chmod(0o444)
    with pytest.raises(StoreError, match="is read-only; make it writable"):
        set_value(file, "limits.turns", 4)
    assert value_in(file, "limits.turns") == 3


def test_a_link_stays_a_link(file):
    target = file.with_name("dotfile")
    target.write_text("")
    file.symlink_to(target)
    set_value(file, "limits.turns", 4)
    assert file.is_symlink()
    assert target.read_text() == "[limits]\nturns = 4\n"


def test_a_device_is_no_settings_file():
    from pathlib import Path

    with pytest.raises(OracleError, match="/dev/full cannot be written: it is a device"):
        set_value(Path("/dev/full"), "limits.turns", 4)


def test_no_change_is_lost_when_many_write_at_once(file):
    names = ["limits.turns", "limits.tokens", "limits.uses_of_a_tool", "model.context_window"]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda name: set_value(file, name, 5_000), names * 5))
    assert [value_in(file, name) for name in names] == [5_000] * 4


_VALUES = st.text(min_size=1, max_size=30).filter(lambda text: text.strip() and text.isprintable())


@given(texts=st.lists(_VALUES, max_size=5), start=st.sampled_from([row[0] for row in SET]))
def test_any_list_is_read_back_as_it_was_given(tmp_path_factory, texts, start):
    file = tmp_path_factory.mktemp("any") / "oracle.toml"
    file.write_bytes(start.encode())
    before = tomllib.loads(start.removeprefix("\ufeff"))
    set_value(file, "secrets.files", texts)
    after = tomllib.loads(file.read_bytes().decode().removeprefix("\ufeff"))
    assert after.pop("secrets")["files"] == texts
    before.pop("secrets", None)
    assert after == before


def test_what_was_written_counts(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    set_value(file, "limits.money", "0.5")
    settings = load_settings(environment={})
    assert (settings.limits.money, str(settings.origins["limits.money"])) == (0.5, "oracle.toml:2")
