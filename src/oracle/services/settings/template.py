"""A first `oracle.toml`: every setting with its meaning, commented out, and how it gets to disk."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from oracle.errors import InputError
from oracle.services.settings.toml_file import FILE_NAME
from oracle.services.settings.value_types import OFF
from oracle.settings import SETTINGS, Setting

_HEAD = """\
# Settings of oracle for this project. Remove the # before one to set it.
# A variable wins over this file, a flag over both; `oracle config` shows what counts, and why.
# Keys and passwords do not belong here: they stay in variables, such as ANTHROPIC_API_KEY.
"""


def template() -> str:
    """Sound TOML, also when every comment sign before a setting is taken away."""
    return "\n".join([_HEAD, *_sections()])


def _sections() -> Iterator[str]:
    for section, rows in groupby(SETTINGS.values(), key=lambda row: row.section):
        yield f"[{section}]"
        for row in rows:
            yield from _lines(row)
        yield ""


def _lines(row: Setting) -> Iterator[str]:
    also = ", ".join(way for way in (row.variable, row.flag) if way)
    yield f"# {row.meaning} ({also})"
    unset = "" if row.default is not None else "  # not set; an example"
    yield f"#{row.name.partition('.')[2]} = {as_toml(shown_value(row))}{unset}"


def shown_value(row: Setting) -> Any:
    return row.example if row.default is None else row.default


def as_toml(value: Any) -> str:
    """A value as one would write it in the file."""
    if value is None:
        return f'"{OFF}"'
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def write_new(folder: Path) -> Path:
    """Write the template, whole or not at all, and never over a file that is there."""
    target = folder / FILE_NAME
    draft = _draft(folder)
    try:
        draft.chmod(0o644)
        _link(draft, target)
    finally:
        draft.unlink()
    return target


def _draft(folder: Path) -> Path:
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=folder, prefix=f".{FILE_NAME}.", delete=False
        ) as file:
            file.write(template())
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        raise InputError(
            f"{folder / FILE_NAME} cannot be written: {problem.strerror}; "
            "choose a folder that you may write to"
        ) from problem
    return Path(file.name)


def _link(draft: Path, target: Path) -> None:
    """Unlike a rename, a link refuses to replace what is there, however it came there."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise InputError(
            f"{target} exists and stays as it is; `oracle init --print` shows what a new one "
            "would hold"
        ) from None
    except OSError:
        _copy(draft, target)


def _copy(draft: Path, target: Path) -> None:
    """For file systems without links: as safe against overwriting, not against a crash."""
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(draft.read_text(encoding="utf-8"))
    except FileExistsError:
        raise InputError(f"{target} exists and stays as it is") from None
    except OSError:
        target.unlink(missing_ok=True)
        raise
