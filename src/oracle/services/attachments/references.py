"""Which files a user names: `a.py`, `a.py:10-40`, and `@a.py` inside a question."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from oracle.errors import InputError, NotFound, named
from oracle.lazy_dataclass import dataclass
from oracle.regular_file import kind_of_file
from oracle.services.project.roots import Root, Roots
from oracle.services.project.secret_files import OURS, SecretFiles

# `:12`, `:10-40` and `:10-` (to the end), also as `:L10-L40` and `#L10-L40`.
_LINES: Final = re.compile(
    r"(?P<path>.+)(?::L?|#L)(?P<first>\d{1,9})(?:(?P<to>-)L?(?P<last>\d{0,9}))?"
)
# `:12:5`, as compilers print a place.
_COLUMN: Final = re.compile(r"(?P<place>.+:\d{1,9}):\d{1,9}")
_AFTER_COLON: Final = re.compile(r"(?P<path>.+):(?P<rest>[^:/]*)")
# After a letter it is an e-mail address. In quotes, or with `\ `, a path may have blanks, and the
# punctuation of scripts without blanks.
_AT: Final = re.compile(
    r"(?<![\w@.\\-])@(?:"
    r"\"(?P<double>[^\"\n]{1,300})\"(?P<double_lines>:[\d-]+)?"
    r"|'(?P<single>[^'\n]{1,300})'(?P<single_lines>:[\d-]+)?"
    r"|(?P<bare>(?!@)(?:\\.|[^\s\"'`<>|\\\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
    r"\u300c-\u3011]){1,300}))"
)
_PUNCTUATION: Final = ",.;:!?)]}'\""
# In a script without blanks a sentence goes on right after the name.
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]")
_PATTERN: Final = re.compile(r"[*?\[]")
_ALIKE: Final = 0.75
_MOST_MENTIONS: Final = 200
_MOST_ELSEWHERE: Final = 3
# Text such as `@angular/core` or `@app.route` names no file. These look as if they should.
_LOOKS_LIKE_A_FILE: Final = re.compile(
    r"(?:.*/[^/]*\.\w{1,5}|.*\.(?:py|js|ts|tsx|jsx|go|rs|java|c|h|cpp|rb|php|cs|sh|md|toml|ya?ml"
    r"|json|txt|log|sql|html|css))(?:[:#][L\d-]+)?"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """Where paths begin, and what may be read.

    A relative path is looked up in `folder`, then in the project's `root`, then as one that begins
    with the name of a further root. If `is_confined`, only files of the project are read: the one
    who names them is not the user.
    """

    folder: Path
    root: Path
    secrets: SecretFiles = OURS
    is_confined: bool = False
    roots: tuple[Root, ...] = ()

    @property
    def further(self) -> Roots:
        return Roots(main=self.root, others=self.roots)

    def excludes(self, text: str) -> bool:
        """Whether a path leads out of the project, for one who is confined to it.

        Only the words are looked at. Whether there is such a file must not be learnt from the
        answer.
        """
        if not self.is_confined:
            return False
        place = os.path.normpath(self.folder / text)
        return text.startswith("~") or not Path(place).is_relative_to(self.root)

    def find(self, text: str) -> Path | None:
        """The path of something that exists."""
        if not text or "\0" in text or self.excludes(text):
            return None
        given = Path(text)
        if text.startswith("~"):
            given = Path(os.path.expanduser(text))
        # Joining with an absolute path gives that path.
        places = [self.folder / given, self.root / given]
        root, inner = self.further.split(os.path.normpath(text))
        if root is not None:
            places.append(root.path / inner)
        return next((place for place in places if os.path.lexists(place)), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileReference:
    """A file that exists, and the lines that are wanted; all lines without `first`.

    `last` is None if the lines go to the end of the file.
    """

    text: str
    path: Path
    first: int | None = None
    last: int | None = None


def reference(text: str, reach: Reach) -> FileReference:
    """What `-f` names. A name with a colon that exists is taken as it is."""
    if reach.excludes(text):
        raise _outside(text)
    if path := reach.find(text):
        return FileReference(text=text, path=path)
    if file := _lines_of_a_file(text, reach):
        return file
    before = _AFTER_COLON.fullmatch(text)
    if before and reach.find(before["path"]):
        raise InputError(
            f"{named(before['rest'])} in {named(text)} are not lines; write them as "
            f"{before['path']}:10-40"
        )
    found = _LINES.fullmatch(text)
    wanted = found["path"] if found else text
    raise NotFound(f"there is no file {named(wanted)}{_near(wanted, reach)}")


def references_in(question: str, reach: Reach) -> tuple[list[FileReference], list[str]]:
    """The files that a question names with `@`, and the names that look like files but are none."""
    found: list[FileReference] = []
    unknown: list[str] = []
    for mention in _mentions(question):
        file = _first_file(mention, reach)
        if file is not None:
            found.append(file)
        elif name := _name_of_a_file(mention):
            if reach.excludes(name):
                raise _outside(name)
            unknown.append(name)
    return found, list(dict.fromkeys(unknown))


def _name_of_a_file(mention: list[str]) -> str:
    """The longest of the names that look like a file; empty if none does."""
    names = (text.rstrip(_PUNCTUATION) for text in mention)
    return next((name for name in names if _LOOKS_LIKE_A_FILE.fullmatch(name)), "")


def others_in(question: str, reach: Reach) -> dict[str, str]:
    """What a question names with `@` that is neither a file nor a folder, each with what it is."""
    found: dict[str, str] = {}
    for mention in _mentions(question):
        for text in mention:
            if path := reach.find(text):
                if path.exists() and not (path.is_file() or path.is_dir()):
                    found[text] = kind_of_file(path.stat().st_mode)
                break
    return found


def folders_in(question: str, reach: Reach) -> list[str]:
    """The folders that a question names with `@`: only files are attached."""
    found = (
        next((text for text in mention if (path := reach.find(text)) and path.is_dir()), "")
        for mention in _mentions(question)
    )
    return [text for text in dict.fromkeys(found) if text]


def without_mentions(question: str, is_file: Callable[[str], bool]) -> str:
    """The question without each `@path:lines` whose path `is_file`."""

    def replaced(found: re.Match[str]) -> str:
        for text in _candidates(found):
            lines = _LINES.fullmatch(_COLUMN.sub(r"\g<place>", text))
            if is_file(text) or (lines and is_file(lines["path"])):
                # What follows the name belongs to the sentence.
                return " " + (found["bare"] or "")[len(text) :]
        return found[0]

    return _AT.sub(replaced, question)


def _mentions(question: str) -> Iterator[list[str]]:
    """For each `@`, what it may name, the longest first."""
    for number, found in enumerate(_AT.finditer(question)):
        if number == _MOST_MENTIONS:
            return
        yield _candidates(found)


def _candidates(found: re.Match[str]) -> list[str]:
    """A sentence goes on with punctuation, so the end of a name is not certain."""
    for kind in ("double", "single"):
        if found[kind] is not None:
            return [found[kind] + (found[f"{kind}_lines"] or "")]
    bare = re.sub(r"\\(.)", r"\1", found["bare"])
    ends = len(bare) - len(bare.rstrip(_PUNCTUATION))
    names = [bare[: len(bare) - cut] for cut in range(min(ends, 5) + 1)]
    if (foreign := _FOREIGN.search(bare)) and foreign.start():
        names.append(bare[: foreign.start()])
    return names


def _first_file(candidates: list[str], reach: Reach) -> FileReference | None:
    for text in candidates:
        if (path := reach.find(text)) and path.is_file():
            return FileReference(text=text, path=path)
        file = _lines_of_a_file(text, reach)
        if file is not None and file.path.is_file():
            return file
    return None


def _lines_of_a_file(text: str, reach: Reach) -> FileReference | None:
    column = _COLUMN.fullmatch(text)
    for each in (text, column["place"] if column else ""):
        found = _LINES.fullmatch(each)
        if found and (path := reach.find(found["path"])):
            return _with_lines(text, path, found)
    return None


def _with_lines(text: str, path: Path, found: re.Match[str]) -> FileReference:
    first = int(found["first"])
    last = int(found["last"]) if found["last"] else (None if found["to"] else first)
    if first < 1:
        raise InputError(f"{named(text)} begins at line 0; the first line is 1")
    if last is not None and last < first:
        raise InputError(
            f"the lines of {named(text)} are reversed; write {found['path']}:{last}-{first}"
        )
    return FileReference(text=text, path=path, first=first, last=last)


def _outside(text: str) -> InputError:
    return InputError(
        f"{named(text)} lies outside the project; give a path relative to the project's root"
    )


def _near(wanted: str, reach: Reach) -> str:
    """The advice after "there is no file …"."""
    folder, _, name = wanted.rpartition("/")
    root, inner = reach.further.split(folder)
    if root is not None and (problem := root.problem):
        return f": {problem}"
    if reach.is_confined:
        # The folder may be a link that leads out, and a name near by that of a file with secrets:
        # neither is for those who ask from elsewhere, nor where the project is on this machine.
        return "; check the path"
    names = _names_in(reach.folder / folder if root is None else root.path / inner)
    if _PATTERN.search(name):
        return "; a pattern is replaced by the shell, without quotes around it"
    # Below this, names that only end alike are close: `missing.py` and `big.py`.
    close = get_close_matches(name[:200], names, n=1, cutoff=_ALIKE)
    # The same name in another folder is nearer than another name in the same one.
    similar = [(f"{folder}/" if folder else "") + each for each in close]
    if meant := _elsewhere(wanted, reach) or similar:
        return f"; did you mean {' or '.join(map(repr, meant))}?"
    return f" in {reach.folder}; check the path"


def _elsewhere(wanted: str, reach: Reach) -> list[str]:
    """Files of the project with that name, in the folders of that path, if there are only a few."""
    from oracle.services.project.root import is_root
    from oracle.services.tools.files import ProjectFiles

    parts = Path(wanted).parts
    # Outside of a project all files of a home folder may be below.
    if not parts or parts[0] in ("..", "/", "~") or not is_root(reach.root):
        return []
    listed = (each.path for each in ProjectFiles(reach.root, secrets=reach.secrets).entries())
    found = [path for path in listed if _has_parts(path, parts)]
    return found[:_MOST_ELSEWHERE] if len(found) <= _MOST_ELSEWHERE else []


def _has_parts(path: str, parts: tuple[str, ...]) -> bool:
    """Whether the path ends with the last part and has the others in this order before it."""
    *folders, name = path.split("/")
    rest = iter(folders)
    return name == parts[-1] and all(part in rest for part in parts[:-1])


def _names_in(folder: Path, most: int = 5_000) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(most), strict=False)]
    except (OSError, ValueError):
        return []
