"""What `oracle doctor` looks at: a table of small functions, each of which changes nothing.

A check takes the surroundings and answers findings. It may raise: what it raises is a finding too.
To add one, write a function and put it into `CHECKS`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from oracle.errors import OracleError, SettingsError
from oracle.services.project.root import here, user_folder
from oracle.services.settings.resolve import root_of, shown_path, strangers
from oracle.services.settings.toml_file import FILE_NAME
from oracle.settings import EMBEDDED, KEY_VARIABLES, Settings, load_settings

Level = Literal["ok", "warning", "problem"]

LITTLE_SPACE: Final = 1_000_000_000
NO_SPACE: Final = 50_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    check: str
    level: Level
    told: str
    next_step: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """Where the settings cannot be read, `settings` are the defaults, and `broken` says why."""

    settings: Settings
    broken: SettingsError | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def root(self) -> Path | None:
        return self.settings.root


Seen = tuple[Level, str, str]
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
        from dataclasses import replace

        nowhere = load_settings(Path(start.anchor or "/"), environment={})
        settings = replace(nowhere, root=root_of(start))
        return Surroundings(settings=settings, broken=problem, environment=environment)


def _found(name: str, check: Check, around: Surroundings) -> Iterator[Finding]:
    try:
        for level, told, next_step in check(around):
            yield Finding(check=name, level=level, told=told, next_step=next_step)
    except OracleError as problem:
        yield Finding(check=name, level="problem", told=str(problem))
    except Exception as problem:
        told = f"cannot be looked at: {type(problem).__name__}: {problem}"
        yield Finding(check=name, level="problem", told=told)


# -- the machine -----------------------------------------------------------------------------------


def python(around: Surroundings) -> Iterator[Seen]:
    from importlib.metadata import version

    running = ".".join(map(str, sys.version_info[:3]))
    yield "ok", f"{running}, oracle {version('bt-oracle')}", ""


def disk(around: Surroundings) -> Iterator[Seen]:
    free = shutil.disk_usage(around.root or Path.cwd()).free
    told = f"{free / 1e9:.1f} GB free"
    if free < NO_SPACE:
        yield "problem", told, "free some space: runs could not be recorded"
    elif free < LITTLE_SPACE:
        yield "warning", told, "free some space, or forget old runs with `oracle purge`"
    else:
        yield "ok", told, ""


def extras(around: Surroundings) -> Iterator[Seen]:
    """What is optional and not here is no fault; where it is needed, that check says so."""
    from oracle.cli.extras import optional_extras

    here, absent = optional_extras()
    told = f"installed: {', '.join(here) or 'none'}"
    if absent:
        told += f"; not installed: {', '.join(absent)} (pip install 'bt-oracle[{absent[0]}]')"
    yield "ok", told, ""


# -- the project -----------------------------------------------------------------------------------


def project(around: Surroundings) -> Iterator[Seen]:
    if around.root is not None:
        yield "ok", f"its root is {around.root}", ""
    else:
        kept = around.settings.database.url is None
        told = "this folder lies in no project"
        if kept:
            told += f"; what is asked here is kept in {shown_path(user_folder())}"
        yield "warning", told, "go to one, or run `oracle init` here"


def settings(around: Surroundings) -> Iterator[Seen]:
    if around.broken is not None:
        for mistake in str(around.broken).splitlines():
            yield "problem", mistake, ""
        left_out = ", ".join(name for name in CHECKS if name in NEED_SETTINGS)
        yield "warning", f"not looked at: {left_out}", "mend the settings, then ask again"
        return
    set_here = [o for o in around.settings.origins.values() if o.source != "default"]
    file = around.root and around.root / FILE_NAME
    if file and file.exists():
        yield "ok", f"{shown_path(file)} is sound; {len(set_here)} set in all", ""
    else:
        yield "ok", f"no {FILE_NAME}, {len(set_here)} set by variables", "`oracle init` writes one"
    for warning in around.settings.warnings:
        yield "warning", warning, ""
    if others := strangers(around.environment):
        yield "ok", f"variables that oracle does not read: {', '.join(others[:10])}", ""


def folder(around: Surroundings) -> Iterator[Seen]:
    if around.root is None:
        return
    own = around.root / ".oracle"
    if own.exists() and not own.is_dir():
        yield "problem", f"{own} is a file", "move it away: oracle keeps its database there"
    elif not os.access(own if own.exists() else around.root, os.W_OK | os.X_OK):
        yield "problem", f"{own} cannot be written", "make it writable, or set database.url"
    else:
        yield "ok", f"{own} is writable" if own.exists() else f"{own} is made on first use", ""


def database(around: Surroundings) -> Iterator[Seen]:
    from oracle.services.storage.connections import shown
    from oracle.services.storage.database import as_url, schema_of, url_from
    from oracle.services.storage.migrations import MIGRATIONS

    given = around.settings.database.url
    if given is None and around.root is None:
        return
    default = (around.root or Path()) / ".oracle" / "oracle.db"
    url = as_url(default) if given is None else url_from(around.settings, given)
    schema = schema_of(url)
    if schema is None:
        yield "ok", f"{shown(url)} is made on first use", ""
    elif schema > len(MIGRATIONS):
        yield (
            "problem",
            f"{shown(url)} has schema {schema}, made by a newer oracle",
            "upgrade oracle",
        )
    elif schema < len(MIGRATIONS):
        yield "ok", f"{shown(url)} goes from schema {schema} to {len(MIGRATIONS)} on next use", ""
    else:
        yield "ok", f"{shown(url)} has schema {schema}, the newest", ""


# -- what answers ----------------------------------------------------------------------------------


def model(around: Surroundings) -> Iterator[Seen]:
    chosen, environment = around.settings.model, around.environment
    if chosen.name == EMBEDDED:
        keys = [name for name in ("anthropic", "openai") if environment.get(KEY_VARIABLES[name])]
        hint = f"; {KEY_VARIABLES[keys[0]]} is there" if keys else " and its key's variable"
        example = f"{keys[0] if keys else 'anthropic'}:…"
        told = "embedded: answers by quoting, no language model is configured"
        yield "warning", told, f'set model.name to "{example}"{hint}'
    elif ":" not in chosen.name:
        told = f"model.name is {chosen.name!r}, which names no provider"
        yield "problem", told, f'write provider:model, such as "anthropic:{chosen.name}"'
    elif chosen.key_name is None or environment.get(chosen.key_name):
        key = f"key in {chosen.key_name}" if chosen.key_name else "no key needed or known"
        yield "ok", f"{chosen.name}, {key}", ""
    elif chosen.base_url and not chosen.key_variable:
        yield "ok", f"{chosen.name} at {chosen.base_url}, without a key", ""
    else:
        yield "problem", f"{chosen.name} has no key", f"set {chosen.key_name}"


def web(around: Surroundings) -> Iterator[Seen]:
    chosen = around.settings.web
    if chosen.provider is None:
        told = "no provider: questions that need the web are told so"
        yield "warning", told, "set web.provider to searxng, tavily or brave"
    elif chosen.provider == "searxng" and chosen.url is None:
        yield "problem", "searxng has no address", "set web.url to where it listens"
    elif chosen.key_name and not around.environment.get(chosen.key_name):
        yield "problem", f"{chosen.provider} has no key", f"set {chosen.key_name}"
    else:
        yield "ok", f"{chosen.provider}{f' at {chosen.url}' if chosen.url else ''}", ""


def prompts(around: Surroundings) -> Iterator[Seen]:
    from oracle.services.prompting.segment_files import built_in_segments, load_segments

    found = load_segments(around.settings.path("prompts.folder"))
    own = sum(segment not in built_in_segments() for segment in found)
    yield "ok", f"{len(found)} segments, {own} of the project's own", ""


def trees(around: Surroundings) -> Iterator[Seen]:
    from oracle.bt.lua.library import TreeLibrary
    from oracle.cli.commands.tree import BUILT_IN_TREES
    from oracle.cli.leaves import import_leaves

    import_leaves([])
    chosen = around.settings.trees.folder
    library = TreeLibrary([around.settings.path("trees.folder") if chosen else BUILT_IN_TREES])
    yield "ok", f"{', '.join(library)} from {chosen or 'the package'}", ""


CHECKS: Final[Mapping[str, Check]] = {
    "python": python,
    "disk": disk,
    "extras": extras,
    "project": project,
    "settings": settings,
    "folder": folder,
    "database": database,
    "model": model,
    "web": web,
    "prompts": prompts,
    "trees": trees,
}
NEED_SETTINGS: Final = frozenset({"database", "model", "web", "prompts", "trees"})
