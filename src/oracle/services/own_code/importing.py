"""Runs the trusted files of a project, once for each content.

Exactly the bytes that were trusted are run: files are not read again. The files of a folder are a
package, so that they can share code (`from .shared import …`) and hide no other module.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from threading import Lock, Thread
from types import ModuleType
from typing import Any, Final

from oracle.errors import OwnCodeError
from oracle.lazy_dataclass import dataclass
from oracle.services.own_code.files import CodeFile, Kind
from oracle.services.own_code.prints import prints_kept
from oracle.services.own_code.process import process_kept
from oracle.services.project.redaction import redact

SECONDS_TO_IMPORT: Final = 10.0
_LONGEST_MESSAGE: Final = 300
_PACKAGE: Final = "oracle_own_"
_lock: Final = Lock()
_leaf_files: Final[dict[str, Path]] = {}
"""By name: leaves are known by the name of their file, also to other projects in this process."""


@dataclass(kw_only=True, slots=True)
class Loaded:
    """The modules that could be run, by the name of their file. A problem names its file."""

    modules: dict[str, ModuleType] = field(default_factory=dict[str, ModuleType])
    problems: list[str] = field(default_factory=list[str])


_known: Final[dict[tuple[str, Kind], tuple[tuple[str, ...], Loaded]]] = {}


def load_files(root: Path, kind: Kind, files: Sequence[CodeFile]) -> Loaded:
    """Unchanged files keep their modules, and with them what these remember."""
    digests = tuple(f"{file.name} {file.digest}" for file in files)
    with _lock:
        key = (str(root), kind)
        if key not in _known or _known[key][0] != digests:
            _known[key] = (digests, _load(root, kind, files))
        return _known[key][1]


def forget_files(root: Path, kind: Kind) -> None:
    """Run them again the next time: none of them is trusted now."""
    with _lock:
        _known.pop((str(root), kind), None)


def has_run_leaves(file: CodeFile) -> bool:
    """Whether this very file, and not one of another project, was run under its name."""
    return _leaf_files.get(file.module) == file.path


def _load(root: Path, kind: Kind, files: Sequence[CodeFile]) -> Loaded:
    package = f"{_PACKAGE}{kind}_{hashlib.sha256(str(root).encode()).hexdigest()[:8]}"
    _forget(package)
    source = _Source(package, files)
    sys.meta_path.append(source)
    loaded = Loaded()
    for file in files:
        if kind == "leaves" and _leaf_files.setdefault(file.module, file.path) != file.path:
            loaded.problems.append(
                f"{file.name} is not used: {_leaf_files[file.module]} has leaves of the same name "
                "in this process; rename the file"
            )
            continue
        outcome = run_apart(lambda file=file: __import__(f"{package}.{file.module}"))
        if outcome.problem is not None:
            loaded.problems.append(_failed(file, outcome))
        else:
            loaded.modules[file.name] = sys.modules[f"{package}.{file.module}"]
        if outcome.printed.strip():
            text = " ".join(outcome.printed.split())[:80]
            loaded.problems.append(
                f"{file.name} prints while it is imported: {redact(text)!r}; remove the print"
            )
    return loaded


def _forget(package: str) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        del sys.modules[name]
    sys.meta_path[:] = [
        each for each in sys.meta_path if getattr(each, "own_package", None) != package
    ]


class _Source:
    """Finds and loads the modules of one package, for Python's import system."""

    def __init__(self, package: str, files: Sequence[CodeFile]) -> None:
        self.own_package = package
        self._files = {f"{package}.{file.module}": file for file in files}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name == self.own_package:
            return spec_from_loader(name, self, is_package=True)  # pyright: ignore[reportArgumentType]
        file = self._files.get(name)
        return file and spec_from_loader(name, self, origin=str(file.path))  # pyright: ignore[reportArgumentType]

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        file = self._files.get(module.__name__)
        if file is None:
            return
        module.__file__ = str(file.path)
        if file.kind == "leaves":
            # Trees name a leaf by its file, not by our package.
            module.__name__ = file.module
            sys.modules.setdefault(file.module, module)
        exec(compile(file.content, str(file.path), "exec"), module.__dict__)


@dataclass(kw_only=True, slots=True)
class Outcome:
    printed: str = ""
    value: Any = None
    problem: BaseException | None = None
    lines: dict[str, int] = field(default_factory=dict[str, int])
    """If it was given up: the line where each file is."""


def run_apart(work: Callable[[], Any]) -> Outcome:
    """Import in a thread, because what hangs can only be abandoned there."""
    late = f"not done after {SECONDS_TO_IMPORT:g} s; do slow work inside of a function"
    outcome = Outcome(problem=TimeoutError(late))

    def run() -> None:
        with prints_kept() as printed, process_kept(), _modules_kept() as replaced:
            try:
                outcome.value, outcome.problem = work(), None
            # A file may call `sys.exit`.
            except BaseException as problem:
                outcome.problem = problem
            outcome.printed = printed.text
        if replaced:
            names = ", ".join(map(repr, replaced[:3]))
            outcome.problem = ImportError(f"it replaces {names} in sys.modules, which others use")

    thread = Thread(target=run, name="own-import", daemon=True)
    thread.start()
    thread.join(SECONDS_TO_IMPORT)
    if thread.is_alive() and thread.ident is not None:
        frame = sys._current_frames().get(thread.ident)  # pyright: ignore[reportPrivateUsage]
        while frame is not None:
            outcome.lines.setdefault(frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
    return outcome


@contextmanager
def _modules_kept() -> Generator[list[str]]:
    """Modules that were there before are there afterwards. The names of others that were put in
    their place are in the list.
    """
    before = dict(sys.modules)
    replaced: list[str] = []
    try:
        yield replaced
    finally:
        for name in [each for each in before if sys.modules.get(each) is not before[each]]:
            sys.modules[name] = before[name]
            replaced.append(name)
        none: Any = None
        for name in [each for each, module in sys.modules.items() if module is none]:
            if name not in before:
                del sys.modules[name]
                replaced.append(name)


def _failed(file: CodeFile, outcome: Outcome) -> str:
    problem = outcome.problem
    assert problem is not None
    if isinstance(problem, OwnCodeError):
        return f"{redact(str(problem))}; {_missing(file)}"
    line = outcome.lines.get(str(file.path)) or _line_of(file, problem)
    return f"{file.name}{f':{line}' if line else ''}: {said(problem)}; {_missing(file)}"


def _missing(file: CodeFile) -> str:
    return f"the {file.kind} of {file.name} are missing"


def said(problem: BaseException) -> str:
    """The type and the message of what own code raised, on one line."""
    try:
        text = " ".join(str(problem).split())
    except Exception:
        text = "its message cannot be shown"
    if isinstance(problem, ModuleNotFoundError) and problem.name:
        package, _, inner = problem.name.partition(".")
        if package.startswith(_PACKAGE):
            text = f"there is no {inner.replace('.', '/')}.py beside it; folders are not searched"
        else:
            text += f"; for a file beside it write `from .{problem.name} import …`"
    kind = type(problem).__name__
    return redact(f"{kind}: {text}" if text else kind)[:_LONGEST_MESSAGE]


def _line_of(file: CodeFile, problem: BaseException) -> int | None:
    if isinstance(problem, SyntaxError):
        return problem.lineno
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file.path)]
    return lines[-1] if lines else None
