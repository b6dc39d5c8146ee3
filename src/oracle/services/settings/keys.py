"""Finds the key of a provider, and keeps keys for the user.

A key is in the provider's variable, in the system keyring, or in `keys.toml` in the user's folder.
The variable wins. `keys.toml` also lists the providers whose key is in the keyring. So the keyring,
which takes long to start, is asked only if it has the key that is wanted.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from oracle.errors import InputError, StoreError
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.regular_file import NotRegular, read_regular
from oracle.services.project.redaction import hide, redact
from oracle.services.settings.resolve import shown_path
from oracle.services.settings.sections import KEY_VARIABLES, OPTIONAL_KEY_VARIABLES
from oracle.services.user_files import config_folder, rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from keyring.backend import KeyringBackend

T = TypeVar("T")
StoredIn = Literal["keyring", "file"]
Source = Literal["variable"] | StoredIn

VARIABLES: Final = {**KEY_VARIABLES, **OPTIONAL_KEY_VARIABLES}
"""The variable of each provider that can have a key."""

log = logger_of(__name__)

SERVICE: Final = "bt-oracle"
WAIT_SECONDS: Final = 10.0
"""For the keyring. It may ask the user to unlock it, or wait for a service that never answers."""

LONGEST_KEY: Final = 4_096
_HEAD: Final = "# Keys that `oracle keys set` keeps. Do not share this file.\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """`where` is for people: the variable, `the system keyring`, or the path of the file."""

    value: str = field(repr=False)
    where: str
    source: Source


class KeyringProblem(Exception):  # noqa: N818 - an outcome, after which a file is used
    """The keyring cannot be used."""


def key_for(provider: str, environment: Mapping[str, str]) -> Key | None:
    """The key of a provider. None if there is none, or if the keyring that has it fails."""
    variable = VARIABLES.get(provider)
    if variable is None:
        return None
    if value := environment.get(variable, "").strip():
        return _found(value, variable, "variable")
    stored = _stored()
    if provider in stored.in_file:
        return _found(stored.in_file[provider], place_of("file"), "file")
    if provider in stored.in_keyring:
        try:
            value = _from_keyring(provider)
        except KeyringProblem:
            return None
        return _found(value, place_of("keyring"), "keyring") if value else None
    return None


def source_of(provider: str, environment: Mapping[str, str]) -> Source | None:
    """Where the key of a provider is. It does not start the keyring."""
    if environment.get(VARIABLES.get(provider, ""), "").strip():
        return "variable"
    return stored_source(provider)


def stored_source(provider: str) -> StoredIn | None:
    stored = _stored()
    if provider in stored.in_file:
        return "file"
    return "keyring" if provider in stored.in_keyring else None


def place_of(source: StoredIn) -> str:
    """Where a stored key is, for people."""
    return "the system keyring" if source == "keyring" else shown_path(keys_file())


def missing_key(provider: str, *, in_chat: bool = False) -> tuple[str, str]:
    """Why `key_for` found no key, and the next step."""
    variable = VARIABLES[provider]
    if stored_source(provider) == "keyring":
        return (
            f"the key for {provider} is in the system keyring, which cannot be read",
            f"unlock the keyring, or set {variable}",
        )
    if in_chat:
        return (
            f"there is no key for {provider}",
            f"`oracle keys set {provider}` in another terminal adds one",
        )
    return (
        f"there is no key for {provider}",
        f"set {variable}, or run `oracle keys set {provider}`",
    )


def store_key(provider: str, value: str) -> tuple[StoredIn, str]:
    """Keep a key, in the keyring if there is one that works. Returns where, and why not there."""
    value = _checked(value)
    hide(value)
    try:
        _within(lambda: _into_keyring(provider, value))
    except KeyringProblem as problem:
        _keep(lambda stored: stored.in_file.update({provider: value}), without=provider)
        return "file", str(problem)
    _keep(lambda stored: stored.in_keyring.add(provider), without=provider)
    return "keyring", ""


def remove_key(provider: str) -> None:
    """Forget the stored key of a provider. Nothing happens if there is none."""
    if stored_source(provider) == "keyring":
        try:
            _within(lambda: _out_of_keyring(provider))
        except KeyringProblem as problem:
            raise StoreError(
                f"the key for {provider} cannot be removed: {problem}; unlock it, then try again"
            ) from None
    if stored_source(provider):
        _keep(lambda stored: None, without=provider)


def keys_file() -> Path:
    return config_folder() / "keys.toml"


def _found(value: str, where: str, source: Source) -> Key:
    hide(value)
    return Key(value=value, where=where, source=source)


def _checked(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'`":
        value = value[1:-1].strip()  # copied from a file or a shell
    if not value:
        raise InputError("the key is empty; type it, or pipe it in")
    name, assigned, _ = value.partition("=")
    if assigned and name.removeprefix("export ").strip() in VARIABLES.values():
        raise InputError("give only the key, without the name of the variable and the =")
    is_text = value.isascii() and value.isprintable() and not set(" \"'`") & set(value)
    if len(value) > LONGEST_KEY or not is_text:
        raise InputError(
            "this is not a key: it is too long, or has blanks, quotes, several lines or unusual "
            "characters; copy the key alone"
        )
    return value


# -- the file --------------------------------------------------------------------------------------


@dataclass(kw_only=True, slots=True)
class _Stored:
    in_file: dict[str, str] = field(default_factory=dict[str, str])
    in_keyring: set[str] = field(default_factory=set[str])


def _stored() -> _Stored:
    try:
        file = keys_file()
        file.lstat()
    except (StoreError, OSError):  # no file, no home folder, or one of another user
        return _Stored()
    try:
        text = read_regular(file).decode(errors="replace")
    except NotRegular as problem:
        raise StoreError(f"{shown_path(file)} cannot be read: {problem.strerror}") from None
    except OSError as problem:
        raise StoreError(
            f"{shown_path(file)} cannot be read: {problem.strerror}; make it readable for you, "
            "or remove it"
        ) from None
    _keep_private(file)
    return _parsed(text)


def _parsed(text: str) -> _Stored:
    try:
        data = tomllib.loads(text)
    except ValueError:
        # The message of the parser may quote a key.
        raise StoreError(
            f"{shown_path(keys_file())} is damaged; remove it, then store the keys again with "
            "`oracle keys set`"
        ) from None
    in_file, in_keyring = _table(data, "file"), _table(data, "keyring")
    return _Stored(
        in_file={name: key for name, key in in_file.items() if isinstance(key, str)},
        in_keyring=set(in_keyring),
    )


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    found: Any = data.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _keep_private(file: Path) -> None:
    """Take the rights of others away. If that is not possible, the keys are not used."""
    status = file.stat()
    if not status.st_mode & 0o077:
        return
    try:
        file.chmod(0o600)
    except OSError:
        raise StoreError(
            f"other users can read {shown_path(file)}; run `chmod 600` on it"
        ) from None
    # Without a handler the text goes to stderr as it is, where all lines begin like this.
    log.warning("oracle: other users could read %s; its mode is 600 now", shown_path(file))


def _keep(change: Callable[[_Stored], object], *, without: str) -> None:
    def changed(text: str) -> str:
        stored = _parsed(text)
        stored.in_file.pop(without, None)
        stored.in_keyring.discard(without)
        change(stored)
        return _HEAD + _as_toml(stored)

    rewrite(keys_file(), changed)


def _as_toml(stored: _Stored) -> str:
    import json

    files = [f"{json.dumps(name)} = {json.dumps(key)}" for name, key in stored.in_file.items()]
    rings = [f"{json.dumps(name)} = true" for name in sorted(stored.in_keyring)]
    return "\n".join(["[file]", *files, "", "[keyring]", *rings, ""])


# -- the keyring -----------------------------------------------------------------------------------


def _backend() -> KeyringBackend:
    """A keyring that keeps what it is given, and asks nothing at the terminal."""
    import keyring
    from keyring.backends import chainer, fail, null

    found = keyring.get_keyring()
    is_useless = isinstance(found, fail.Keyring | null.Keyring) or (
        isinstance(found, chainer.ChainerBackend) and not found.backends
    )
    # The package recommends backends from 1. Those below keep keys in files of their own.
    is_chosen = "PYTHON_KEYRING_BACKEND" in os.environ
    if is_useless or (not is_chosen and found.priority < 1):
        raise KeyringProblem("there is no system keyring")
    return found


def _into_keyring(provider: str, value: str) -> None:
    backend = _backend()
    backend.set_password(SERVICE, provider, value)  # pyright: ignore[reportUnknownMemberType]
    if backend.get_password(SERVICE, provider) != value:
        raise KeyringProblem("the system keyring does not keep what it is given")


def _from_keyring(provider: str) -> str | None:
    return _within(lambda: _backend().get_password(SERVICE, provider))


def _out_of_keyring(provider: str) -> None:
    backend = _backend()
    # Another program may have removed it already.
    if backend.get_password(SERVICE, provider) is not None:
        backend.delete_password(SERVICE, provider)


def _within(work: Callable[[], T]) -> T:
    """Run it in a thread that is left alone if it takes too long."""
    from threading import Thread

    done: list[T] = []
    failed: list[str] = []

    def run() -> None:
        try:
            done.append(work())
        except KeyringProblem as problem:
            failed.append(str(problem))
        except BaseException as problem:  # a backend is foreign code
            what = f"{type(problem).__name__}: {redact(str(problem))[:100]}"
            failed.append(f"the system keyring fails ({what})")

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(WAIT_SECONDS)
    if not done:
        slow = f"the system keyring did not answer within {WAIT_SECONDS:g} s"
        raise KeyringProblem(failed[0] if failed else slow)
    return done[0]
