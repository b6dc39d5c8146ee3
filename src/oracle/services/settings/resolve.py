"""Combines defaults, files, variables and flags; later ones win. Reports all mistakes at once."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from oracle.errors import InputError, SettingsError, StoreError, did_you_mean
from oracle.patterns import lazy_pattern
from oracle.services.control.ledger import Limits
from oracle.services.project.root import find_root
from oracle.services.settings.collected import Collected
from oracle.services.settings.guarded import Guarded, guarded_values
from oracle.services.settings.sections import KEY_VARIABLES, OPTIONAL_KEY_VARIABLES, SECTIONS
from oracle.services.settings.toml_file import FILE_NAME, Written, read_settings_file
from oracle.services.settings.trust import VARIABLE, untrusted
from oracle.services.settings.value_types import DatabaseAddress, holds_password, quoted
from oracle.services.user_files import config_folder
from oracle.settings import PREFIX, ROOTS, SETTINGS, Origin, Setting, Settings, setting_named

if TYPE_CHECKING:
    from oracle.services.project.roots import Root

MOST_MISTAKES: Final = 20
_FILES: Final = ("user", "file")
SEE_ALL: Final = "; `oracle init --print` lists all settings"

_SECRET: Final = lazy_pattern(r"(?:.*_)?(?:api_?key|key|token|secret|password)", re.IGNORECASE)
_NO_SECRETS: Final = (
    "a key does not belong here; put it into the provider's variable, such as ANTHROPIC_API_KEY, "
    "or keep it with `oracle keys set PROVIDER`"
)


def resolve(
    start: Path, *, environment: Mapping[str, str], flags: Mapping[str, object]
) -> Settings:
    root = root_of(start)
    _hide_keys(environment)
    collected = _collected(root, environment, flags)
    if root is not None:
        _leave_out_untrusted(collected, root, environment)
    roots: tuple[Root, ...] = ()
    if collected.has_roots and root is not None and not collected.mistakes:
        from oracle.services.settings.root_settings import made_roots

        roots = made_roots(collected, root)
    if collected.mistakes:
        mistakes = [*collected.mistakes, *collected.wrong_flags]
        raise SettingsError("\n".join(_shortened(mistakes)))
    # A flag is changed on the command line and not in the settings, so it has another exit code.
    if collected.wrong_flags:
        raise InputError("; ".join(collected.wrong_flags))
    return _settings(collected, root, roots)


def _hide_keys(environment: Mapping[str, str]) -> None:
    """The user's keys are redacted from everything, also those that a run does not use."""
    variables = (*KEY_VARIABLES.values(), *OPTIONAL_KEY_VARIABLES.values())
    keys = [environment[variable] for variable in variables if environment.get(variable)]
    if keys:
        # Imported only for those who have keys: settings are read at every start.
        from oracle.services.project.redaction import hide

        for key in keys:
            hide(key)


def _collected(
    root: Path | None, environment: Mapping[str, str], flags: Mapping[str, object]
) -> Collected:
    collected = Collected()
    own = _users_file()
    if own is not None:
        _take_file(collected, own, None)
    # Somebody who works in the folder of the user's file has no project there.
    if root is not None and not (own and own.exists() and _is_same(own, root / FILE_NAME)):
        _take_file(collected, root / FILE_NAME, root)
    _take_variables(collected, environment)
    _take_flags(collected, flags)
    return collected


def values_to_trust(root: Path, also: Collection[str] = ()) -> list[Guarded]:
    """The values in a project's own file that need trust, whatever variables say; and `also`."""
    return _guarded(_collected(root, {}, {}), root, also)


def _guarded(collected: Collected, root: Path, also: Collection[str] = ()) -> list[Guarded]:
    below = {name: value for name, (value, _) in collected.below.items()}
    return list(guarded_values(collected.values, collected.origins, below, root, also))


def _leave_out_untrusted(collected: Collected, root: Path, environment: Mapping[str, str]) -> None:
    found = _guarded(collected, root)
    strange = untrusted(found, root, environment)
    if not strange:
        return
    left_out = {each.name: collected.leave_out(each) for each in strange if each.is_left_out}
    file, accept = shown_path(root / FILE_NAME), "`oracle config trust` accepts it"
    if servers := left_out.pop("mcp.servers", None):
        collected.warnings.append(f"{file} would start or call other programs: {servers}; {accept}")
    if left_out:
        costly = ", ".join(left_out.values())
        collected.warnings.append(f"{file} could cost you more than you allow: {costly}; {accept}")
    # Again, because a value can need trust only together with one that is left out.
    trusted = {each.name for each in found} - {each.name for each in strange}
    for each in _guarded(collected, root):
        if not each.is_left_out and each.name not in trusted:
            # Roots have no variables.
            other = f", or give your own value in {setting_named(each.name).variable}"
            collected.mistakes.append(
                f"{each.origin}: {each.name} is {each.shown}: {each.reason}. A project's own file "
                "decides this only if you trust it: run `oracle config trust`"
                f"{other if each.name in SETTINGS else ''}"
            )


def default_settings(root: Path | None) -> Settings:
    """The defaults alone, for those who must go on although the settings are broken."""
    return _settings(Collected(), root)


def users_settings(environment: Mapping[str, str]) -> Settings:
    """What counts without a project: the user's own file and variables."""
    return _settings(_collected(None, environment, {}), None)


def user_settings_file() -> Path:
    """The settings of the user for all projects. A project's own file overrides them."""
    return config_folder() / FILE_NAME


def _users_file() -> Path | None:
    """None if there is none, or no way to it: a service may have a home folder that is not its own.

    A file that is there but cannot be read is a mistake, which is reported where it is read.
    """
    try:
        file = user_settings_file()
        file.lstat()
    except (StoreError, OSError):
        return None
    return file


def _is_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def root_of(start: Path) -> Path | None:
    try:
        return find_root(start)
    except InputError:
        return None


def shown_path(path: Path) -> str:
    """Relative if the working directory is below it, so that an editor can jump there. The home
    folder is `~`.
    """
    try:
        ups = len(Path.cwd().resolve().relative_to(path.parent).parts)
    except (ValueError, OSError):
        home = os.path.expanduser("~") + os.sep
        return str(path).replace(home, f"~{os.sep}", 1) if str(path).startswith(home) else str(path)
    return str(Path(*[".."] * ups, path.name))


def _settings(collected: Collected, root: Path | None, roots: tuple[Root, ...] = ()) -> Settings:
    def section(name: str) -> dict[str, Any]:
        rows = (row for row in SETTINGS.values() if row.section == name)
        return {row.name.partition(".")[2]: collected.values[row.name] for row in rows}

    made = {name: kind(**section(name)) for name, kind in SECTIONS.items() if name != "limits"}
    return Settings(
        **made,
        limits=Limits(**section("limits")),
        root=root,
        roots=roots,
        origins=collected.origins,
        warnings=tuple(collected.warnings),
    )


# -- the files -------------------------------------------------------------------------------------


def _take_file(collected: Collected, file: Path, root: Path | None) -> None:
    """The file of the project at `root`, or the user's own."""
    shown = shown_path(file)
    source: Literal["user", "file"] = "user" if root is None else "file"
    roots: list[Written] = []
    # Each unknown section is reported once, not again for every setting in it.
    unknown: set[str] = set()
    for item in read_settings_file(file, shown):
        place = f"{shown}:{item.line}"
        if item.path[0] == ROOTS:
            roots.append(item)
        elif _is_secret(item):
            collected.mistakes.append(f"{place}: {quoted('.'.join(item.path))}: {_NO_SECRETS}")
        elif item.path[0] in unknown:
            continue
        elif problem := _problem_of(item):
            unknown |= {item.path[0]} - SECTIONS.keys()
            collected.mistakes.append(f"{place}: {problem}")
        elif len(item.path) == 2:
            row = SETTINGS[".".join(item.path)]
            if source == "file":
                collected.drop_descriptions(row.name, item.value)
            collected.take(row, item.value, Origin(source=source, place=place))
    # After all else: the rules for secrets, and the folder for notes, are known by then.
    if roots:
        from oracle.services.settings.root_settings import take_roots

        take_roots(collected, roots, shown, root)


def _is_secret(item: Written) -> bool:
    return isinstance(item.value, str) and is_name_of_secret(".".join(item.path))


def is_name_of_secret(name: str) -> bool:
    return name not in SETTINGS and _SECRET.fullmatch(name.rpartition(".")[2]) is not None


def _problem_of(item: Written) -> str | None:
    """What is wrong with the name or its section. The value is checked later."""
    name = ".".join(item.path)
    if item.path[0] not in SECTIONS:
        return _unknown_at_top(item)
    if len(item.path) == 1:
        return None if isinstance(item.value, dict) else _not_a_section(item.path[0])
    if name not in SETTINGS:
        return f"no setting {quoted(name)}{_hint(item.path[1], _keys(item.path[0]))}"
    return password_in(SETTINGS[name], item.value)


def _unknown_at_top(item: Written) -> str:
    name = item.path[0]
    if len(item.path) == 1 and not isinstance(item.value, dict | list):
        homes = [row.name for row in SETTINGS.values() if row.name.endswith(f".{name}")]
        hint = f"; did you mean {homes[0]!r}?" if homes else did_you_mean(name, SETTINGS) or SEE_ALL
        return f"no setting {quoted(name)} outside a section{hint}"
    return f"no section {quoted(name)}{_hint(name, dict(zip(SECTIONS, SECTIONS, strict=True)))}"


def _not_a_section(name: str) -> str:
    first = next(row for row in SETTINGS.values() if row.section == name)
    key = first.name.partition(".")[2]
    return f"{name!r} is a section; write [{name}], and below it {key} = …"


def password_in(row: Setting, value: object) -> str | None:
    if not (isinstance(row.kind, DatabaseAddress) and isinstance(value, str)):
        return None
    if holds_password(value):
        return (
            f"{row.name} contains a password, which does not belong in a settings file; "
            f"set {row.variable}, or leave the password out and use PGPASSWORD or ~/.pgpass"
        )
    return None


# -- variables and flags ---------------------------------------------------------------------------


def _take_variables(collected: Collected, environment: Mapping[str, str]) -> None:
    # The other variables come first, so that the usual ones count more.
    others = {row.other_variable: row for row in SETTINGS.values() if row.other_variable}
    by_variable = others | {row.variable: row for row in SETTINGS.values()}
    ours = (name for name in environment if name.startswith(PREFIX))
    for variable in sorted(ours, key=lambda name: (name not in others, name)):
        text = environment[variable]
        row = by_variable.get(variable)
        if variable == VARIABLE:
            continue
        if row is None:
            _judge_unknown(collected, variable)
        elif text:
            _leave_other_server(collected, row, text)
            collected.take(row, row.kind.from_text(text), Origin(source="variable", place=variable))


def _judge_unknown(collected: Collected, variable: str) -> None:
    """A mistake if it starts like one of our sections, a warning if it is near one of our names.

    Any other variable may belong to another program: Oracle Database reads ORACLE_HOME.
    """
    name = variable.removeprefix(PREFIX)
    section, _, key = name.partition("_")
    if key and section.lower() in SECTIONS:
        keys = {SETTINGS[full].variable: short for full, short in _keys(section.lower()).items()}
        secret = _SECRET.fullmatch(key)
        hint = f"; {_NO_SECRETS}" if secret else _hint(key.lower(), keys)
        collected.mistakes.append(f"{variable}: no setting has this variable{hint}")
    elif near := _near(name):
        collected.warnings.append(f"{variable} is not read; did you mean {near!r}?")


def _near(name: str) -> str | None:
    """The setting's variable that `name` is similar to, or a part of."""
    known = {variable.removeprefix(PREFIX): variable for variable in _variables()}
    close = get_close_matches(name, known, n=1, cutoff=0.8)
    parts = [short for short in known if name in (short.split("_")[0], short.partition("_")[2])]
    return next((known[short] for short in [*close, *parts]), None)


def unread_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables that start with our prefix but that no setting reads."""
    read = {*_variables(), VARIABLE}
    return sorted({name for name in environment if name.startswith(PREFIX)} - read)


def _take_flags(collected: Collected, flags: Mapping[str, object]) -> None:
    for name, value in flags.items():
        row = SETTINGS[name]
        raw = row.kind.from_text(value) if isinstance(value, str) else value
        _leave_other_server(collected, row, value)
        collected.take(row, raw, Origin(source="flag", place=row.flag or name))


def _leave_other_server(collected: Collected, row: Setting, value: object) -> None:
    """A file's address belongs to the provider of the model in the file. Another model of the same
    provider is asked there too; the model of another provider is not.
    """
    if row.name != "model.name" or not isinstance(value, str):
        return
    if collected.origins["model.base_url"].source not in _FILES:
        return
    # Imported here: few have an address and choose another model at the same time.
    from oracle.services.llm.names import provider_named

    provider = provider_named(value)
    if provider and provider != provider_named(collected.values["model.name"]):
        collected.drop_descriptions(row.name, value, _FILES)


# -- messages --------------------------------------------------------------------------------------


def _variables() -> list[str]:
    rows = SETTINGS.values()
    return [*(row.variable for row in rows), *(r.other_variable for r in rows if r.other_variable)]


def _keys(section: str) -> Mapping[str, str]:
    """The short names of a section's settings, by their full names."""
    rows = (row for row in SETTINGS.values() if row.section == section)
    return {row.name: row.name.partition(".")[2] for row in rows}


def _hint(word: str, known: Mapping[str, str]) -> str:
    """The full name that was probably meant; if none is near, all of them."""
    close = get_close_matches(word, known.values(), n=1)
    meant = next((name for name, short in known.items() if close == [short]), None)
    return f"; did you mean {meant!r}?" if meant else f"; use one of: {', '.join(known)}"


def _shortened(mistakes: list[str]) -> Iterator[str]:
    yield from mistakes[:MOST_MISTAKES]
    if len(mistakes) > MOST_MISTAKES:
        yield f"… and {len(mistakes) - MOST_MISTAKES} more"
