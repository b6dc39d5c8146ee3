"""Where templates are: `.oracle/questions/*.md` of the project, then of the user."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from oracle.errors import InputError, NotFound, SourceFileError, did_you_mean, named
from oracle.lazy_dataclass import dataclass
from oracle.regular_file import read_regular
from oracle.services.templates.template import Origin, Template, parse_template
from oracle.services.user_files import config_folder

LARGEST: Final = 100_000
"""Bytes of a template. A question of this length fills the window of a small model."""
_MOST: Final = 1_000
_NAME: Final = re.compile(r"[\w][\w.-]{0,99}")


@dataclass(frozen=True, kw_only=True, slots=True)
class TemplateFile:
    """A file that may be a template. A project's file hides one of the user with the same name."""

    name: str
    origin: Origin
    path: Path

    @property
    def has_usable_name(self) -> bool:
        return _NAME.fullmatch(self.name) is not None

    def read(self) -> Template:
        """Raises `InputError` for a file that cannot be used as a template."""
        if not self.has_usable_name:
            raise SourceFileError(
                "the name of a question begins with a letter or a digit and has no blanks; rename "
                "the file",
                file=str(self.path),
            )
        is_ours = self.origin == "user"
        try:
            # A link in a project could lead to any file of the user. The user's own may be links.
            flags = 0 if is_ours else os.O_NOFOLLOW
            data = read_regular(self.path, LARGEST + 1, flags=flags)
        except OSError as problem:
            is_link = self.path.is_symlink() and not is_ours
            reason = "it is a symbolic link; write a file instead" if is_link else problem.strerror
            raise SourceFileError(f"cannot be read: {reason}", file=str(self.path)) from problem
        if len(data) > LARGEST:
            raise SourceFileError(
                f"has more than {LARGEST:,} bytes, too much for a question; attach the long part "
                "as a file",
                file=str(self.path),
            )
        try:
            if b"\0" in data:
                raise ValueError
            text = data.decode()
        except ValueError:
            problem = "is not UTF-8 text; a template is markdown"
            raise SourceFileError(problem, file=str(self.path)) from None
        return parse_template(text, name=self.name, origin=self.origin, file=str(self.path))


def template_files(root: Path | None) -> list[TemplateFile]:
    """All of them by name, the project's first."""
    ours = _in(config_folder() / "questions", "user")
    return [*(_in_project(root) if root else ()), *ours]


def find_template(name: str, root: Path | None) -> Template:
    files = template_files(root)
    for file in files:
        if file.name == name:
            return file.read()
    if not files:
        raise NotFound(
            f"there is no question {named(name)}, and no other; write one in "
            f".oracle/questions/{name if _NAME.fullmatch(name) else 'review'}.md"
        )
    names = [file.name for file in files]
    hint = did_you_mean(name, names, step="`oracle questions` lists them")
    raise NotFound(f"there is no question {named(name)}{hint}")


def _in_project(root: Path) -> Iterator[TemplateFile]:
    folder = root / ".oracle" / "questions"
    # A folder that is a link could lead out of the project.
    if Path(os.path.realpath(folder)) != Path(os.path.realpath(root)) / ".oracle" / "questions":
        raise InputError(f"{folder} is or is below a symbolic link; make it a folder")
    yield from _in(folder, "project")


def _in(folder: Path, origin: Origin) -> Iterator[TemplateFile]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_MOST), strict=False)]
    except OSError:
        return
    for name in sorted(names):
        stem, dot, suffix = name.rpartition(".")
        # Hidden files are those of editors.
        if dot and suffix == "md" and not name.startswith("."):
            yield TemplateFile(name=stem, origin=origin, path=folder / name)
