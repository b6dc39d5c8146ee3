import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from oracle.errors import NotFound
from oracle.services.control.ledger import Limits
from oracle.services.settings.sections import SECTIONS
from oracle.services.settings.value_types import OFF
from oracle.settings import SETTINGS, Settings, load_settings, setting_named

ROWS = pytest.mark.parametrize("row", SETTINGS.values(), ids=SETTINGS)


@ROWS
def test_a_row_has_a_meaning_and_a_value_that_fits(row):
    assert row.meaning.endswith(".")
    value = row.example if row.default is None else row.default
    assert row.kind.check(OFF if value is None else value) == value
    assert row.kind.words


@ROWS
def test_a_variable_follows_from_the_name(row):
    assert row.variable == "ORACLE_" + row.name.upper().replace(".", "_")
    assert re.fullmatch(r"[a-z]+\.[a-z_]+", row.name)


def test_no_two_settings_share_a_variable():
    assert len({row.variable for row in SETTINGS.values()}) == len(SETTINGS)


def test_the_limits_are_those_of_the_ledger():
    rows = [row.name for row in SETTINGS.values() if row.section == "limits"]
    assert rows == [f"limits.{column.name}" for column in fields(Limits)]
    assert load_settings(Path("/"), environment={}).limits == Limits()


def test_every_section_is_a_part_of_the_settings():
    assert set(SECTIONS) <= {column.name for column in fields(Settings)}


def test_an_unknown_name_is_told_with_a_suggestion():
    with pytest.raises(NotFound, match=r"no setting 'limits\.turn'; did you mean 'limits\.turns'"):
        setting_named("limits.turn")
    with pytest.raises(NotFound, match="`oracle config` lists all settings"):
        setting_named("zzz")


@pytest.mark.parametrize(
    ("text", "model_key", "web_key"),
    [
        ("", None, None),
        ("model.name='anthropic:x'\nweb.provider='brave'", "ANTHROPIC_API_KEY", "BRAVE_API_KEY"),
        ("model.name='ollama:x'\nweb.provider='searxng'", None, None),
        ("model.name='openai:x'\nmodel.key_variable='MINE'", "MINE", None),
    ],
)
def test_the_variable_of_a_key_is_the_providers_own_unless_one_is_named(
    tmp_path, text, model_key, web_key
):
    tomllib.loads(text)
    (tmp_path / "oracle.toml").write_text(text)
    settings = load_settings(tmp_path, environment={"ORACLE_TRUST": str(tmp_path)})
    assert (settings.model.key_name, settings.web.key_name) == (model_key, web_key)
