"""Advice to install a part names the program that made the environment."""

import pytest

from oracle.services.installing import install_command


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("pyvenv.cfg", "pip install 'bt-oracle[postgres]'"),
        ("pipx_metadata.json", "pipx install --force 'bt-oracle[postgres]'"),
        ("uv-receipt.toml", "uv tool install 'bt-oracle[postgres]'"),
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
    assert install_command("server", tmp_path) == "pip install '/home/me/my oracle[server]'"
