"""The vault is the project's prose: Markdown and other text files, in any folder."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from oracle.errors import ToolProblem, did_you_mean, named
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.walk import FoundFile
from oracle.services.search.roles import kind_of
from oracle.services.tools.files import FileText, ProjectFiles
from oracle.services.tools.writing import file_name

_FRONT_MATTER: Final = lazy_pattern(r"---[ \t]*\n(.{0,8000}?)\n---[ \t]*(?:\n|\Z)", re.S)
_FRONT_TITLE: Final = lazy_pattern(r"^title[ \t]*:[ \t]*(.+)$", re.M)
_HEADING: Final = lazy_pattern(r"^#[ \t]+(\S.*)$", re.M)


def title_of(text: FileText) -> str:
    """From the front matter, otherwise the first heading, otherwise the file's name."""
    beginning = text.raw[:10_000]
    if (front := _FRONT_MATTER.match(beginning)) and (title := _FRONT_TITLE.search(front[1])):
        return title[1].strip().strip("\"'")
    if heading := _HEADING.search(beginning):
        return heading[1].rstrip(" \t#") or heading[1]
    return PurePosixPath(text.path).stem


@dataclass(frozen=True, kw_only=True)
class Note:
    entry: FoundFile
    title: str


class Vault:
    def __init__(self, files: ProjectFiles) -> None:
        self._files = files

    def notes(self, under: str = "") -> list[Note]:
        prefix = f"{under.strip('/')}/" if under.strip("/") else ""
        found: list[Note] = []
        for entry in self._files.entries():
            if not entry.path.startswith(prefix):
                continue
            if kind_of(self._files.inner(entry.path)) != "vault":
                continue
            if text := self._files.text_of(entry):
                found.append(Note(entry=entry, title=title_of(text)))
        return found

    def path_of(self, name: str) -> str:
        """The path of the one note that `name` means: a path, a title or the name of a file."""
        notes = self.notes()
        wanted = name.strip().removeprefix("./")
        for means in _MEANINGS:
            matching = [note.entry.path for note in notes if means(note, wanted)]
            if len(matching) == 1:
                return matching[0]
            if matching:
                raise ToolProblem(
                    f"{named(name)} may be {', '.join(matching[:8])}; give the path of one"
                )
        known = [note.entry.path for note in notes] + [note.title for note in notes]
        hint = did_you_mean(wanted[:200], known) or "; search for it by words of its text"
        raise ToolProblem(f"there is no note {named(name)}{hint}")


def _is_path(note: Note, name: str) -> bool:
    return note.entry.path == name


def _is_path_without_ending(note: Note, name: str) -> bool:
    return str(PurePosixPath(note.entry.path).with_suffix("")) == name


def _is_title(note: Note, name: str) -> bool:
    return note.title.casefold() == name.casefold()


def _is_file_name(note: Note, name: str) -> bool:
    path = PurePosixPath(note.entry.path)
    return name.casefold() in (path.name.casefold(), path.stem.casefold())


def _is_slug(note: Note, name: str) -> bool:
    slug = file_name(name)
    return slug is not None and PurePosixPath(note.entry.path).stem == slug


# From the most exact to the least: the first that fits any note decides.
_MEANINGS: Final = (_is_path, _is_path_without_ending, _is_title, _is_file_name, _is_slug)
