"""The section `[roots]`: the user chooses the names, and each value is a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from oracle.errors import SettingsError
from oracle.services.project.roots import Root, problem_of_name, problems_of, root_from
from oracle.services.project.secret_files import SecretFiles
from oracle.services.settings.collected import Collected
from oracle.services.settings.toml_file import FILE_NAME, Written, read_settings_file
from oracle.services.settings.value_types import Unfit, quoted
from oracle.settings import ROOTS, Origin, setting_named


def take_roots(
    collected: Collected, written: Sequence[Written], shown: str, root: Path | None
) -> None:
    """The entries of the section, in the project's file; in the user's own file they are errors."""
    for item in written:
        place = f"{shown}:{item.line}"
        if len(item.path) == 1:
            if not isinstance(item.value, dict):
                told = 'is a section; write [roots], and below it a line such as shared = "../it"'
                collected.mistakes.append(f"{place}: {ROOTS!r} {told}")
        elif root is None:
            collected.mistakes.append(
                f"{place}: roots belong to one project; move them into its {FILE_NAME}"
            )
        elif problem := _problem_of(item):
            collected.mistakes.append(f"{place}: {ROOTS}.{item.path[1]}: {problem}")
        else:
            name = ".".join(item.path)
            collected.values[name] = item.value
            collected.origins[name] = Origin(source="file", place=place)


def new_root_problem(root: Path, name: str, value: str) -> str | None:
    """What would be wrong with a root that is about to be written into the project's file."""
    if problem := problem_of_name(name):
        return problem
    others = [
        root_from(root, item.path[1], item.value, SecretFiles())
        for item in read_settings_file(root / FILE_NAME, FILE_NAME)
        if item.path[0] == ROOTS and len(item.path) == 2 and isinstance(item.value, str)
    ]
    made = root_from(root, name, value, SecretFiles())
    found = dict(problems_of(root, (*(each for each in others if each.name != name), made)))
    return found.get(name)


def made_roots(collected: Collected, root: Path) -> tuple[Root, ...]:
    """When all else is read: the other settings say what is a secret, and where notes are.

    What is seen by looking at the disk is a mistake here. The user trusts the paths by now.
    """
    rules = _rules_in(collected)
    roots = [
        root_from(root, name.partition(".")[2], str(value), rules)
        for name, value in collected.values.items()
        if name.startswith(f"{ROOTS}.")
    ]
    notes = str(collected.values["vault.notes"]).split("/")[0]
    for name, problem in problems_of(root, roots, notes=notes):
        full = f"{ROOTS}.{name}"
        collected.mistakes.append(f"{collected.origins[full]}: {full}: {problem}")
    return tuple(_with_own_secrets(each) for each in roots)


def _problem_of(item: Written) -> str | None:
    if problem := problem_of_name(item.path[1]):
        return problem
    try:
        setting_named(".".join(item.path)).kind.check(item.value)
    except Unfit as problem:
        return f"it {problem}"
    if "\0" in str(item.value):
        return f"{quoted(item.value)} holds a NUL byte; write the path of a folder"
    return None


def _rules_in(collected: Collected) -> SecretFiles:
    values: dict[str, Any] = collected.values
    return SecretFiles(
        added=tuple(values["secrets.files"]),
        allowed=tuple(values["secrets.allow"]),
        hard_links=values["secrets.hard_links"],
    )


def _with_own_secrets(root: Root) -> Root:
    """A root that is a project of its own may know of more secrets than we do.

    What it allows does not count: the user of this project has not agreed to that.
    """
    try:
        entries = read_settings_file(root.path / FILE_NAME, FILE_NAME)
    except SettingsError as problem:
        return replace(root, flaw=f"its settings cannot be read: {problem}")
    added: list[str] = []
    for item in entries:
        if item.path == ("secrets", "files") and isinstance(item.value, list):
            added += [each for each in cast("list[object]", item.value) if isinstance(each, str)]
    rules = replace(root.secrets, added=(*root.secrets.added, *added))
    return replace(root, secrets=rules)
