"""A project's own code is read, but it is run only if the user trusts its content."""

import os

import pytest

from oracle.services.own_code.collecting import load_leaves, load_tools
from oracle.services.own_code.files import find_code
from oracle.services.own_code.trust import remember_trust, trust_in
from tests.services.own_code.projects import TOOL, project_with, trust_all

LOUD = "raise AssertionError('it was run')"


def names(own):
    return [brought.tool.name for brought in own.tools]


def test_code_that_nobody_trusts_is_not_run(tmp_path):
    own = load_tools(project_with(tmp_path / "p", tools__a=LOUD), {})
    assert own.tools == ()
    (problem,) = own.problems
    assert problem.startswith(
        "not used, because you have not trusted this code: .oracle/tools/a.py;"
    )
    assert "`oracle tools trust`" in problem
    assert f"ORACLE_TRUST={tmp_path}/p@" in problem


def test_trusted_code_is_used_until_it_changes(tmp_path):
    root = project_with(tmp_path / "p", tools__a=TOOL)
    trust_all(root)
    assert names(load_tools(root, {})) == ["search_tickets"]
    (root / ".oracle/tools/b.py").write_text(LOUD)
    own = load_tools(root, {})
    assert names(own) == ["search_tickets"]
    assert "this code: .oracle/tools/b.py;" in own.problems[0]
    (root / ".oracle/tools/a.py").write_text(TOOL + "\n")
    assert names(load_tools(root, {})) == []


def test_content_that_comes_back_is_trusted_again(tmp_path):
    root = project_with(tmp_path / "p", tools__a=TOOL)
    trust_all(root)
    (root / ".oracle/tools/a.py").write_text(LOUD)
    assert trust_in(find_code(root), {}) == {".oracle/tools/a.py": "unknown"}
    (root / ".oracle/tools/a.py").write_text(TOOL)
    assert trust_in(find_code(root), {}) == {".oracle/tools/a.py": "trusted"}


def test_the_same_content_in_another_project_is_not_trusted(tmp_path):
    trust_all(project_with(tmp_path / "p", tools__a=TOOL))
    other = project_with(tmp_path / "q", tools__a=TOOL)
    assert names(load_tools(other, {})) == []


def test_a_project_that_is_opened_through_a_link_is_the_same_one(tmp_path):
    root = project_with(tmp_path / "p", tools__a=TOOL)
    (tmp_path / "link").symlink_to(root)
    trust_all(tmp_path / "link")
    assert names(load_tools(root, {})) == ["search_tickets"]
    assert names(load_tools(tmp_path / "link", {})) == ["search_tickets"]


def test_a_refusal_is_remembered_and_not_mentioned_again(tmp_path):
    root = project_with(tmp_path / "p", tools__a=LOUD)
    remember_trust(find_code(root), "refused", [".oracle/tools/a.py"])
    assert load_tools(root, {}).problems == ()


@pytest.mark.parametrize(
    ("trusts", "is_used"),
    [("{root}", True), ("{root}@{digest}", True), ("{root}@0123", False), ("/else", False)],
)
def test_the_variable_counts_as_well(tmp_path, trusts, is_used):
    root = project_with(tmp_path / "p", tools__a=TOOL)
    listed = trusts.format(root=root, digest=find_code(root).digest)
    assert bool(load_tools(root, {"ORACLE_TRUST": listed}).tools) is is_used


def test_what_was_said_counts_where_nothing_can_be_kept(tmp_path, monkeypatch):
    root = project_with(tmp_path / "p", tools__a=TOOL)
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(file))
    with pytest.raises(Exception, match="cannot be written"):
        trust_all(root)
    assert names(load_tools(root, {})) == ["search_tickets"]


def test_odd_files_are_named_and_not_used(tmp_path):
    root = project_with(tmp_path / "p", tools__good=TOOL)
    folder = root / ".oracle/tools"
    os.mkfifo(folder / "pipe.py")
    (folder / "folder.py").mkdir()
    (folder / "big.py").write_text("#" * 1_000_001)
    (folder / "my-tool.py").write_text(TOOL)
    (tmp_path / "outside.py").write_text(TOOL)
    (folder / "out.py").symlink_to(tmp_path / "outside.py")
    (folder / "lost.py").symlink_to(tmp_path / "nowhere.py")
    (folder / ".hidden.py").write_text(TOOL)
    (folder / "notes.txt").write_text("no code")
    code = find_code(root)
    assert [file.name for file in code.files] == [".oracle/tools/good.py"]
    told = " | ".join(code.problems)
    for part in (
        "big.py is not used: it is larger",
        "folder.py is not used: it is a folder",
        "pipe.py is not used: it is a pipe",
        "my-tool.py is not used: its name is not a Python name; rename it",
        "out.py is not used: it is a link that leads out of the project",
        "lost.py is not used: it is a link that leads out",
    ):
        assert part in told


def test_a_link_inside_of_the_project_is_read(tmp_path):
    root = project_with(tmp_path / "p", tools__good=TOOL)
    (root / "mine.py").write_text(TOOL)
    (root / ".oracle/tools/good.py").unlink()
    (root / ".oracle/tools/good.py").symlink_to(root / "mine.py")
    assert len(find_code(root).files) == 1


def test_leaves_need_the_same_trust(tmp_path):
    root = project_with(tmp_path / "p", leaves__a=LOUD)
    assert "this code: .oracle/leaves/a.py;" in load_leaves(root, {}).problems[0]
    assert load_tools(root, {}).problems == ()
