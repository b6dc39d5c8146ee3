"""Advice to install a part names the program that made the environment."""

import pytest

from oracle.services.installing import install_command


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("pyvenv.cfg", "pip install 'bt-oracle[all]'"),
        ("pipx_metadata.json", "pipx install --force 'bt-oracle[all]'"),
        ("uv-receipt.toml", "uv tool install 'bt-oracle[all]'"),
    ],
)
def test_the_command_is_that_of_the_program_that_installed_it(tmp_path, file, command):
    (tmp_path / file).touch()
    assert install_command("postgres", tmp_path, "bt-oracle") == command


def test_a_copy_from_a_folder_is_installed_from_there_again(tmp_path, monkeypatch):
    class Installed:
        def read_text(self, name):
            return '{"url": "file:///home/me/my%20oracle", "dir_info": {"editable": true}}'

    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed())
    assert install_command("server", tmp_path) == "pip install '/home/me/my oracle[all]'"


def test_a_large_extra_is_added_to_the_others(tmp_path):
    assert install_command("bert", tmp_path, "bt-oracle") == "pip install 'bt-oracle[all,bert]'"


@pytest.mark.parametrize("is_active", [True, False])
def test_the_pip_of_an_environment_that_is_not_active_has_its_path(
    tmp_path, monkeypatch, is_active
):
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.touch()
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path) if is_active else "")
    command = install_command("mcp", tmp_path, "bt-oracle")
    assert command == f"{'pip' if is_active else pip} install 'bt-oracle[all]'"
