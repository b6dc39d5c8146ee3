"""The diff of a work tree, also of a repository that nobody trusts."""

import os
import subprocess

import pytest

from oracle.errors import InputError
from oracle.services.attachments import git_diff as module
from oracle.services.attachments.git_diff import git_diff, is_revision

NOBODY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    env = {**os.environ, **NOBODY}
    command = ["git", *who, *arguments]
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("one\ntwo\n")
    (tmp_path / ".env").write_text("KEY=old\n")
    git(tmp_path, "add", "-f", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def diff_of(folder, revision="", most_bytes=500_000):
    return git_diff(folder, revision, most_bytes=most_bytes)


def test_staged_and_other_changes_are_in_it(repository):
    (repository / "a.py").write_text("one\n2\n")
    (repository / "b.py").write_text("new\n")
    git(repository, "add", "b.py")
    found = diff_of(repository)
    assert found.title == "git diff HEAD"
    assert "-two\n+2" in found.text
    assert "+new" in found.text


def test_it_may_be_against_a_revision_or_between_two(repository):
    (repository / "a.py").write_text("one\n2\n")
    git(repository, "commit", "-qam", "second")
    assert diff_of(repository).text == ""
    assert "+2" in diff_of(repository, "HEAD~1").text
    assert "-2" in diff_of(repository, "HEAD..HEAD~1").text


def test_the_folder_may_be_below_the_root(repository):
    (repository / "src").mkdir()
    (repository / "a.py").write_text("one\n")
    assert "a/a.py" in diff_of(repository / "src").text


def test_lines_of_files_with_secrets_are_left_out(repository):
    (repository / ".env").write_text("KEY=new\n")
    assert "new\n" not in diff_of(repository).text


def test_a_repository_without_commits_shows_what_is_staged(tmp_path):
    git(tmp_path, "init", "-q")
    assert diff_of(tmp_path).text == ""
    (tmp_path / "a.py").write_text("x\n")
    assert diff_of(tmp_path).untracked == ("a.py",)
    git(tmp_path, "add", "a.py")
    assert "+x" in diff_of(tmp_path).text


@pytest.mark.parametrize("revision", ["--output=x", "-p", "--no-index"])
def test_options_are_not_revisions(repository, revision):
    with pytest.raises(InputError, match="is not a revision"):
        diff_of(repository, revision)
    assert not is_revision(revision, repository)


def test_an_unknown_revision_is_named(repository):
    with pytest.raises(InputError, match="git knows no revision 'HAED~1'"):
        diff_of(repository, "HAED~1")


def test_a_folder_without_git_is_named(tmp_path):
    with pytest.raises(InputError, match="needs a git repository"):
        diff_of(tmp_path)


def test_a_huge_diff_is_refused_and_not_read_to_its_end(repository):
    (repository / "a.py").write_text("x" * 79 + "\n" + "y\n" * 1_500_000)
    with pytest.raises(InputError, match="more than 500,000 bytes"):
        diff_of(repository)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HEAD", True),
        ("main", True),
        ("HEAD~1", True),
        ("main..topic", True),
        ("origin/none", True),
        ("is", False),
        ("is this safe?", False),
        ("safe?", False),
        ("@a.py", False),
        ("src/a.py?", False),
        ("", False),
    ],
)
def test_a_word_of_the_question_is_not_a_revision(repository, text, expected):
    assert is_revision(text, repository) is expected


def test_no_program_of_the_repository_is_run(repository):
    """Filters, also with odd names, a diff driver, a monitor, hooks, and another work tree."""
    evil = repository / "evil.sh"
    mark = repository / "was-run"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    evil.chmod(0o755)
    for key in [
        "filter.one.clean",
        "filter.one.process",
        "filter.a=b.clean",
        "filter.one.smudge",
        "diff.d.textconv",
        "diff.d.command",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
    ]:
        git(repository, "config", key, str(evil))
    git(repository, "config", "filter.one.required", "true")
    git(repository, "config", "core.worktree", str(repository.parent))
    (repository / ".gitattributes").write_text("*.py filter=one diff=d\n*.txt filter=a=b\n")
    hooks = repository / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").symlink_to(evil)
    (repository / "a.py").write_text("changed\n")
    assert "+changed" in diff_of(repository).text
    assert not mark.exists()


def test_a_changed_submodule_is_a_line_and_its_files_are_not_looked_at(repository, tmp_path):
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "x").write_text("1")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "x")
    git(repository, "add", "inner")
    git(repository, "commit", "-qm", "with inner")
    (inner / "x").write_text("2")
    assert diff_of(repository).text == ""
    git(inner, "commit", "-qam", "y")
    assert "+Subproject commit" in diff_of(repository).text


def test_git_that_does_not_end_is_ended(repository, monkeypatch):
    program = repository / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(module, "SECONDS", 0.1)
    with pytest.raises(InputError, match="did not end within"):
        diff_of(repository)


def test_without_git_the_message_says_so(repository, monkeypatch):
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(InputError, match="needs git"):
        diff_of(repository)
