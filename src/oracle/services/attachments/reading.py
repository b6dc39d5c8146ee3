"""Reads an attached file: text of any folder, but no secrets, no folders, no images."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Final

from oracle.errors import InputError, ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.regular_file import OPEN, kind_of_file
from oracle.services.attachments.references import Reach
from oracle.services.project.file_rules import begins_with_key
from oracle.services.project.hard_links import HardLinks
from oracle.services.project.links import way_of
from oracle.services.project.roots import Root, below
from oracle.services.project.safe_open import LARGEST_READ, Content, real_path
from oracle.services.search.roles import kind_of
from oracle.services.tools.answer import place
from oracle.services.tools.files import FileText, ProjectFiles, as_text, is_binary, split_lines
from oracle.services.tools.workspace import lines_of

_MOST_UNREADABLE: Final = 0.1
_IMAGES: Final = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".icns", ".tif", ".tiff"),
    *(".heic", ".heif", ".avif", ".psd"),
)
_IMAGE_STARTS: Final = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM\x00", "a BMP image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
)


@dataclass(frozen=True, kw_only=True)
class AttachedFile:
    """The text of a file. `is_outside` means that it is not a file of the project."""

    text: FileText
    is_outside: bool = False

    @property
    def had_secrets(self) -> bool:
        return self.text.lines != split_lines(self.text.raw)

    def source(self, first: int, last: int) -> Source:
        """Lines `first` to `last` as a source; an empty file has no lines."""
        kind = "code" if kind_of(self.text.path) == "code" else "vault"
        if not self.text.lines:
            path = self.text.path
            return Source(kind=kind, where=path, text="", path=path, digest=self.text.digest)
        return lines_of(self.text, first, last, kind)


def read_attached(path: Path, reach: Reach, *, part: str = "tail -n 500") -> AttachedFile:
    """Raises `InputError` with the reason and the next step.

    `part` is the command to advise for a file that is too large.
    """
    inside = next((each for each in reach.roots if _is_in(path, each)), None)
    if inside is not None:
        if problem := inside.problem:
            raise InputError(f"{named(str(path))} is not attached: {problem}")
        # By the rules of that root. Its files have its name in front, as tools name them.
        own = replace(reach, folder=inside.path, root=inside.path, secrets=inside.secrets, roots=())
        try:
            read = read_attached(path, own, part=part)
        except InputError as problem:
            raise _named_by_root(problem, path, inside) from problem
        if read.is_outside:
            return read
        return replace(read, text=replace(read.text, path=below(inside, read.text.path)))
    root = Path(os.path.realpath(reach.root))
    # The folder is resolved, but not the file: a link has the name that the user sees.
    given = Path(os.path.normpath(Path(os.path.realpath(path.parent)) / path.name))
    typed = _as_typed(path, reach)
    inside = next((each for each in (given, typed) if each.is_relative_to(root)), None)
    shown = str(given) if inside is None else inside.relative_to(root).as_posix()
    _check_name(shown, reach)
    if reach.is_confined:
        return AttachedFile(text=_read_confined(shown, root, reach))
    real, content = _content(given, shown, HardLinks(root, reach.secrets), part)
    is_outside = not real.is_relative_to(root)
    if is_outside:
        _check_way(path, real, root, reach)
    # A link may lead to a secret under another name.
    _check_name(str(real) if is_outside else real.relative_to(root).as_posix(), reach)
    if not is_outside and inside is None:
        shown = real.relative_to(root).as_posix()
    return AttachedFile(text=_as_text(content, shown), is_outside=is_outside)


def _check_way(path: Path, real: Path, root: Path, reach: Reach) -> None:
    """A file outside may be named, but no link of the project or of a further root leads to it."""
    way = way_of(path, (root, *(each.path for each in reach.further.others)))
    if way.end != real:
        raise InputError(f"{named(str(path))} changed while it was read; try again")
    if way.left is None:
        return
    typed = _as_typed(path, reach)
    shown = typed.relative_to(root).as_posix() if typed.is_relative_to(root) else str(path)
    other = next((each.name for each in reach.roots if each.path == way.left), None)
    of = f"the root {other!r}" if other else "the project"
    # Whatever the file is: to allow it as a secret of the project would not help.
    is_secret = reach.secrets.rule_for(str(real)) is not None
    step = "leave it out" if is_secret else "attach that path itself if you mean it"
    raise InputError(
        f"{named(shown)} is a link that leads out of {of}, to {named(str(real))}; {step}"
    )


def _named_by_root(problem: InputError, path: Path, root: Root) -> InputError:
    """A message names the path in the root, which the user would look for in the project."""
    inner = (Path(os.path.realpath(path.parent)) / path.name).relative_to(root.path).as_posix()
    return InputError(str(problem).replace(named(inner), named(below(root, inner))))


def _is_in(path: Path, root: Root) -> bool:
    return Path(os.path.realpath(path.parent)).is_relative_to(root.path)


def text_of_editor(path: Path, text: str, reach: Reach, *, first: int | None = None) -> Source:
    """A file of the project as an editor has it open, which may not be saved yet.

    With `first`, the text is only a part of the file that begins at this line. Raises `InputError`
    for a file that could not be attached from disk either.
    """
    root, real = Path(os.path.realpath(reach.root)), Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        raise InputError(f"{named(str(path))} is not attached: it is not in the project {root}")
    shown = real.relative_to(root).as_posix()
    _check_name(shown, reach)
    data = text.encode(errors="replace")
    file = AttachedFile(text=_as_text(Content(path=shown, data=data, size=len(data)), shown))
    source = file.source(1, max(1, len(file.text.lines)))
    if first is not None and "start" in source and "end" in source:
        source["start"], source["end"] = first, first + source["end"] - source["start"]
        source["where"] = place(shown, source["start"], source["end"])
        # The rest of the file is not known, so the hash of this part would match no file.
        source.pop("digest", None)
        source.pop("whole", None)
    return source


def _as_typed(path: Path, reach: Reach) -> Path:
    """The path with no link followed below the folder or the root, so that a linked folder of the
    project still counts as part of it.
    """
    for base in (reach.folder, reach.root):
        if path.is_relative_to(base):
            return Path(os.path.normpath(os.path.realpath(base) / path.relative_to(base)))
    return Path(os.path.abspath(path))


def _check_name(path: str, reach: Reach) -> None:
    if rule := reach.secrets.rule_for(path):
        raise InputError(
            f"{named(path)} is not attached: its name matches `{rule}`, a file of secrets; to read "
            "it, add its path to secrets.allow (ORACLE_SECRETS_ALLOW)"
        )
    name = path.lower()
    if name.endswith(_IMAGES):
        raise InputError(
            f"{named(path)} is an image; only text can be attached: say in words what it shows"
        )
    if name.endswith(".pdf"):
        raise _pdf(path)


def _read_confined(shown: str, root: Path, reach: Reach) -> FileText:
    """By the rules for tools: nothing outside of the project, and nothing that git ignores."""
    try:
        return ProjectFiles(root, secrets=reach.secrets).read(shown)
    except ToolProblem as problem:
        reason = str(problem).partition(";")[0]
        raise InputError(f"{reason}; {_other_way(shown, root)}") from problem


def _other_way(shown: str, root: Path) -> str:
    """The advice for a file that a template cannot attach. `-f` refuses some of them too."""
    try:
        status = os.stat(root / shown)
    except (OSError, ValueError):
        return "give the path of a file that exists"
    if not stat.S_ISREG(status.st_mode):
        return "give the path of a file"
    if status.st_nlink > 1:
        return 'copy it, or set secrets.hard_links to "all"'
    return "attach it yourself with -f if you trust it"


def _content(path: Path, shown: str, links: HardLinks, part: str) -> tuple[Path, Content]:
    try:
        descriptor = os.open(path, OPEN)
    except OSError as problem:
        raise _unreadable(shown, problem) from problem
    try:
        # Asked of the open file: the one at this path may be another by now.
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InputError(
                f"{named(shown)} is {kind_of_file(status.st_mode)}; attach files, one by one"
            )
        if reason := links.problem(status):
            raise InputError(f"{named(shown)} is not attached: {reason}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(LARGEST_READ + 1)
        # Counted, not asked: a file of /proc has no size, and others grow.
        if len(data) > LARGEST_READ:
            raise InputError(
                f"{named(shown)} has more than {LARGEST_READ:,} bytes; pipe the part that "
                f"matters: {part} {quote(shown)} | oracle ask …"
            )
        real = Path(real_path(descriptor, str(path), status))
        return real, Content(path=shown, data=data, size=len(data))
    except OSError as problem:
        raise _unreadable(shown, problem) from problem
    finally:
        os.close(descriptor)


def _as_text(content: Content, shown: str) -> FileText:
    data = content.data
    for start, kind in _IMAGE_STARTS:
        if data.startswith(start):
            raise InputError(f"{named(shown)} holds {kind}; only text can be attached")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        raise InputError(f"{named(shown)} holds a WebP image; only text can be attached")
    if data.startswith(b"%PDF-"):
        raise _pdf(shown)
    if is_binary(data):
        raise InputError(f"{named(shown)} is a binary file; only text can be attached")
    if begins_with_key(data):
        raise InputError(f"{named(shown)} is a private key, so it is never attached")
    text = as_text(content, shown)
    if text.raw.count("\ufffd") > len(text.raw) * _MOST_UNREADABLE:
        raise InputError(
            f"{named(shown)} is not UTF-8 text; convert it first, for example with `iconv`"
        )
    return text


def _unreadable(shown: str, problem: OSError) -> InputError:
    return InputError(
        f"{named(shown)} cannot be read: {problem.strerror}; check it, or leave it out"
    )


def _pdf(path: str) -> InputError:
    return InputError(
        f"{named(path)} is a PDF; only text can be attached: "
        f"pdftotext {quote(path)} - | oracle ask …"
    )
