"""Writes a first `oracle.toml`: every setting with its meaning, commented out."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from oracle.errors import InputError, StoreError, unless_full
from oracle.services.settings.toml_file import FILE_NAME
from oracle.services.settings.value_types import OFF
from oracle.settings import ROOTS, SETTINGS, Setting, setting_named

_HEAD = """\
# Settings of oracle for {scope}. Remove the # in front of a setting to change it.
# {priority}
# A variable overrides this file, and a flag overrides both. `oracle config` shows the values.
# Keys and passwords do not belong here: `oracle keys set` keeps them, or a variable.
"""


_PROJECT = {
    "scope": "this project",
    "priority": "It overrides the user's own file, ~/.config/oracle/oracle.toml.",
}
_USER = {
    "scope": "all projects of this user",
    "priority": "A project's own oracle.toml overrides it.",
}


def template(*, user: bool = False) -> str:
    """Valid TOML, and still valid without the comment signs in front of the settings."""
    return "\n".join([_HEAD.format(**(_USER if user else _PROJECT)), *_sections(user=user)])


def _sections(*, user: bool) -> Iterator[str]:
    for section, rows in groupby(SETTINGS.values(), key=lambda row: row.section):
        yield f"[{section}]"
        for row in rows:
            yield from _lines(row)
        yield ""
    if not user:
        row = setting_named(f"{ROOTS}.shared")
        yield f"[{ROOTS}]"
        yield "# Other folders that questions are about, with names of your choice. They are read,"
        yield "# never written. Their files are found and cited as name/path/in/it."
        yield f"#shared = {as_toml(row.example)}  # not set; this is an example"
        yield ""


def _lines(row: Setting) -> Iterator[str]:
    also = ", ".join(way for way in (row.variable, row.other_variable, row.flag) if way)
    yield f"# {row.meaning} ({also})"
    unset = "" if row.default is not None else "  # not set; this is an example"
    yield f"#{row.name.partition('.')[2]} = {as_toml(shown_value(row))}{unset}"


def shown_value(row: Setting) -> Any:
    return row.example if row.default is None else row.default


def as_toml(value: Any) -> str:
    """A value as it is written in the file."""
    if value is None:
        return f'"{OFF}"'
    if isinstance(value, bool | str | tuple):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def made_folder(folder: Path) -> Path:
    """The user's own folder, which may not exist yet."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        step = unless_full(problem, "set XDG_CONFIG_HOME to a folder of yours")
        raise StoreError(f"{folder} cannot be made: {problem.strerror}; {step}") from problem
    return folder


def write_new(folder: Path, *, user: bool = False) -> Path:
    """Write the template, completely or not at all if the file system has links. An existing file
    is never replaced.
    """
    target = folder / FILE_NAME
    draft = _draft(folder, template(user=user))
    try:
        draft.chmod(0o644)
        _link(draft, target)
    finally:
        draft.unlink()
    return target


def _draft(folder: Path, text: str) -> Path:
    file = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=folder, prefix=f".{FILE_NAME}.", delete=False
        ) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        if file is not None:
            Path(file.name).unlink(missing_ok=True)
        step = unless_full(problem, "choose a folder that you can write to")
        # A folder that does not exist was mistyped; what cannot be written is another matter.
        is_mistyped = isinstance(problem, FileNotFoundError | NotADirectoryError)
        raise (InputError if is_mistyped else StoreError)(
            f"{folder / FILE_NAME} cannot be written: {problem.strerror}; {step}"
        ) from problem
    return Path(file.name)


def _link(draft: Path, target: Path) -> None:
    try:
        # A rename would replace a file that another process wrote in the meantime. A link fails.
        os.link(draft, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError:
        _copy(draft, target)


def _copy(draft: Path, target: Path) -> None:
    """For file systems without links. Safe against overwriting, but not against a crash."""
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(draft.read_text(encoding="utf-8"))
    except FileExistsError:
        raise _exists(target) from None
    except OSError:
        target.unlink(missing_ok=True)
        raise


def _exists(target: Path) -> InputError:
    return InputError(
        f"{target} exists and is left unchanged; `oracle init --print` shows a new one"
    )
