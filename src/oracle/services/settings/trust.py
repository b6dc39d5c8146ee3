"""Values of a project's own file that count only if the user trusts the project.

Anybody can write the `oracle.toml` of a project that the user only wants to look at. Such a file
must not decide where keys and questions go, nor which files outside of the project are read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from oracle.settings import Origin

VARIABLE: Final = "ORACLE_TRUST"
"""Roots of trusted projects, separated like the folders in PATH, each with or without `@digest`."""

Values = Mapping[str, Any]


def untrusted(
    values: Values, origins: Mapping[str, Origin], root: Path, environment: Mapping[str, str]
) -> Iterator[str]:
    """A mistake for each value that needs trust, if the project does not have it."""
    guarded = {
        name: reason
        for name, check in _GUARDED.items()
        if _is_in_hands_of_project(origins[name], name, values[name])
        and (reason := check(values, root, name))
    }
    digest = _digest({name: values[name] for name in guarded})
    if not guarded or is_trusted(root, digest, environment.get(VARIABLE, "")):
        return
    for name, reason in guarded.items():
        variable = f"ORACLE_{name.replace('.', '_').upper()}"
        yield (
            f"{origins[name]}: {name} is {_shown(values[name])}: {reason}. A project's own file "
            f"decides this only if you trust it: set {VARIABLE}={root}@{digest}, or give your own "
            f"value in {variable} or with `oracle config set --user`"
        )


def _is_in_hands_of_project(origin: Origin, name: str, value: Any) -> bool:
    """A relative path in the user's own file leads into the project, where a link may lead on."""
    if origin.source == "user":
        return name in _PATHS and value is not None and not os.path.isabs(_path_of(value))
    return origin.source in ("file", "default")


def is_trusted(root: Path, digest: str, listed: str) -> bool:
    """Whether the variable lists this root, alone or with this digest."""
    for entry in filter(None, listed.split(os.pathsep)):
        # With a digest only the values that the user has seen are trusted, not later ones.
        path, at, given = entry.rpartition("@")
        if _is_root(entry, root) or (at and given == digest and _is_root(path, root)):
            return True
    return False


def trusts(root: Path, environment: Mapping[str, str]) -> bool:
    """Whether the user trusts the whole project, not only values that were seen."""
    listed = environment.get(VARIABLE, "").split(os.pathsep)
    return any(_is_root(entry, root) for entry in listed if entry)


def _is_root(path: str, root: Path) -> bool:
    # A relative path would trust whatever project the user happens to be in.
    given = Path(path).expanduser()
    return given.is_absolute() and os.path.realpath(given) == os.path.realpath(root)


def _digest(values: Values) -> str:
    return hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()[:12]


def _shown(value: object) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)  # pyright: ignore[reportUnknownArgumentType]
    return text if len(text) <= 100 else f"{text[:99]}…"


# -- what needs trust ------------------------------------------------------------------------------


def _model_address(values: Values, root: Path, name: str) -> str | None:
    given = values[name]
    if given is None:
        return None
    if values["model.key_variable"] is not None:
        # Even on this machine another user's program may listen.
        return "questions, and the key in model.key_variable, would be sent there"
    is_local = is_loopback(given)
    return None if is_local else "questions, and what is found for them, would be sent there"


def _web_address(values: Values, root: Path, name: str) -> str | None:
    given = values[name]
    # SearXNG has no key, so nothing is lost to another program on this machine.
    is_local = given is None or (is_loopback(given) and values["web.provider"] == "searxng")
    return None if is_local else "searches, and the key for them, would be sent there"


def _key_variable(values: Values, root: Path, name: str) -> str | None:
    return None if values[name] is None else "the content of this variable would be sent as a key"


def _database(values: Values, root: Path, name: str) -> str | None:
    given = values[name]
    if given is None:
        return None
    scheme, colon, _ = given.partition("://")
    if scheme.startswith("postgres"):
        return "conversations would be stored there, and read from there"
    if colon and not scheme.startswith("sqlite"):
        return None  # not a database that can be used, which is reported later
    path = _path_of(given)
    is_plain = "?" not in path and not path.startswith("file:")
    if is_plain and _is_inside(root / path, root):
        return None
    return "conversations would be stored outside of the project"


def _folder(values: Values, root: Path, name: str) -> str | None:
    if values[name] is None:
        return None
    folder = root / _path_of(values[name])
    try:
        files = list(folder.iterdir())
    except OSError:
        files = []
    if all(_is_inside(path, root) for path in (folder, *files)):
        return None
    return "files outside of the project would be read and sent to the model"


def _allowed_secrets(values: Values, root: Path, name: str) -> str | None:
    return "files with secrets would be read and sent to the model" if values[name] else None


def _hard_links(values: Values, root: Path, name: str) -> str | None:
    return "files outside of the project could be read" if values[name] == "all" else None


def _path_of(value: str) -> str:
    """The path in a folder's setting or in an address of a database, with `~` replaced."""
    scheme, colon, rest = value.partition("://")
    if colon and not scheme.startswith("sqlite"):
        return "/"  # not a file of the project
    return os.path.expanduser(rest.removeprefix("/") if colon else value)


def _is_inside(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


_GUARDED: Final[Mapping[str, Callable[[Values, Path, str], str | None]]] = {
    "model.base_url": _model_address,
    "model.key_variable": _key_variable,
    "web.url": _web_address,
    "web.key_variable": _key_variable,
    "database.url": _database,
    "prompts.folder": _folder,
    "trees.folder": _folder,
    "secrets.allow": _allowed_secrets,
    "secrets.hard_links": _hard_links,
}
_PATHS: Final = frozenset({"database.url", "prompts.folder", "trees.folder"})
