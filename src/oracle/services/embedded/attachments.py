"""Plain facts about an attachment: it is counted and quoted, not judged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.embedded.response import counted, quoted
from oracle.services.quoting.kinds_of_lines import is_opening
from oracle.services.quoting.quotation import Quotation
from oracle.services.tools.answer import code

_DIFF: Final = lazy_pattern(r"^(?:diff --git |@@ -\d+)", re.M)
_ERROR: Final = lazy_pattern(
    r"\b(?:\w*error|\w*exception|fatal|panic(?:ked)?|failed|failure|fail)\b", re.I
)
# "0 errors" is not an error.
_HARMLESS: Final = lazy_pattern(r"\b(?:0|no) (?:errors?|failures?|failed)\b", re.I)
_WARNING: Final = lazy_pattern(r"\bwarn(?:ing)?\b", re.I)
_TRACEBACK: Final = "Traceback (most recent call last):"
_FRAME: Final = lazy_pattern(r'File "(?P<path>[^"\n]{1,300})", line (?P<line>\d{1,7})')
_PLACE: Final = lazy_pattern(r"(?P<path>[\w./-]{1,200}\.\w{1,5}):(?P<line>\d{1,7})\b")
_MOST_FILES: Final = 20
_SHOWN: Final = 6
_QUOTED_WHOLE: Final = 40
"""The longest file, in lines, that is quoted as it is."""
NO_JUDGEMENT: Final = "Whether it is right I cannot judge: I only count and quote."
_JUDGE: Final = lazy_pattern(
    r"\s*(?:please\s+|can you\s+|could you\s+)?(?:review|judge|criti\w+|assess|evaluate|rate|check|"
    r"proof-?read|improve|correct)\b",
    re.I,
)


def asks_to_judge(question: str) -> bool:
    """Whether it is an order to judge what is attached: its words are not to be searched for."""
    return _JUDGE.match(question) is not None


@dataclass(slots=True)
class _Changed:
    path: str
    added: int = 0
    removed: int = 0
    kind: str = "changed"


def facts_of(attachment: str, words: Sequence[str]) -> str:
    # A line end at the end of the text does not begin another line.
    lines = attachment.removesuffix("\n").split("\n")
    if _DIFF.search(attachment):
        return _diff_facts(lines)
    if _TRACEBACK in attachment or any(_is_error(line) for line in lines):
        return _log_facts(lines)
    return _text_facts(lines, words)


def about_file(file: Quotation) -> str:
    """The size and the lines of an attached file; of a long one what it defines, or its start."""
    if not any(line.strip() for line in file.lines):
        return f"{code(file.where)} is empty."
    lead = f"{code(file.where)} has {counted(len(file.lines), 'line')}."
    if len(file.lines) <= _QUOTED_WHOLE:
        return f"{lead}\n\n{quoted(file.lines, file.path)}"
    openings = [n for n, line in enumerate(file.lines) if is_opening(line)]
    if not openings:
        return f"{lead} It begins:\n\n{_quoted(file.lines[:_SHOWN])}"
    items = [f"- {code(file.place(n, n))}: {code(file.lines[n])}" for n in openings[:_MOST_FILES]]
    return f"{lead} It defines:\n\n" + "\n".join(items)


def places_in(attachment: str) -> list[tuple[str, int]]:
    """Files and lines that an error names, the innermost first; only paths inside the project."""
    frames = [(found["path"], int(found["line"])) for found in _FRAME.finditer(attachment)]
    if not frames and _DIFF.search(attachment) is None:
        frames = [(found["path"], int(found["line"])) for found in _PLACE.finditer(attachment)]
        # A compiler names the first error first; the next line reverses all frames.
        frames.reverse()
    inside = [(path, line) for path, line in reversed(frames) if not path.startswith(("/", "<"))]
    return list(dict.fromkeys(inside))[:2]


def _diff_facts(lines: Sequence[str]) -> str:
    changes = _changes(lines)
    added, removed = sum(c.added for c in changes), sum(c.removed for c in changes)
    lead = (
        f"The attached diff touches {counted(len(changes), 'file')}: "
        f"{counted(added, 'line')} added, {removed} removed."
    )
    items = [f"- {code(c.path)} ({c.kind}): +{c.added} −{c.removed}" for c in changes[:_MOST_FILES]]
    if len(changes) > _MOST_FILES:
        items.append(f"- and {counted(len(changes) - _MOST_FILES, 'more file')}")
    tests = [c for c in changes if re.search(r"(?:^|/)tests?[/_]|[._]test\.|\.spec\.", c.path)]
    with_tests = _count_of_tests(len(tests), len(changes))
    return "\n\n".join((lead, "\n".join(items), with_tests, NO_JUDGEMENT))


def _count_of_tests(tests: int, files: int) -> str:
    if files == 1:
        return "It is a test." if tests else "It is not a test."
    if not tests:
        return "None of them is a test."
    return f"{counted(tests, 'of them is a test', 'of them are tests')}."


def _changes(lines: Sequence[str]) -> list[_Changed]:
    changes: list[_Changed] = []
    in_hunk = False
    for line in lines:
        if line.startswith("diff --git "):
            changes.append(_Changed(path=line.rpartition(" b/")[2]))
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk = True
        elif not in_hunk and line.startswith("+++ "):
            _name(changes, line[4:])
        elif (
            changes and not in_hunk and line.startswith(("new file", "deleted file", "rename from"))
        ):
            changes[-1].kind = line.split(" ")[0].replace("rename", "renamed")
        elif in_hunk and changes:
            changes[-1].added += line.startswith("+")
            changes[-1].removed += line.startswith("-")
            # Any other line ends the hunk. Some programs strip the blank of an empty line.
            in_hunk = line.startswith(("+", "-", " ", "\\")) or not line
    return changes


def _name(changes: list[_Changed], name: str) -> None:
    """A diff that was not made by git has no `diff --git` line: there `+++` begins a file."""
    path = name.split("\t")[0].strip().removeprefix("b/")
    if not changes or changes[-1].added or changes[-1].removed:
        changes.append(_Changed(path=path))
    elif path != "/dev/null":
        changes[-1].path = path


def _log_facts(lines: Sequence[str]) -> str:
    raised = _raised(lines)
    errors = [n for n, line in enumerate(lines) if n in raised or _is_error(line)]
    warnings = sum(bool(_WARNING.search(line)) for line in lines)
    mentioning = counted(len(errors), "of them mentions", "of them mention")
    lead = (
        f"The attached text has {counted(len(lines), 'line')}; {mentioning} an error, "
        f"{warnings} a warning."
    )
    if not errors:
        head = next(n for n, line in enumerate(lines) if _TRACEBACK in line)
        part = _quoted(lines[head : head + _SHOWN])
        return f"{lead}\n\nA traceback begins at line {head + 1}:\n\n{part}"
    first = errors[0]
    parts = [lead, f"The first, line {first + 1}:", _quoted(lines[first : first + 2])]
    if raised and raised[0] != first:
        start = max(0, raised[0] - 2)
        parts += [f"What was raised, line {raised[0] + 1}:", _quoted(lines[start : raised[0] + 1])]
    return "\n\n".join(parts)


def _raised(lines: Sequence[str]) -> list[int]:
    """The last line of each traceback: the first line after its head that is not indented.

    Its exception may have any name, such as `TooManyRedirects`. What a log puts before the head of
    a traceback, it puts before each line of it.
    """
    found: list[int] = []
    prefix: str | None = None
    for number, line in enumerate(lines):
        before, head, _ = line.partition(_TRACEBACK)
        rest = line.removeprefix(prefix or "")
        if head:
            prefix = before
        elif prefix is not None and rest.strip() and not rest.startswith((" ", "\t")):
            found.append(number)
            prefix = None
    return found


def _text_facts(lines: Sequence[str], words: Sequence[str]) -> str:
    """The size, and the lines that have words of the question."""
    lead = f"The attached text has {counted(len(lines), 'line')}."
    found = [line for line in lines if any(word.lower() in line.lower() for word in words)]
    if found:
        which = counted(len(found), "of them has", "of them have") if len(lines) > 1 else "It has"
        return f"{lead} {which} words of the question:\n\n{_quoted(found[:_SHOWN])}"
    return f"{lead} It begins:\n\n{_quoted(lines[:_SHOWN])}"


def _quoted(lines: Sequence[str]) -> str:
    """Without empty lines at the end."""
    count = max((n for n, line in enumerate(lines, start=1) if line.strip()), default=0)
    return quoted(lines[:count])


def _is_error(line: str) -> bool:
    return bool(_ERROR.search(line)) and not _HARMLESS.search(line)
