"""The values of a project's own file that count only if the user trusts the project.

Anybody can write the `oracle.toml` of a project that the user only wants to look at. Such a file
must not decide where keys and questions go, which files outside of the project are read, or how
much of the user's money and time a question takes.

A value of the first kind is an error, because nothing sensible could be done without it. One that
only costs more is left out with a warning, and the user's own value or the default counts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from oracle.errors import InputError
from oracle.lazy_dataclass import dataclass
from oracle.services.project.root import DATABASE_FILES, FOLDER
from oracle.services.settings.server_address import is_loopback
from oracle.services.settings.value_types import OFF, masked
from oracle.settings import ROOTS, SETTINGS, Origin

Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Guarded:
    """A value that needs trust, and why. `seen` changes with everything that it means.

    `is_left_out`: without trust another value counts. Otherwise it is an error.
    """

    name: str
    value: Any
    origin: Origin
    reason: str
    seen: str
    is_left_out: bool

    @property
    def shown(self) -> str:
        return shown_value(self.value)


def guarded_values(
    values: Values,
    origins: Mapping[str, Origin],
    below: Values,
    root: Path,
    also: Collection[str] = (),
) -> Iterator[Guarded]:
    """`below` has the values that count if the project's file is left out. `also` has names of
    values that are wanted although they need no trust as things are.
    """
    for name, check in _REFUSED.items():
        is_theirs = _is_in_hands_of_project(origins[name], root, name, values[name])
        reason = check(values, root, name) if is_theirs else None
        if reason or name in also:
            yield _guarded(values, origins, root, name, reason or "", is_left_out=False)
    for name in values:
        # Whatever it names: a root is another folder than the project.
        if name.startswith(f"{ROOTS}."):
            yield _guarded(values, origins, root, name, _ROOT, is_left_out=False)
    for name, compare in _LEFT_OUT.items():
        value, other = values[name], below.get(name)
        is_theirs = origins[name].source == "file" and value != other
        reason = compare(values, value, other) if is_theirs else None
        if reason or name in also:
            yield _guarded(values, origins, root, name, reason or "", is_left_out=True)


def _guarded(
    values: Values,
    origins: Mapping[str, Origin],
    root: Path,
    name: str,
    reason: str,
    *,
    is_left_out: bool,
) -> Guarded:
    return Guarded(
        name=name,
        value=values[name],
        origin=origins[name],
        reason=reason,
        seen=_digest_of(values, root, name),
        is_left_out=is_left_out,
    )


def _digest_of(values: Values, root: Path, name: str) -> str:
    """Of the value, and of what gives it its meaning: the price of which model, at which server;
    the folder that a link leads to.
    """
    related = ("model.name", "model.base_url") if name in _DESCRIPTIONS else ()
    places = _places_of(root, name, values[name]) if values[name] else ()
    meaning = (name, values[name], *(values[other] for other in related), *map(str, places))
    if name == "mcp.servers":
        # With the files of the project that it starts: one that was changed is another program.
        meaning = (name, *(server.digest(root) for server in values[name]))
    return hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]


def _is_in_hands_of_project(origin: Origin, root: Path, name: str, value: Any) -> bool:
    """A relative path in the user's own file leads into the project, where a link may lead on."""
    if origin.source == "user":
        return name in _PATHS and value is not None and _leads_on(root, name, value)
    return origin.source in ("file", "default")


def _leads_on(root: Path, name: str, value: str) -> bool:
    """Whether a path that starts at the root ends outside of it, because of a link."""
    if name in _FOLDERS:
        return not os.path.isabs(os.path.expanduser(value))
    try:
        file = _database_file(value, root)
    except InputError:
        return False
    is_relative = file is not None and Path(os.path.abspath(file)).is_relative_to(root)
    return is_relative and file is not None and not _is_inside(file, root)


def shown_value(value: Any) -> str:
    """As it is written in the file, without secrets, and not too long."""
    if value is None:
        return OFF
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        value = [each if isinstance(each, str) else str(each) for each in items]
    text = masked(repr(value))
    return text if len(text) <= 100 else f"{text[:99]}…"


# -- values that are refused -----------------------------------------------------------------------


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
    if given.startswith("postgres"):
        return "conversations would be stored there, and read from there"
    try:
        file = _database_file(given, root)
    except InputError:
        return None  # not a database that can be used, which is reported later
    if file is None or not _is_inside(file, root):
        return "conversations would be stored outside of the project"
    if os.path.realpath(file) != os.path.join(os.path.realpath(root), FOLDER, DATABASE_FILES[0]):
        # Nothing keeps git from committing it there.
        return "conversations would be stored among the project's files, for all who get those"
    return None


def _folder(values: Values, root: Path, name: str) -> str | None:
    if values[name] is None:
        return None
    if all(_is_inside(path, root) for path in _places(root, values[name])):
        return None
    return "files outside of the project would be read and sent to the model"


def _allowed_secrets(values: Values, root: Path, name: str) -> str | None:
    return "files with secrets would be read and sent to the model" if values[name] else None


def _hard_links(values: Values, root: Path, name: str) -> str | None:
    return "files outside of the project could be read" if values[name] == "all" else None


def _places_of(root: Path, name: str, value: str) -> list[Path]:
    if name.startswith(f"{ROOTS}."):
        return [Path(os.path.realpath(root / os.path.expanduser(value)))]
    if name in _FOLDERS:
        return _places(root, value)
    try:
        file = _database_file(value, root) if name in _PATHS else None
    except InputError:
        file = None
    return [] if file is None else [Path(os.path.realpath(file))]


def _places(root: Path, value: str) -> list[Path]:
    """Where a folder and the files in it really are."""
    folder = root / os.path.expanduser(value)
    try:
        files = sorted(folder.iterdir())
    except OSError:
        files = []
    return [Path(os.path.realpath(path)) for path in (folder, *files)]


def _database_file(given: str, root: Path) -> Path | None:
    # The parser that is used to open it. It is imported only for those who set an address.
    from oracle.services.storage.addresses import file_of

    return file_of(given, root)


def _is_inside(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


# -- values that are left out ----------------------------------------------------------------------


def _more(values: Values, value: Any, below: Any) -> str | None:
    """None is a limit that is off."""
    is_more = below is not None and (value is None or value > below)
    return "it is more than you allow" if is_more else None


def _size(values: Values, value: Any, below: Any) -> str | None:
    if _is_free(values) or (below is not None and value <= below):
        return None
    return "it could make each request cost more"


def _price(values: Values, value: Any, below: Any) -> str | None:
    if _is_free(values) or (below is not None and value >= below):
        return None
    return "it could make a paid model look cheap, so that no limit of money holds"


def _unrecorded(values: Values, value: Any, below: Any) -> str | None:
    return "it lets runs go on that are not recorded" if value == "memory" else None


def _forgets(values: Values, value: Any, below: Any) -> str | None:
    if value is None or (below is not None and value >= below):
        return None
    return "it would delete what you have kept"


def _paid_searches(values: Values, value: Any, below: Any) -> str | None:
    if value == "ddgs":
        return "searches would go to public search engines"
    if value not in ("tavily", "brave"):
        return None
    return f"searches would go to {value}, and your key would pay for them"


def _other_loop(values: Values, value: Any, below: Any) -> str | None:
    if value == "shadow":
        return "each question would be answered twice"
    return None if value is True else "the tree would not control the model"


def _programs(values: Values, value: Any, below: Any) -> str | None:
    if set(value) <= set(below or ()):
        return None
    return "it would start programs as you, or send questions to other servers"


def _is_free(values: Values) -> bool:
    """Whether no key of the user is sent to the model: it runs on this machine."""
    name, address = str(values["model.name"]), values["model.base_url"]
    if values["model.key_variable"] is not None:
        return False
    if address is not None:
        return is_loopback(address)
    return name.startswith("ollama:") and not name.endswith(("-cloud", ":cloud"))


_REFUSED: Final[Mapping[str, Callable[[Values, Path, str], str | None]]] = {
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
_DESCRIPTIONS: Final = {
    "model.context_window": _size,
    "model.longest_output": _size,
    "model.input_price": _price,
    "model.output_price": _price,
}
_COSTS: Final = ("limits", "server", "spend")
_LEFT_OUT: Final[Mapping[str, Callable[[Values, Any, Any], str | None]]] = {
    **{name: _more for name, row in SETTINGS.items() if row.section in _COSTS},
    "model.stall_seconds": _more,
    "model.attempts": _more,
    **_DESCRIPTIONS,
    "journal.failure": _unrecorded,
    "database.keep_days": _forgets,
    "web.provider": _paid_searches,
    "loop.use_bt": _other_loop,
    "loop.shadow_share": _more,
    "loop.shadow_money": _more,
    "mcp.servers": _programs,
}
_FOLDERS: Final = frozenset({"prompts.folder", "trees.folder"})
_PATHS: Final = _FOLDERS | {"database.url"}
_ROOT: Final = "files of this folder would be read and sent to the model"
