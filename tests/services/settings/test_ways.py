"""A command that is advised changes the setting: it writes where the value comes from."""

import pytest

from oracle.bt.wrappers.project_agent import model_of
from oracle.errors import ModelRefused
from oracle.services.settings.ways import way_to_name_the_key, way_to_set
from oracle.settings import load_settings


@pytest.mark.parametrize(
    ("file", "environment", "flags", "command"),
    [
        ("", {"ORACLE_MODEL_NAME": "sonnet"}, {}, "export ORACLE_MODEL_NAME=embedded"),
        ('[model]\nname = "sonnet"\n', {}, {}, "oracle models use embedded --project"),
        ("", {}, {"model.name": "sonnet"}, "--model embedded"),
    ],
)
def test_without_a_key_the_model_that_needs_none_is_selected_where_the_other_is(
    tmp_path, file, environment, flags, command
):
    (tmp_path / "oracle.toml").write_text(file)
    settings = load_settings(tmp_path, environment=environment, flags=flags)
    with pytest.raises(ModelRefused, match=f"`{command}` needs no key"):
        model_of(settings, environment)


def test_the_variable_of_a_key_is_named_where_the_address_is(tmp_path):
    (tmp_path / "oracle.toml").touch()
    address = {"ORACLE_MODEL_BASE_URL": "http://127.0.0.1:8080/v1"}
    settings = load_settings(tmp_path, environment=address)
    assert way_to_name_the_key(settings) == "export ORACLE_MODEL_KEY_VARIABLE=NAME"


def test_a_setting_of_the_project_is_set_there_and_any_other_in_the_users_file():
    assert way_to_set("web.provider", "ddgs", "file") == "oracle config set web.provider ddgs"
    assert way_to_set("web.provider", "ddgs", "default").endswith("web.provider ddgs --user")
