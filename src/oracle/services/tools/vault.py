"""The vault is the project's prose: markdown anywhere, and text files in folders for prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from oracle.errors import ToolProblem, did_you_mean, named
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.project.walk import FoundFile
from oracle.services.search.records import Kind
from oracle.services.tools.files import FileText, ProjectFiles
from oracle.services.tools.writing import file_name

_MARKDOWN: Final = (".md", ".markdown", ".mdx")
_PROSE: Final = (".rst", ".txt", ".adoc", ".org")
_PROSE_FOLDERS: Final = frozenset({"docs", "doc", "notes", "adr", "adrs", "documentation"})
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(.{0,8000}?)\n---[ \t]*(?:\n|\Z)", re.S)
_FRONT_TITLE: Final = re.compile(r"^title[ \t]*:[ \t]*(.+)$", re.M)
_HEADING: Final = re.compile(r"^#[ \t]+(\S.*)$", re.M)


def kind_of(path: str, notes_folder: str = "notes") -> Kind:
    """The kind of source that a file of the project is."""
    *folders, name = path.lower().split("/")
    if name.endswith(_MARKDOWN):
        return "threads" if folders == [THREADS_FOLDER] else "vault"
    in_prose = not _PROSE_FOLDERS.isdisjoint(folders) or path.startswith(f"{notes_folder}/")
    return "vault" if in_prose and name.endswith(_PROSE) else "code"


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
    def __init__(self, files: ProjectFiles, notes_folder: str = "notes") -> None:
        self._files = files
        self._notes_folder = notes_folder

    def notes(self, under: str = "") -> list[Note]:
        prefix = f"{under.strip('/')}/" if under.strip("/") else ""
        found: list[Note] = []
        for entry in self._files.entries():
            if not entry.path.startswith(prefix):
                continue
            if kind_of(entry.path, self._notes_folder) != "vault":
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
        hint = did_you_mean(wanted[:200], known) or "; see list_notes, or search with search_vault"
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
