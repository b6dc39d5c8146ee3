"""The Python files of a project's `.oracle/tools/` and `.oracle/leaves/`, read but not run."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final, Literal

from oracle.lazy_dataclass import dataclass
from oracle.regular_file import read_regular

Kind = Literal["tools", "leaves"]
FOLDER: Final = ".oracle"
KINDS: Final[tuple[Kind, ...]] = ("tools", "leaves")
_LARGEST: Final = 1_000_000
_MOST_FILES: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeFile:
    """`name` is its path from the root. `content` is what is run if it is trusted."""

    kind: Kind
    name: str
    path: Path
    content: bytes
    digest: str

    @property
    def module(self) -> str:
        return self.path.stem


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeFiles:
    """`problems` name what cannot be used, and the next step."""

    root: Path
    files: tuple[CodeFile, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of all files together."""
        lines = "\n".join(f"{file.name} {file.digest}" for file in self.files)
        return hashlib.sha256(lines.encode()).hexdigest()[:12]


def find_code(root: Path) -> CodeFiles:
    """A project may be opened through a link: its real path counts."""
    root = Path(os.path.realpath(root))
    files: list[CodeFile] = []
    problems: list[str] = []
    for kind in KINDS:
        for path in _python_files(root / FOLDER / kind):
            read = _read(root, kind, path)
            if isinstance(read, CodeFile):
                files.append(read)
            else:
                problems.append(f"{_shown(root, path)} is not used: {read}")
    return CodeFiles(root=root, files=tuple(files), problems=tuple(problems))


def _python_files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(".py"))
    except OSError:
        return []
    return [folder / name for name in names if not name.startswith(".")][:_MOST_FILES]


def _read(root: Path, kind: Kind, path: Path) -> CodeFile | str:
    """The file, or why it is not used."""
    if not path.stem.isidentifier():
        return "its name is not a Python name; rename it, with letters, digits and _ only"
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        return "it is a link that leads out of the project; put the file itself there"
    try:
        content = read_regular(real, _LARGEST + 1)
    except OSError as problem:
        return str(problem.strerror)
    if len(content) > _LARGEST:
        return f"it is larger than {_LARGEST:,} bytes; split it"
    digest = hashlib.sha256(content).hexdigest()
    name = _shown(root, path)
    return CodeFile(kind=kind, name=name, path=path, content=content, digest=digest)


def _shown(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
