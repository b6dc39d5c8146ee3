"""What earlier walks decided about names, so that a name is matched against the rules only once.

A decision by name depends on the path and on the rules: the ignore files above, the settings, and
the code that applies them. So it holds as long as their digest is the same, whatever else happened
to the files or to the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Final, Self

from oracle.lazy_dataclass import dataclass
from oracle.services.project.file_rules import can_be_written_down
from oracle.services.project.ignore_rules import IgnoreRules

_NO_NAME: Final = "\0"
"""Between names of files, which cannot have it."""
_LEFT_OUT: Final = 2 * _NO_NAME
LEFT_OUT_BEFORE: Final = "left out by its name, as before"

NameRule = Callable[[str, IgnoreRules], str | None]
"""Why a path is left out because of its name; None if it is taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderDecisions:
    """Names in one folder. Those of folders end with a slash."""

    prefix: str
    rules: bytes
    taken: frozenset[str]
    left_out: frozenset[str]

    @classmethod
    def from_row(cls, row: tuple[str, bytes, bytes]) -> Self:
        taken, _, left_out = row[2].decode("utf-8", "surrogatepass").partition(_LEFT_OUT)
        return cls(prefix=row[0], rules=row[1], taken=_names(taken), left_out=_names(left_out))

    def as_row(self) -> tuple[str, bytes, bytes]:
        """To be stored. Thousands are read at once, so the form is one that is read quickly."""
        names = _LEFT_OUT.join(_NO_NAME.join(sorted(some)) for some in (self.taken, self.left_out))
        # As bytes, because not every name is valid text.
        return (self.prefix, self.rules, names.encode("utf-8", "surrogatepass"))


def _names(joined: str) -> frozenset[str]:
    return frozenset(joined.split(_NO_NAME)) if joined else frozenset[str]()


class KnownFolder:
    """The decisions of one folder while it is walked: the earlier ones and those made now."""

    def __init__(self, prefix: str, rules: bytes, earlier: FolderDecisions | None) -> None:
        self._prefix = prefix
        self._rules = rules
        self._earlier = earlier
        holds = earlier is not None and earlier.rules == rules
        self.taken = earlier.taken if earlier and holds else frozenset[str]()
        self._left_out = earlier.left_out if earlier and holds else frozenset[str]()
        self._new: dict[str, bool] = {}

    def reason(self, name: str, path: str, rules: IgnoreRules, against: NameRule) -> str | None:
        if name in self.taken:
            return None
        if name in self._left_out:
            return LEFT_OUT_BEFORE
        reason = against(path, rules)
        if can_be_written_down(path):
            self._new[name] = reason is None
        return reason

    def now(self) -> FolderDecisions | None:
        """The decisions to store, or None if they are the earlier ones.

        Names that are gone stay until something else changes: they do no harm.
        """
        if not self._new and self._earlier and self._earlier.rules == self._rules:
            return None
        new = self._new.items()
        return FolderDecisions(
            prefix=self._prefix,
            rules=self._rules,
            taken=self.taken.union(name for name, is_taken in new if is_taken),
            left_out=self._left_out.union(name for name, is_taken in new if not is_taken),
        )


class WalkMemory:
    def __init__(self, earlier: Mapping[str, FolderDecisions]) -> None:
        self._earlier = earlier
        self._folders: dict[str, KnownFolder] = {}

    def folder(self, prefix: str, rules: bytes) -> KnownFolder:
        known = KnownFolder(prefix, rules, self._earlier.get(prefix))
        self._folders[prefix] = known
        return known

    def changed(self) -> list[FolderDecisions]:
        """What is new since it was stored, after a walk."""
        new = ((prefix, now) for prefix, each in self._folders.items() if (now := each.now()))
        return [now for prefix, now in new if can_be_written_down(prefix)]

    def gone(self) -> Iterable[str]:
        """Folders that a whole walk did not meet again."""
        return self._earlier.keys() - self._folders.keys()


@cache
def digest_of_code() -> bytes:
    """Of the modules that decide, so that a new version of a rule counts at once."""
    state = blake2b(digest_size=16)
    for file in sorted(files("oracle.services.project").iterdir(), key=lambda each: each.name):
        if file.name.endswith(".py"):
            state.update(file.read_bytes())
    return state.digest()
