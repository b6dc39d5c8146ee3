"""The diff of a work tree, also of a repository that nobody trusts."""

import base64
import hashlib
import os
import subprocess

import pytest

from oracle.errors import InputError
from oracle.services.attachments import git_diff as module
from oracle.services.attachments.git_diff import git_diff, is_revision

NOBODY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

PROGRAMS = (
    "filter.one.clean",
    "filter.one.process",
    "filter.one.smudge",
    "filter.a=b.clean",
    "diff.d.textconv",
    "diff.d.command",
    "diff.external",
    "core.fsmonitor",
    "core.pager",
)


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


BODY = [base64.b64encode(hashlib.sha384(bytes([number])).digest()).decode() for number in range(24)]
SAFE = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize("line", [0, 12, 23])
def test_a_hunk_inside_of_a_private_key_shows_none_of_it(repository, line):
    (repository / "b.py").write_text('KEY = """\n' + SAFE.format("\n".join(BODY)) + '"""\n')
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "key")
    changed = [*BODY[:line], BODY[line][::-1], *BODY[line + 1 :]]
    (repository / "b.py").write_text('KEY = """\n' + SAFE.format("\n".join(changed)) + '"""\n')
    found = diff_of(repository)
    assert found.had_secrets
    assert "+[redacted]" in found.text or "+[redacted: private key]" in found.text
    assert not [row for row in (*BODY, *changed) if row[:20] in found.text]


def test_a_changed_value_is_redacted_by_a_name_that_is_not_in_the_hunk(repository):
    entry = "kind: Secret\nmetadata:\n  name: db\n  labels:\n    a: b\n    c: d\ndata:\n  {}\n"
    (repository / "s.yaml").write_text(entry.format("host: aaaa\n  x: 1\n  y: 2\n  word: hunter"))
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "secret")
    (repository / "s.yaml").write_text(entry.format("host: aaaa\n  x: 1\n  y: 2\n  word: fisher"))
    found = diff_of(repository)
    assert "hunter" not in found.text
    assert "fisher" not in found.text


def test_settings_of_the_repository_do_not_change_the_form(repository):
    (repository / "a.py").write_text("".join(f"{n}\n\n" for n in range(20)))
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "lines")
    git(repository, "mv", "a.py", "b.py")
    (repository / "b.py").write_text("".join(f"{n}\n\n" for n in range(20) if n != 10))
    expected = diff_of(repository).text
    assert "rename from a.py" in expected
    settings = {
        "diff.context": "0",
        "diff.interHunkContext": "9",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.renames": "false",
        "diff.algorithm": "patience",
        "diff.suppressBlankEmpty": "true",
        "diff.colorMoved": "zebra",
        "color.diff": "always",
        "diff.relative": "true",
        "diff.orderFile": "x",
        "diff.wsErrorHighlight": "all",
    }
    for name, value in settings.items():
        git(repository, "config", name, value)
    assert diff_of(repository).text == expected


@pytest.mark.parametrize("revision", ["HEAD:a.py", "HEAD:none.py", "no/such", "HEAD..none"])
def test_what_is_not_a_revision_is_named_with_the_next_step(repository, revision):
    with pytest.raises(InputError, match=r"name one, such as|`git log --oneline`|see what `git"):
        diff_of(repository, revision)


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
