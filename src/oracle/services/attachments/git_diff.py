"""The changes of a git work tree, for `--diff`.

A repository may come from anybody, and git runs programs that its configuration names: filters,
diff drivers, a file-system monitor, hooks, and programs that fetch missing objects. None of these
is run here. Everything goes through one function that switches them off.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from oracle.errors import InputError, named
from oracle.lazy_dataclass import dataclass
from oracle.services.attachments.diff_redaction import redacted_diff
from oracle.services.project.diffs import without_secret_files
from oracle.services.project.secret_files import OURS, SecretFiles

SECONDS: Final = 20.0
MOST_NAMED: Final = 20
"""Untracked files that are listed by name."""
_MOST_BYTES_OF_NAMES: Final = 200_000
_CONTEXT: Final = "--unified=3"
_WHOLE_FILES: Final = "--unified=10000000"
_MOST_BYTES_OF_FILES: Final = 16_000_000
"""Of the changed files, which are redacted as a whole."""
# Programs that git would run, and options of the user that change the form of a diff.
_CONFIG: Final[Mapping[str, str]] = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "core.pager": "cat",
    "diff.external": "",
    "diff.orderFile": os.devnull,
    "diff.suppressBlankEmpty": "false",
    "protocol.allow": "never",
}
_DIFF: Final = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    # The configuration of a repository can change the form of a diff, so it is all stated here.
    "--patch",
    "--no-color",
    "--no-color-moved",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--find-renames",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--word-diff=none",
    "--ws-error-highlight=none",
    # A submodule has its own configuration. A look at its files would obey it.
    "--submodule=short",
    "--ignore-submodules=dirty",
)
# Variables that name another repository, or add to the configuration.
_DROPPED: Final = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_PAGER"),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS"),
)
_REVISION_SIGNS: Final = re.compile(r"[~^]|\.\.|@\{|/|\A[0-9a-f]{7,64}\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Diff:
    """`title` is the command that shows the same. `untracked` are files that git does not know.
    `had_secrets` means that lines were replaced because of other lines of their files. `earlier` is
    a revision that an empty diff could be taken against instead, if there is one.
    """

    title: str
    text: str
    had_secrets: bool = False
    untracked: Sequence[str] = ()
    earlier: str = ""


def git_diff(
    folder: Path, revision: str = "", *, most_bytes: int, secrets: SecretFiles = OURS
) -> Diff:
    """Changes of the work tree, staged or not, against `revision`, by default the last commit.

    A range such as `main..topic` compares two commits instead.
    """
    _check_revision(revision)
    work_tree = _work_tree(folder)
    # Without a commit there is no HEAD; everything is new.
    has_commit = _run(work_tree, ["rev-parse", "--verify", "--quiet", "HEAD"]).code == 0
    # If git cannot even hash the empty tree, the diff with HEAD fails too, and says why.
    against = revision or ("" if has_commit else _empty_tree(work_tree)) or "HEAD"
    config = {**_CONFIG, **_filters_off(work_tree)}
    command = [*_DIFF, _CONTEXT, against, "--"]
    out = _run(work_tree, command, config=config, most_bytes=most_bytes)
    title = f"git diff {revision or ('HEAD' if has_commit else '--cached')}"
    if out.is_cut:
        raise InputError(
            f"`{title}` has more than {most_bytes:,} bytes, which is too much for a model; "
            f'pipe a part of it: {title} -- src | oracle ask "…"'
        )
    if out.code:
        raise InputError(_why_it_failed(out, revision))
    command = [*_DIFF, _WHOLE_FILES, against, "--"]
    whole = _run(work_tree, command, config=config, most_bytes=_MOST_BYTES_OF_FILES)
    text = redacted_diff(out.text, whole.text)
    shown = without_secret_files(text, lambda path: secrets.rule_for(path) is not None)
    untracked = () if ".." in revision else tuple(_untracked(work_tree, secrets))
    return Diff(
        title=title,
        text=shown,
        had_secrets=text != out.text,
        untracked=untracked,
        earlier="" if shown.strip() else _earlier(work_tree, against),
    )


def is_revision(text: str, folder: Path) -> bool:
    """Whether `--diff TEXT` names a revision. A word of a question does not.

    What has the form of a revision counts as one, so that a misspelt one is reported.
    """
    if not text or text.startswith("-") or any(letter.isspace() for letter in text):
        return False
    if _REVISION_SIGNS.search(text):
        return not text.endswith("?") and not text.startswith("@")
    try:
        verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}"]
        return _run(_work_tree(folder), verify).code == 0
    except InputError:
        return False


def _check_revision(revision: str) -> None:
    if revision.startswith("-") or "\0" in revision or "\n" in revision:
        raise InputError(f"--diff {named(revision)} is not a revision; name one, such as HEAD~1")


def _work_tree(folder: Path) -> Path:
    """The folder that holds `.git`. It is not asked of git: the configuration could name another
    one, such as the user's home.
    """
    folder = Path(os.path.realpath(folder))
    for each in (folder, *folder.parents):
        if os.path.lexists(each / ".git"):
            return each
    raise InputError(f"--diff needs a git repository, and {folder} is not in one; attach files: -f")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Output:
    code: int
    text: str
    errors: str
    is_cut: bool = False


def _filters_off(work_tree: Path) -> dict[str, str]:
    """The user's own filters (git-lfs) stay; those of the repository's configuration are emptied.

    Its attributes can apply a filter to any file, and git runs it to compare the file.
    """
    pattern = r"^filter\..*\.(clean|process|smudge)$"
    listing = ["config", "--show-scope", "--includes", "--null", "--name-only", "--get-regexp"]
    out = _run(work_tree, [*listing, pattern], most_bytes=_MOST_BYTES_OF_NAMES)
    if out.is_cut:
        raise InputError("--diff: the repository's git configuration is too large; pipe the diff")
    fields = out.text.split("\0")
    off: dict[str, str] = {}
    for scope, key in zip(fields[::2], fields[1::2], strict=False):
        if scope in ("local", "worktree"):
            driver = key.rpartition(".")[0]
            off |= {f"{driver}.clean": "", f"{driver}.process": "", f"{driver}.required": "false"}
    return off


def _run(
    work_tree: Path,
    arguments: Sequence[str],
    *,
    config: Mapping[str, str] = _CONFIG,
    most_bytes: int = 10_000,
) -> _Output:
    # No pager and no prompt; `--work-tree` overrides a configured one.
    command = ["git", "--no-pager", f"--work-tree={work_tree}", *arguments]
    # Errors go to a file: a second pipe could be full while the first one is read.
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=work_tree,
                env=_environment(config),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        except OSError as problem:
            reason = problem.strerror
            raise InputError(f"--diff needs git, which cannot be run: {reason}") from problem
        data, code = _read(process, most_bytes)
        errors.seek(0)
        return _Output(
            code=code,
            text=data[:most_bytes].decode(errors="replace"),
            errors=errors.read(10_000).decode(errors="replace"),
            is_cut=len(data) > most_bytes,
        )


def _read(process: subprocess.Popen[bytes], most_bytes: int) -> tuple[bytes, int]:
    assert process.stdout is not None
    with process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        try:
            data = process.stdout.read(most_bytes + 1)
            if len(data) > most_bytes:
                process.kill()
            code = process.wait()
        finally:
            is_late = not timer.is_alive()
            timer.cancel()
            process.kill()
    if is_late:
        raise InputError(
            f"git did not end within {SECONDS:g} s; pipe the diff instead: "
            'git diff | oracle ask "…"'
        )
    return data, code


def _environment(config: Mapping[str, str]) -> dict[str, str]:
    """The configuration goes in variables: a name with `=` in it cannot be given with `-c`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
    return {
        **kept,
        **dict(_numbered(config)),
        "GIT_CONFIG_COUNT": str(len(config)),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }


def _numbered(config: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for number, (key, value) in enumerate(config.items()):
        yield f"GIT_CONFIG_KEY_{number}", key
        yield f"GIT_CONFIG_VALUE_{number}", value


def _empty_tree(work_tree: Path) -> str:
    """Its hash depends on the hash function of the repository."""
    return _run(work_tree, ["hash-object", "-t", "tree", os.devnull]).text.strip()


def _earlier(work_tree: Path, revision: str) -> str:
    """The commit before; empty if there is none."""
    before = f"{revision}~1"
    verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", before]
    return before if _run(work_tree, verify).code == 0 else ""


def _untracked(work_tree: Path, secrets: SecretFiles) -> Iterator[str]:
    """Without those that hold secrets, which cannot be attached either."""
    listing = ["ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory"]
    out = _run(work_tree, [*listing, "-z"], most_bytes=_MOST_BYTES_OF_NAMES)
    names = (name for name in out.text.split("\0") if name not in ("", ".oracle/"))
    yield from (name for name in names if secrets.rule_for(name) is None)


def _why_it_failed(out: _Output, revision: str) -> str:
    if "unknown revision" in out.errors or "bad revision" in out.errors:
        return f"--diff: git knows no revision {named(revision)}; `git log --oneline` lists some"
    reason = next(iter(out.errors.strip().splitlines()), "no reason given")
    # git prints its usage if it takes the revision for a file, such as `HEAD:a.txt`.
    if reason.startswith("usage:"):
        return f"--diff {named(revision)} is not a revision; name one, such as HEAD~1"
    reason = reason.removeprefix("fatal: ").removeprefix("error: ")[:200]
    return f"--diff: git failed: {reason}; see what `git diff {revision or 'HEAD'}` says"
