"""A project is known by the name of its folder, and by the name that it gives itself."""

import os

import pytest

from oracle.services.project.names import folded, names_of


@pytest.mark.parametrize(
    ("manifest", "text", "name"),
    [
        ("pyproject.toml", '[project]\nname = "My_Tool"\n[tool.x]\nname = "other"\n', "my-tool"),
        ("Cargo.toml", '[package]\nname = "crab"\n', "crab"),
        ("package.json", '{\n  "name": "@people/spider",\n  "x": {"name": "y"}\n}', "spider"),
        ("go.mod", "module example.org/people/gopher/v2\n\ngo 1.21\n", "gopher"),
        ("setup.cfg", "[metadata]\nname = old\n", "old"),
    ],
)
def test_manifests_name_the_project(tmp_path, manifest, text, name):
    (tmp_path / manifest).write_text(text)
    assert names_of(tmp_path) == {folded(tmp_path.name), name}


def test_a_version_in_the_name_of_the_folder_does_not_count(tmp_path):
    (tmp_path / "rq-2.12.0").mkdir()
    assert names_of(tmp_path / "rq-2.12.0") == {"rq"}


def test_a_pipe_in_the_place_of_a_manifest_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / "package.json")
    assert names_of(tmp_path) == {folded(tmp_path.name)}
