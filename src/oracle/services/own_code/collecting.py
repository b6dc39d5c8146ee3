"""All tools that the user brings along: passed in, of the project, and of installed packages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from oracle.errors import InputError
from oracle.lazy_dataclass import dataclass
from oracle.services.own_code.files import CodeFiles, Kind, find_code
from oracle.services.own_code.installed import may_name
from oracle.services.own_code.trust import how_to_trust, trust_in, trusted_files

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from oracle.services.own_code.tool import OwnTool

GROUPS: Final[Mapping[Kind, str]] = {"tools": "oracle.tools", "leaves": "oracle.leaves"}
"""The entry points by which an installed package offers its own."""

_IMPORTING: Final = "oracle.services.own_code.importing"
"""Imported only if there is something to run: it is not needed without own code."""

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """A tool and where it comes from: a file of the project, a package, or the program."""

    tool: OwnTool
    place: str
    is_passed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnCode:
    """What was found. `problems` are lines for the user: what is missing, and why.

    `refused` are files that the user decided not to trust.
    """

    tools: tuple[Brought, ...] = ()
    problems: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def installed(kind: Kind) -> tuple[EntryPoint, ...]:
    return _all_installed()[kind]


@cache
def _all_installed() -> Mapping[Kind, tuple[EntryPoint, ...]]:
    """Kept, because it reads a file of each installed package."""
    # Hardly any package has some, and `importlib.metadata` takes long to import and to look.
    if not may_name(GROUPS.values()):
        return dict.fromkeys(GROUPS, ())
    from importlib.metadata import entry_points

    found = entry_points()
    return {kind: tuple(found.select(group=group)) for kind, group in GROUPS.items()}


def brings_code(root: Path | None) -> bool:
    """Whether there is anything to load: files of the project, trusted or not, or packages."""
    is_installed = any(map(installed, GROUPS))
    return is_installed or (root is not None and bool(find_code(root).files))


def load_tools(
    root: Path | None,
    environment: Mapping[str, str] | None = None,
    *,
    passed: Sequence[Function] = (),
) -> OwnCode:
    """Run what is trusted, and collect its tools.

    What is wrong with a file is a problem; what is wrong with a function that a program has
    `passed` is raised.
    """
    environment = os.environ if environment is None else environment
    collected = _Collected()
    for function in passed:
        collected.add(function, "passed in", is_passed=True)
    if collected.problems:
        raise InputError("\n".join(collected.problems))
    code = CodeFiles(root=Path()) if root is None else find_code(root)
    collected.problems += [*code.problems, *_untrusted(code, "tools", environment)]
    modules, failed = _modules(code, "tools", environment)
    collected.problems += failed
    for place, module in modules:
        functions = tools_in(module)
        for function in functions:
            collected.add(function, place)
        # A file whose name begins with _ is for code that others share.
        if not functions and not place.rpartition("/")[2].startswith("_"):
            collected.problems.append(f"{place} has no tool; put @oracle.tool above a function")
    for point in installed("tools"):
        functions, problem = _from_package(point)
        for function in functions:
            entry = f"{_package(point)}: {point.value}"
            collected.add(function, _package(point), entry=entry)
        collected.problems += [problem] if problem else []
    refused = [name for name, said in trust_in(code, environment).items() if said == "refused"]
    return OwnCode(
        tools=tuple(collected.tools.values()),
        problems=tuple(collected.problems),
        refused=tuple(refused),
    )


class _Collected:
    """Tools by name. The first one of a name counts."""

    def __init__(self) -> None:
        self.tools: dict[str, Brought] = {}
        self.problems: list[str] = []

    def add(
        self, function: Function, place: str, *, is_passed: bool = False, entry: str = ""
    ) -> None:
        """`entry` names an entry point, which may lead to anything, not only to a function."""
        from oracle.services.own_code.calling import as_tool
        from oracle.services.own_code.tool import own_tool_of
        from oracle.services.tools.project_tools import NAMES

        try:
            own = own_tool_of(function)
            try:
                as_tool(own).spec  # noqa: B018 - each question would make it, and fail
            except Exception as problem:
                raise own.error(f"it cannot be offered: {problem}") from problem
            if not is_passed and any(own is each.tool for each in self.tools.values()):
                return  # one file imports it from another
            if own.name in NAMES:
                raise own.error('a built-in tool has this name; give another one with name="…"')
            if own.name in self.tools:
                other = self.tools[own.name].tool
                where = f"{other.file}:{other.line}"
                raise own.error(f'{where} has this name too; give another one with name="…"')
        except InputError as problem:
            self.problems.append(f"{entry}: {problem}" if entry else str(problem))
        else:
            self.tools[own.name] = Brought(tool=own, place=place, is_passed=is_passed)


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnLeaves:
    """`problems` are lines for the user. `missing` are the modules that are not used, and why.

    `gone` are those of them that this project has run before, so that their leaves may be known.
    """

    modules: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict[str, str])
    gone: tuple[str, ...] = ()


def load_leaves(root: Path | None, environment: Mapping[str, str] | None = None) -> OwnLeaves:
    """Run the leaf files that are trusted, which registers the leaves."""
    environment = os.environ if environment is None else environment
    code = CodeFiles(root=Path()) if root is None else find_code(root)
    modules, failed = _modules(code, "leaves", environment)
    used = {place for place, _ in modules}
    trust = trust_in(code, environment)
    missing: dict[str, str] = {}
    gone: list[str] = []
    importing = sys.modules.get(_IMPORTING)
    for file in (each for each in code.files if each.kind == "leaves" and each.name not in used):
        if importing and importing.has_run_leaves(file):
            gone.append(file.module)
        is_trusted = trust[file.name] == "trusted"
        problem = next((line for line in failed if file.name in line), f"{file.name} failed")
        missing[file.module] = (
            problem if is_trusted else f"{file.name} is not trusted; run `oracle tools trust`"
        )
    problems = [*_untrusted(code, "leaves", environment), *failed]
    for point in installed("leaves"):
        problem = _from_package(point)[1]
        problems += [problem] if problem else []
        if problem:
            missing[point.module] = problem
    loaded = tuple(file.module for file in code.files if file.name in used)
    return OwnLeaves(modules=loaded, problems=tuple(problems), missing=missing, gone=tuple(gone))


def _untrusted(code: CodeFiles, kind: Kind, environment: Mapping[str, str]) -> Iterator[str]:
    """One line about files that nobody has decided on. A refusal was the user's own decision."""
    trust = trust_in(code, environment)
    names = [f.name for f in code.files if f.kind == kind and trust[f.name] == "unknown"]
    if names:
        yield how_to_trust(code, names)


def _modules(
    code: CodeFiles, kind: Kind, environment: Mapping[str, str]
) -> tuple[list[tuple[str, ModuleType]], list[str]]:
    files = [file for file in trusted_files(code, environment) if file.kind == kind]
    if not files:
        if known := sys.modules.get(_IMPORTING):
            known.forget_files(code.root, kind)
        return [], []
    from oracle.services.own_code.importing import load_files

    loaded = load_files(code.root, kind, files)
    return list(loaded.modules.items()), loaded.problems


def _from_package(point: EntryPoint) -> tuple[list[Function], str]:
    """Its functions, or why there are none. Who installs a package trusts it."""
    from oracle.services.own_code.importing import run_apart, said

    outcome = run_apart(point.load)
    if outcome.problem is not None:
        return [], f"{_package(point)}: {point.value}: {said(outcome.problem)}; it is missing"
    found = outcome.value
    if isinstance(found, ModuleType):
        return tools_in(found), ""
    if isinstance(found, list | tuple):
        return list(cast("Sequence[Function]", found)), ""
    return [found], ""


def _package(point: EntryPoint) -> str:
    return f"package {point.dist.name}" if point.dist is not None else f"entry point {point.name}"


def tools_in(module: ModuleType) -> list[Function]:
    """The decorated functions that the module defines or imports, in the order of its lines."""
    from oracle.services.own_code.tool import marked_tool

    found = {id(value): value for value in vars(module).values() if marked_tool(value)}
    return list(found.values())
