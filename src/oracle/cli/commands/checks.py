"""The checks of `oracle doctor`: a table of small functions that change nothing.

A check takes the surroundings and yields findings. It may raise; the error becomes a finding.
To add a check, write a function and put it into `CHECKS`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final, Literal

from oracle.cli.commands.keys import places
from oracle.cli.terminal.output import counted
from oracle.errors import OracleError, SettingsError
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.installing import install_command
from oracle.services.project.root import DATABASE_FILES, INDEX_FILES, check_links, here, user_folder
from oracle.services.settings.keys import key_for, missing_key
from oracle.services.settings.resolve import (
    default_settings,
    root_of,
    shown_path,
    unread_variables,
    user_settings_file,
)
from oracle.services.settings.toml_file import FILE_NAME
from oracle.settings import Settings, load_settings

Level = Literal["ok", "warning", "problem"]

LITTLE_SPACE: Final = 1_000_000_000
NO_SPACE: Final = 50_000_000
DEVELOPMENT_EXTRAS: Final = frozenset({"dev", "bench", "train"})
_REQUIREMENT: Final = lazy_pattern(r"""([\w.-]+).*;.*\bextra\s*==\s*['"]([\w-]+)['"]""")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """`told` says what was found, `next_step` how to fix it. `--json` prints these names."""

    check: str
    level: Level
    told: str
    next_step: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """If the settings cannot be read, `settings` has the defaults and `broken` says why."""

    settings: Settings
    broken: SettingsError | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def root(self) -> Path | None:
        return self.settings.root


Seen = tuple[Level, str, str]
"""Level, what was found, and the next step (may be empty)."""

Check = Callable[[Surroundings], Iterator[Seen]]


def examine(
    start: Path | None = None, environment: Mapping[str, str] | None = None
) -> list[Finding]:
    around = _surroundings(start or here(), os.environ if environment is None else environment)
    findings: list[Finding] = []
    for name, check in CHECKS.items():
        if around.broken is None or name not in NEED_SETTINGS:
            findings += _found(name, check, around)
    return findings


def _surroundings(start: Path, environment: Mapping[str, str]) -> Surroundings:
    try:
        return Surroundings(
            settings=load_settings(start, environment=environment), environment=environment
        )
    except SettingsError as problem:
        # The checks that need no settings still run, with the defaults.
        settings = default_settings(root_of(start))
        return Surroundings(settings=settings, broken=problem, environment=environment)


def _found(name: str, check: Check, around: Surroundings) -> Iterator[Finding]:
    try:
        for level, told, next_step in check(around):
            yield Finding(check=name, level=level, told=told, next_step=next_step)
    except OracleError as problem:
        yield Finding(check=name, level="problem", told=str(problem))
    except Exception as problem:
        told = f"the check failed: {type(problem).__name__}: {problem}"
        yield Finding(check=name, level="problem", told=told)


# -- the machine -----------------------------------------------------------------------------------


def python(around: Surroundings) -> Iterator[Seen]:
    from importlib.metadata import version

    running = ".".join(map(str, sys.version_info[:3]))
    yield "ok", f"{running}, oracle {version('bt-oracle')}", ""


def disk(around: Surroundings) -> Iterator[Seen]:
    free = shutil.disk_usage(_place_of_runs(around)).free
    told = f"{free / 1e9:.1f} GB free" if free >= LITTLE_SPACE else f"{free / 1e6:.0f} MB free"
    if free < NO_SPACE:
        yield "problem", told, "free some space: without it runs cannot be recorded"
    elif free < LITTLE_SPACE:
        yield "warning", told, "free some space, or delete old runs with `oracle purge`"
    else:
        yield "ok", told, ""


def _place_of_runs(around: Surroundings) -> Path:
    """The folder of the database, if it is a file; it may be on another disk than the project."""
    from oracle.services.storage.database import url_from

    place = around.root or Path.cwd()
    if around.broken is None and (given := around.settings.database.url) is not None:
        url = url_from(around.settings, given)
        if url.kind == "sqlite" and url.database:
            place = Path(url.database).absolute()
    return next(folder for folder in (place, *place.parents) if folder.is_dir())


def extras(around: Surroundings) -> Iterator[Seen]:
    """A missing extra is not a problem here. The check that needs it reports it."""
    installed, absent = optional_extras()
    told = f"installed: {', '.join(installed) or 'none'}"
    if absent:
        told += f"; not installed: {', '.join(absent)} (`{_command_for(absent)}` adds them)"
    yield "ok", told, ""


def _command_for(absent: Sequence[str]) -> str:
    return install_command("" if absent != ["bert"] else "bert")


def optional_extras() -> tuple[list[str], list[str]]:
    """The names of the extras that are installed, and of those that are not."""
    from importlib.metadata import requires

    needed: dict[str, list[str]] = {}
    for requirement in requires("bt-oracle") or []:
        if (found := _REQUIREMENT.match(requirement)) and found[2] not in DEVELOPMENT_EXTRAS:
            needed.setdefault(found[2], []).append(found[1])
    installed = {extra for extra, packages in needed.items() if all(map(_is_installed, packages))}
    # `all` is a name for the others, so it says nothing of its own.
    return sorted(installed - {"all"}), sorted(needed.keys() - installed - {"all"})


def _is_installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


# -- the project -----------------------------------------------------------------------------------


def project(around: Surroundings) -> Iterator[Seen]:
    if around.root is not None:
        yield "ok", f"the root is {around.root}", ""
    else:
        kept = around.settings.database.url is None
        told = "this folder is not in a project"
        if kept:
            told += f"; conversations are kept in {shown_path(user_folder())}"
        yield "warning", told, "go to a project, or run `oracle init` here"


def settings(around: Surroundings) -> Iterator[Seen]:
    if around.broken is not None:
        for mistake in str(around.broken).splitlines():
            yield "problem", mistake, ""
        left_out = ", ".join(name for name in CHECKS if name in NEED_SETTINGS)
        yield (
            "warning",
            f"not checked: {left_out}",
            "fix the settings, then check again",
        )
        return
    origins = around.settings.origins.values()
    chosen = counted(sum(origin.source != "default" for origin in origins), "setting")
    possible = [user_settings_file(), *([around.root / FILE_NAME] if around.root else [])]
    files = [shown_path(file) for file in possible if file.exists()]
    if files:
        verb = "is" if len(files) == 1 else "are"
        yield "ok", f"{' and '.join(files)} {verb} valid; {chosen} set in all", ""
    else:
        yield "ok", f"no {FILE_NAME}; {chosen} set by variables", "`oracle init` writes one"
    for warning in around.settings.warnings:
        yield "warning", warning, ""
    if others := unread_variables(around.environment):
        yield "ok", f"variables that oracle does not read: {', '.join(others[:10])}", ""


def folder(around: Surroundings) -> Iterator[Seen]:
    if around.root is None:
        return
    own = around.root / ".oracle"
    check_links(own, (*DATABASE_FILES, *INDEX_FILES))
    index = own / "index"
    if own.exists() and not own.is_dir():
        yield "problem", f"{own} is a file", "move it: oracle needs a folder of this name"
    elif index.exists() and not index.is_dir():
        yield "problem", f"{index} is a file", "move it away: the index needs this name"
    elif not os.access(own if own.exists() else around.root, os.W_OK | os.X_OK):
        yield _unwritable(own, around)
    else:
        yield "ok", f"{own} is writable" if own.exists() else f"{own} is created on first use", ""


def _unwritable(own: Path, around: Surroundings) -> Seen:
    from oracle.services.storage.damage import ELSEWHERE

    told = f"{own} is not writable"
    if around.broken is None and around.settings.database.url is not None:
        # Questions are answered, so it is not a problem.
        return (
            "warning",
            f"{told}, so the index is built anew in memory each time",
            "make it writable",
        )
    return "problem", told, f"make it writable, or {ELSEWHERE}"


def roots(around: Surroundings) -> Iterator[Seen]:
    """One that is missing is not a problem: questions are answered without it."""
    if not around.settings.roots:
        yield "ok", "the project itself, and no others", ""
    for root in around.settings.roots:
        if problem := root.problem:
            step = f"check the path, or remove it: `oracle config unset roots.{root.name}`"
            yield "warning", problem, step
        else:
            yield "ok", f"{root.name}/ is {root.path}", ""


def database(around: Surroundings) -> Iterator[Seen]:
    from oracle.services.storage.connections import shown
    from oracle.services.storage.database import as_url, schema_of, url_from
    from oracle.services.storage.integrity import flaws_of, names_taken
    from oracle.services.storage.migrations import MIGRATIONS

    given = around.settings.database.url
    # Outside of a project it is the user's own database.
    folder = user_folder() if around.root is None else around.root / ".oracle"
    url = as_url(folder / "oracle.db") if given is None else url_from(around.settings, given)
    schema = schema_of(url)
    if schema is None:
        yield "ok", f"{shown(url)} is created on first use", ""
    elif schema > len(MIGRATIONS):
        told = f"{shown(url)} has schema {schema}, from a newer version of oracle"
        yield "problem", told, "upgrade oracle"
    elif schema == 0 and (taken := names_taken(url)):
        told = f"{shown(url)} belongs to another program: it has a table named {taken[0]}"
        yield "problem", told, "set database.url to another database"
    elif schema < len(MIGRATIONS):
        steps = f"from schema {schema} to {len(MIGRATIONS)}"
        yield "ok", f"{shown(url)} is upgraded {steps} on next use", ""
    else:
        flaws = flaws_of(url)
        for told, next_step in flaws:
            yield "problem", told, next_step
        if not flaws:
            yield "ok", f"{shown(url)} has schema {schema}, the newest", ""


# -- what answers ----------------------------------------------------------------------------------


def keys(around: Surroundings) -> Iterator[Seen]:
    """Where keys are. The keyring itself is only asked for the key of the chosen model."""
    found = [f"{name} in {place}" for name, _, place, _ in places(around.environment) if place]
    next_step = "" if found else "`oracle keys set PROVIDER` stores one"
    yield "ok", "; ".join(found) or "there are no keys", next_step


def model(around: Surroundings) -> Iterator[Seen]:
    from oracle.services.llm.model_health import health_of_model

    yield from health_of_model(around.settings, around.environment)


def web(around: Surroundings) -> Iterator[Seen]:
    chosen = around.settings.web
    if chosen.provider is None:
        told = "no provider: questions that need the web cannot be answered"
        step = "`oracle config set web.provider NAME`: searxng, tavily, brave or ddgs"
        yield "warning", told, step
    elif chosen.provider == "ddgs":
        if _is_installed("ddgs"):
            yield "ok", "ddgs, which is unofficial: it may be blocked or rate limited", ""
        else:
            yield "problem", "the package ddgs is not installed", f"`{install_command('search')}`"
    elif chosen.provider == "searxng" and chosen.url is None:
        yield "problem", "searxng has no address", "`oracle config set web.url URL`"
    elif chosen.key_variable and not around.environment.get(chosen.key_variable):
        yield "problem", f"{chosen.provider} has no key", f"set {chosen.key_variable}"
    elif not chosen.key_variable and chosen.key_name and not _has_key(chosen.provider, around):
        what, next_step = missing_key(chosen.provider)
        yield "problem", what, next_step
    else:
        yield "ok", f"{chosen.provider}{f' at {chosen.url}' if chosen.url else ''}", ""


def _has_key(provider: str, around: Surroundings) -> bool:
    return key_for(provider, around.environment) is not None


def prompts(around: Surroundings) -> Iterator[Seen]:
    from oracle.services.prompting.segment_files import built_in_segments, load_segments

    found = load_segments(
        around.settings.path("prompts.folder"), problem_of=around.settings.problem_of_file
    )
    own = sum(segment not in built_in_segments() for segment in found)
    yield "ok", f"{len(found)} segments, {own} from the project", ""


def trees(around: Surroundings) -> Iterator[Seen]:
    from oracle.bt.lua.library import TreeLibrary
    from oracle.bt.wrappers.own_trees import trees_in_use

    chosen = around.settings.trees.folder
    library = TreeLibrary(sources=trees_in_use(around.settings)[0])
    more = f"; those in {chosen} replace built-in ones" if chosen else ", all built in"
    yield "ok", f"{counted(len(list(library)), 'tree')}{more}", ""


CHECKS: Final[Mapping[str, Check]] = {
    "python": python,
    "disk": disk,
    "extras": extras,
    "project": project,
    "settings": settings,
    "folder": folder,
    "roots": roots,
    "database": database,
    "keys": keys,
    "model": model,
    "web": web,
    "prompts": prompts,
    "trees": trees,
}
NEED_SETTINGS: Final = frozenset({"roots", "database", "model", "web", "prompts", "trees"})
