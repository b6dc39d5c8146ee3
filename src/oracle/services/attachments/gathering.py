"""Everything that a question brings with it, read once and bounded together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final

from oracle.errors import InputError, named
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.services.attachments.git_diff import MOST_NAMED, Diff, git_diff
from oracle.services.attachments.reading import AttachedFile, read_attached
from oracle.services.attachments.references import (
    FileReference,
    Reach,
    folders_in,
    others_in,
    reference,
    references_in,
)
from oracle.services.citations.record import Lines, merged
from oracle.services.project.redaction import redact

MOST_BYTES: Final = 500_000
"""For all that is attached to one question, piped text included."""
MOST_FILES: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Attachments:
    """`notes` are for the user: what was not attached, and why. `had_secrets` means that something
    was removed from the text.
    """

    sources: Sequence[Source] = ()
    notes: Sequence[str] = ()
    had_secrets: bool = False

    @property
    def names(self) -> list[str]:
        return [source["where"] for source in self.sources]

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(len(source["text"].encode(errors="replace")) for source in self.sources)


def check_size(what: str, size: int) -> None:
    """Raise `InputError` for a text of so many bytes that is too large to be attached."""
    if size > MOST_BYTES:
        raise InputError(
            f"{what} has {size:,} bytes, and all attachments together may have {MOST_BYTES:,}; "
            "attach the part that matters"
        )


def joined(one: Attachments, other: Attachments) -> Attachments:
    """Both, with no place twice."""
    sources = {source["where"]: source for source in (*one.sources, *other.sources)}
    return Attachments(
        sources=list(sources.values()),
        notes=list(dict.fromkeys([*one.notes, *other.notes])),
        had_secrets=one.had_secrets or other.had_secrets,
    )


@dataclass(kw_only=True, slots=True)
class _Wanted:
    """One file, read once, and the ranges of lines that are wanted of it."""

    file: AttachedFile
    ranges: list[Lines] = field(default_factory=list[Lines])


def gather(
    question: str = "",
    *,
    reach: Reach,
    files: Iterable[str] = (),
    diff: str | None = None,
    piped_bytes: int = 0,
) -> Attachments:
    """Read the `files` (`a.py`, `a.py:10-40`), those that the question names with `@`, and the
    `diff` against a revision (empty for the last commit).

    Raises `InputError` for a file that cannot be attached. `piped_bytes` count for the limit.
    """
    mentioned, unknown = references_in(question, reach)
    notes = [f"there is no file {name}, so @{name} is sent as text" for name in unknown]
    notes += [
        f"{name} is a folder, so @{name} is sent as text; the project is searched anyway, or "
        "attach files, one by one"
        for name in folders_in(question, reach)
    ]
    notes += [
        f"{name} is {kind}, so @{name} is sent as text"
        for name, kind in others_in(question, reach).items()
    ]
    references = [*(reference(text, reach) for text in files), *mentioned]
    wanted = _read(references, reach)
    budget = _Budget(left=MOST_BYTES - piped_bytes)
    sources = [
        budget.take(each.file.source(first, last))
        for each in wanted
        for first, last in merged(each.ranges)
    ]
    notes += [f"{each.file.text.path} is empty" for each in wanted if not each.file.text.lines]
    had_secrets = any(each.file.had_secrets for each in wanted)
    if diff is not None:
        changes = git_diff(
            reach.folder, diff, most_bytes=max(1, budget.left), secrets=reach.secrets
        )
        source = _source_of(changes)
        had_secrets |= changes.had_secrets or redact(source["text"]) != source["text"]
        sources.append(source)
        notes += _note_of_untracked(changes)
    return Attachments(sources=sources, notes=notes, had_secrets=had_secrets)


def _read(references: Sequence[FileReference], reach: Reach) -> list[_Wanted]:
    """Each file is read once, so that two ranges of it are of the same content."""
    if len(references) > MOST_FILES:
        raise InputError(
            f"{len(references)} files are attached, more than {MOST_FILES}; name fewer, or ask "
            "about the folder: the project is searched anyway"
        )
    read: dict[Path, AttachedFile] = {}
    found: dict[str, _Wanted] = {}
    for each in references:
        if each.path not in read:
            read[each.path] = read_attached(each.path, reach, part=_part(each))
        file = read[each.path]
        wanted = found.setdefault(file.text.path, _Wanted(file=file))
        wanted.ranges.append(_range(each, len(file.text.lines)))
    return list(found.values())


def _part(wanted: FileReference) -> str:
    """The command that prints the lines that are wanted, for a file that is too large."""
    if wanted.first is None:
        return "tail -n 500"
    if wanted.last is None:
        return f"sed -n '{wanted.first},$p'"
    return f"sed -n {wanted.first},{wanted.last}p"


def _range(wanted: FileReference, total: int) -> Lines:
    first = wanted.first or 1
    if wanted.first is None or total == 0:
        return 1, max(1, total)
    if first > total:
        raise InputError(
            f"{named(wanted.text)}: the file has only {total} line{'' if total == 1 else 's'}; "
            "leave out the lines to attach all of it"
        )
    return first, total if wanted.last is None else min(wanted.last, total)


@dataclass(kw_only=True, slots=True)
class _Budget:
    left: int

    def take(self, source: Source) -> Source:
        size = len(source["text"].encode(errors="replace"))
        if size > self.left:
            path = source.get("path", source["where"])
            raise InputError(
                f"{named(source['where'])} has {size:,} bytes, and all attachments together may "
                f"have {MOST_BYTES:,}; attach some of its lines, such as {path}:1-200"
            )
        self.left -= size
        return source


def _source_of(diff: Diff) -> Source:
    if not diff.text.strip():
        raise InputError(_nothing_changed(diff))
    text = diff.text.rstrip("\n")
    if diff.untracked:
        text += f"\n\nUntracked files, which are not in this diff: {_listed(diff.untracked)}"
    return Source(kind="diff", where=diff.title, text=text)


def _nothing_changed(diff: Diff) -> str:
    if diff.untracked:
        return (
            f"`{diff.title}` is empty; there are only untracked files: {_listed(diff.untracked)}. "
            "Attach those that are text with -f, or `git add -N` them"
        )
    step = f"name a revision: --diff {diff.earlier}" if diff.earlier else "attach files with -f"
    return f"`{diff.title}` is empty: nothing has changed; {step}"


def _note_of_untracked(diff: Diff) -> list[str]:
    if not diff.untracked:
        return []
    return [f"untracked files are not in the diff: {_listed(diff.untracked, 3)}"]


def _listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
