"""Names are matched once: a decision holds until the rules change, and no longer."""

import pytest

from oracle.services.project.secret_files import SecretFiles
from oracle.services.project.walk import Walk
from oracle.services.project.walk_memory import LEFT_OUT_BEFORE, FolderDecisions, WalkMemory

FILES = ("a.py", "b.part", "pkg/c.py", "pkg/d.part", "pkg/deep/e.py", "notes/f.md", "uv.lock")


def walked(root, earlier=None, **options):
    """The paths found, the reasons for the others, and the memory for the next walk."""
    memory = WalkMemory(earlier or {})
    reasons = {}
    files = Walk(root=root, **options).files_to_index(reasons.__setitem__, memory=memory)
    paths = [each.path for each in files]
    kept = {prefix: each for prefix, each in (earlier or {}).items() if prefix not in memory.gone()}
    return paths, reasons, kept | {each.prefix: each for each in memory.changed()}


@pytest.fixture
def planted(project):
    project.write(".gitignore", "*.part\n")
    for path in FILES:
        project.write(path, "text\n")
    return project


def test_a_second_walk_finds_the_same_and_decides_nothing(planted):
    first, reasons, decided = walked(planted.root)
    second, again, still = walked(planted.root, decided)
    assert (first, reasons.keys()) == (second, again.keys())
    assert set(again.values()) == {LEFT_OUT_BEFORE}
    assert still == decided


def test_an_index_keeps_the_decisions_and_stores_only_new_ones(planted):
    catalogue = planted.indexed()._storage.current.catalogue
    planted.write("pkg/new.py", "text\n")
    memory = catalogue.walk_memory()
    list(Walk(root=planted.root).files_to_index(memory=memory))
    assert [each.prefix for each in memory.changed()] == ["pkg/"]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".gitignore", "c.py\n"),
        (".gitignore", "pkg/\n"),
        (".gitignore", None),
        (".oracleignore", "notes\n"),
        ("pkg/.gitignore", "!d.part\nc.py\n"),
        ("pkg/deep/.oracleignore", "e.py\n"),
        (".git/info/exclude", "a.py\n"),
        ("pkg/pyvenv.cfg", "home = x\n"),
    ],
)
def test_a_changed_rule_counts_for_names_that_were_decided(planted, path, content):
    _, _, decided = walked(planted.root)
    if content is None:
        (planted.root / path).unlink()
    else:
        planted.write(path, content)
    expected = walked(planted.root)[0]
    found, _, later = walked(planted.root, decided)
    assert found == expected
    assert walked(planted.root, later)[0] == expected


@pytest.mark.parametrize("options", [{"secrets": SecretFiles(added=("c.py",))}, {"kept": ("pkg",)}])
def test_other_settings_decide_anew(planted, options):
    _, _, decided = walked(planted.root)
    expected = walked(planted.root, **options)[0]
    assert walked(planted.root, decided, **options)[0] == expected
    assert expected != walked(planted.root)[0]


def test_a_folder_in_the_place_of_a_file_is_decided_as_a_folder(project):
    project.write(".gitignore", "thing/\n")
    project.write("thing", "text\n")
    _, _, decided = walked(project.root)
    (project.root / "thing").unlink()
    project.write("thing/a.py", "text\n")
    assert walked(project.root, decided)[0] == [".gitignore"]


def test_a_known_name_that_has_become_a_link_is_left_out(planted):
    _, _, decided = walked(planted.root)
    (planted.root / "a.py").unlink()
    (planted.root / "a.py").symlink_to(planted.root / "pkg/c.py")
    paths, reasons, _ = walked(planted.root, decided)
    assert "a.py" not in paths
    assert "symbolic link" in reasons["a.py"]


def test_decisions_come_back_from_a_row_as_they_were():
    for taken, left_out in (
        (set(), set()),
        ({"a b.py", "c\n.py", "\udce9.py"}, set()),
        (set(), {"d/"}),
    ):
        each = FolderDecisions(
            prefix="p/", rules=b"r", taken=frozenset(taken), left_out=frozenset(left_out)
        )
        assert FolderDecisions.from_row(each.as_row()) == each


def test_a_removed_folder_is_forgotten(planted):
    _, _, decided = walked(planted.root)
    (planted.root / "notes/f.md").unlink()
    (planted.root / "notes").rmdir()
    assert "notes/" in decided
    assert "notes/" not in walked(planted.root, decided)[2]
