"""No package with an entry point of ours is missed, and the look is cheap."""

import subprocess
import sys
from importlib.machinery import PathFinder

import pytest

from oracle.services.own_code.installed import may_name

GROUPS = ("oracle.tools", "oracle.leaves")


def package(site, name, points):
    (site / name).mkdir(parents=True)
    (site / name / "entry_points.txt").write_text(points)


@pytest.mark.parametrize(
    "name", ["shop-1.0.dist-info", "shop-1.0.egg-info", "Shop.DIST-INFO", "EGG-INFO"]
)
def test_a_package_with_an_entry_point_is_found(tmp_path, name):
    package(tmp_path, name, "[console_scripts]\na = b\n[oracle.leaves]\nx = shop\n")
    assert may_name(GROUPS, ["", str(tmp_path / "nowhere"), str(tmp_path)])


def test_other_packages_are_passed_over(tmp_path, monkeypatch):
    # A library that another test has imported may have added an importer of its own.
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    package(tmp_path, "shop-1.0.dist-info", "[console_scripts]\na = b\n")
    (tmp_path / "plain-1.0.dist-info").mkdir()
    (tmp_path / "file.egg-info").write_text("[oracle.tools]")
    assert not may_name(GROUPS, [str(tmp_path)])


def test_an_archive_may_hold_anything(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK")
    assert may_name(GROUPS, [str(tmp_path / "a.zip")])


def test_an_importer_that_knows_packages_of_its_own_is_asked(monkeypatch):
    class Importer:
        def find_distributions(self, context=None):
            return []

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Importer()])
    assert may_name(GROUPS, [])


def test_without_one_the_library_for_them_is_not_imported(tmp_path):
    code = (
        "import sys; from oracle.services.own_code.collecting import installed; "
        "print(installed('tools'), 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "() False\n", done.stderr
