"""Redacts a diff by its files: a hunk may show the middle of a secret, whose frame is not in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.attachments.hunks import DiffLine, Hunk, hunks_of
from oracle.services.project.redaction import redact

_REDACTED: Final = "[redacted]"
_MOST_CHARACTERS: Final = 3_000_000
"""So many are redacted, which takes a few seconds. Then only files with one of these marks are."""
_MARKS: Final = ("PRIVATE KEY", "PuTTY-User-Key-File", "kind: Secret")
# A shorter line may be on many lines of a file, such as `"""`.
_SHORTEST: Final = 8

_Files = tuple[str, str]


@dataclass(kw_only=True, slots=True)
class _Secrets:
    """Lines of one file that redaction changes: by side and number, and by their text."""

    numbered: dict[tuple[str, int], tuple[str, str]] = field(
        default_factory=dict[tuple[str, int], tuple[str, str]]
    )
    texts: dict[str, str] = field(default_factory=dict[str, str])

    def replacement(self, line: DiffLine) -> str | None:
        for side, number in (("new", line.new), ("old", line.old)):
            raw, clean = self.numbered.get((side, number), ("", ""))
            if number and raw == line.text != "":
                return clean
        # The file may have been changed between the two diffs.
        return self.texts.get(line.text)


def redacted_diff(diff: str, whole: str) -> str:
    """`diff` without the lines that redaction removes from its files. `whole` is the same diff with
    all lines of its files, so that both sides of each file can be redacted as a whole.
    """
    secrets = _secrets_in(whole)
    if not secrets:
        return diff
    lines = diff.split("\n")
    for hunk in hunks_of(tuple(lines)):
        if known := secrets.get((hunk.old_path, hunk.new_path)):
            _clean(lines, hunk, known)
    return "\n".join(lines)


def _clean(lines: list[str], hunk: Hunk, secrets: _Secrets) -> None:
    for line in hunk.lines:
        clean = secrets.replacement(line)
        if clean is not None:
            lines[line.at] = lines[line.at][:1] + (clean or _REDACTED)
    # After its frame git quotes the beginning of a line above the hunk.
    quoted = lines[hunk.at][len(hunk.frame) :].strip()
    if quoted and any(text.strip().startswith(quoted) for text in secrets.texts):
        lines[hunk.at] = hunk.frame


def _secrets_in(whole: str) -> dict[_Files, _Secrets]:
    found: dict[_Files, _Secrets] = {}
    left = _MOST_CHARACTERS
    for hunk in hunks_of(whole.split("\n")):
        for side, numbered in _sides(hunk):
            text = "\n".join(line for _, line in numbered)
            left -= len(text)
            if left < 0 and not any(mark in text for mark in _MARKS):
                continue
            known = found.setdefault((hunk.old_path, hunk.new_path), _Secrets())
            for (number, raw), clean in zip(numbered, redact(text).split("\n"), strict=True):
                if raw != clean:
                    known.numbered[side, number] = (raw, clean)
                    if len(raw.strip()) >= _SHORTEST:
                        known.texts[raw] = clean
    return {files: known for files, known in found.items() if known.numbered}


def _sides(hunk: Hunk) -> Iterator[tuple[str, Sequence[tuple[int, str]]]]:
    """A new file has no old side, and a deleted one no new side."""
    if old := [(line.old, line.text) for line in hunk.lines if line.old]:
        yield "old", old
    if new := [(line.new, line.text) for line in hunk.lines if line.new]:
        yield "new", new
