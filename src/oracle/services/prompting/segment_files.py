"""Reads prompt segments: the built-in ones of `prompts/oracle/`, and a project's own.

A project's file with the id of a built-in segment replaces that segment. Priority and conditions
that its front matter does not give stay those of the built-in one. Any other id adds a segment.
A file that cannot be used raises `PromptFileError`, because a prompt without it would be wrong and
nobody would notice.
"""

from __future__ import annotations

import errno
import json
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from oracle.errors import PromptFileError
from oracle.models.prompt_segment import (
    ALWAYS,
    FULL_CONTRACT,
    LARGE_CONTEXT,
    ONE_PART,
    PLAIN_LOOP,
    PREVIOUS_ERRORS,
    SHORT_CONTRACT,
    PromptSegment,
    query_type_is,
)
from oracle.models.query_classification import QueryType
from oracle.models.signals import SignalType
from oracle.regular_file import NotRegular, read_regular
from oracle.services.prompting.front_matter import read_front_matter
from oracle.services.prompting.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from oracle.services.prompting.front_matter import FrontMatter

CONTRACTS = ("signals", "signals-short")
"""The two forms of the contract about signals. Every prompt has one of them."""
REQUIRED = ("base", "signals", "tools")
LISTS_TOOLS = ("tools", "plain")
TOOLS_PLACEHOLDER = "{{tools}}"
CHOICES_PLACEHOLDER = "{{choices}}"

# What a project's own `signals` segment must contain for the model to use every signal.
_SIGNAL_WORDS = ("<signal", *SignalType)

# Bytes. More than the token budget could ever hold; such a file is there by mistake.
_LARGEST_FILE = 64 * 1024
# After all built-in segments, so that the beginning of the prompt stays the same.
_PRIORITY_OF_ADDITIONS = 50

# Id, file, priority, condition.
_REGISTRY = (
    ("base", "base.md", 0, ALWAYS),
    ("signals", "signals.md", 1, FULL_CONTRACT),
    ("signals-short", "signals-short.md", 1, SHORT_CONTRACT),
    ("tools", "tools-reference.md", 2, ALWAYS),
    ("code", "code-analysis.md", 10, query_type_is(QueryType.CODE)),
    ("docs", "documentation.md", 10, query_type_is(QueryType.DOCUMENTATION)),
    ("research", "research.md", 10, query_type_is(QueryType.RESEARCH)),
    ("conversation", "conversation.md", 10, query_type_is(QueryType.CONVERSATIONAL)),
    ("actions", "actions.md", 10, query_type_is(QueryType.ACTION)),
    ("summarization", "summarization.md", 20, LARGE_CONTEXT),
    ("error-recovery", "error-recovery.md", 21, PREVIOUS_ERRORS),
    ("part", "part.md", 30, ONE_PART),
    ("plain", "plain.md", 40, PLAIN_LOOP),
)


OWN_SEGMENTS = frozenset(id_ for id_, _, _, condition in _REGISTRY if "=" in condition)
"""The segments that say how a question of one type is answered."""


@cache
def built_in_segments() -> tuple[PromptSegment, ...]:
    known = json.loads((files("oracle") / "services/prompting/segment_tokens.json").read_bytes())
    return tuple(
        _segment(id_, text, priority, (condition,), tokens=known.get(fingerprint(text)))
        for id_, text, priority, condition in _built_in_texts()
    )


def counted_tokens() -> dict[str, int]:
    """What `segment_tokens.json` should be. Counting takes longer than the rest of a start."""
    return {fingerprint(text): estimate_tokens(text) for _, text, _, _ in _built_in_texts()}


def fingerprint(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _built_in_texts() -> Iterator[tuple[str, str, int, str]]:
    folder = files("oracle") / "prompts" / "oracle"
    for id_, name, priority, condition in _REGISTRY:
        yield id_, (folder / name).read_text(encoding="utf-8"), priority, condition


def load_segments(
    folder: Path, *, problem_of: Callable[[Path], str | None] = lambda _: None
) -> tuple[PromptSegment, ...]:
    """The built-in segments and a project's own: every `*.md` in the folder that is not hidden.

    The folder is read at each call. A folder that does not exist adds nothing. `problem_of` says
    why a file must not be read.
    """
    segments = {segment.id: segment for segment in built_in_segments()}
    origins: dict[str, str] = {}
    for path in _markdown_files(folder):
        if reason := problem_of(path):
            raise PromptFileError(f"not read: {reason}; move it elsewhere", file=str(path))
        matter = read_front_matter(_text(path), file=str(path))
        _check(matter, path, origins)
        origins[matter.id] = path.name
        segments[matter.id] = _project_segment(matter, segments.get(matter.id), path)
    return tuple(segments.values())


def _markdown_files(folder: Path) -> list[Path]:
    try:
        names = sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as cause:
        raise _unreadable(folder, cause) from cause
    return [
        folder / name for name in names if name.lower().endswith(".md") and not name.startswith(".")
    ]


def _text(path: Path) -> str:
    try:
        data = read_regular(path, _LARGEST_FILE + 1)
        if len(data) > _LARGEST_FILE:
            advice = f"{path.stat().st_size} bytes are more than {_LARGEST_FILE}; shorten it"
            raise PromptFileError(advice, file=str(path))
        # `-sig`: some editors write a byte order mark.
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as cause:
        line = cause.object[: cause.start].count(b"\n") + 1
        raise PromptFileError("not UTF-8; save it as UTF-8", file=str(path), line=line) from cause
    except OSError as cause:
        # The last two: a link that leads nowhere, or to itself.
        if isinstance(cause, NotRegular) or cause.errno in (errno.ENOENT, errno.ELOOP):
            advice = "not a regular file; move it elsewhere"
            raise PromptFileError(advice, file=str(path)) from None
        raise _unreadable(path, cause) from cause


def _unreadable(path: Path, cause: OSError) -> PromptFileError:
    return PromptFileError(f"cannot be read ({cause.strerror}); check it", file=str(path))


def _check(matter: FrontMatter, path: Path, origins: dict[str, str]) -> None:
    def error(message: str) -> PromptFileError:
        return PromptFileError(message, file=str(path))

    if matter.id in origins:
        taken = f"id {matter.id!r} is already used by {origins[matter.id]}"
        raise error(f"{taken}; give one of them another id, or merge them")
    if not matter.body:
        raise error("no text below the front matter; write some, or remove the file")
    if matter.id in (*REQUIRED, *CONTRACTS) and matter.conditions not in (None, (ALWAYS,)):
        raise error(f"{matter.id!r} is part of every prompt; remove its conditions")
    if matter.id in LISTS_TOOLS and TOOLS_PLACEHOLDER not in matter.body:
        raise error(
            f"{matter.id!r} must contain the place of the list; add a line {TOOLS_PLACEHOLDER}"
        )
    if matter.id in CONTRACTS and (unsaid := [s for s in _SIGNAL_WORDS if s not in matter.body]):
        raise error(f"{matter.id!r} must explain every signal; it lacks {', '.join(unsaid)}")


def _project_segment(
    matter: FrontMatter, replaced: PromptSegment | None, path: Path
) -> PromptSegment:
    priority = replaced.priority if replaced else _PRIORITY_OF_ADDITIONS
    conditions = replaced.conditions if replaced else (ALWAYS,)
    try:
        return _segment(
            matter.id,
            matter.body,
            priority if matter.priority is None else matter.priority,
            matter.conditions or conditions,
            from_project=True,
        )
    except ValueError as cause:
        raise PromptFileError(str(cause), file=str(path)) from cause


def _segment(
    id_: str,
    content: str,
    priority: int,
    conditions: tuple[str, ...],
    *,
    from_project: bool = False,
    tokens: int | None = None,
) -> PromptSegment:
    return PromptSegment(
        id=id_,
        content=content.strip(),
        token_estimate=estimate_tokens(content) if tokens is None else tokens,
        priority=priority,
        conditions=conditions,
        from_project=from_project,
    )
