"""The description of a tool, for the model and the tree. `services/tools` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.models.query_classification import QueryType

Role = Literal["search", "read", "uses", "map", "list", "facts", "members", "write", "other"]
"""What a tool does. The tree calls tools by role, so it need not know their names.

| role | takes | returns |
| --- | --- | --- |
| search | `query`, `limit` | places, best first |
| read | the argument of its kind (`path`, `note`, …), `start`, `end` | the lines |
| uses | `name`, `references` | where a name is defined, and the lines that use it |
| map | `question` | the files that matter to it |
| list | nothing | all sources of its kind |
| facts | `topic`, `version`, `words`, `name` | what the project says about itself |
| members | `of` | what a class, a folder or a registry holds |
| write | its own arguments | what was written |
| other | its own arguments | anything: only the model calls it |
"""

_NAME: Final = lazy_pattern(r"[A-Za-z0-9_-]{1,64}")
_ROLES_BY_WORD: Final[Mapping[str, Role]] = {
    "search": "search",
    "read": "read",
    "fetch": "read",
    "definition": "uses",
    "references": "uses",
    "map": "map",
    "list": "list",
    "write": "write",
    "push": "write",
}


_WORD: Final = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WORDS_OF_CHANGE: Final = frozenset(
    (
        *("add", "append", "apply", "approve", "cancel", "clear", "close", "create", "delete"),
        *("deploy", "disable", "drop", "edit", "email", "enable", "execute", "insert", "install"),
        *("kill", "merge", "modify", "move", "notify", "pay", "post", "publish", "purge", "push"),
        *("put", "remove", "rename", "reset", "restart", "revoke", "rollback", "run", "save"),
        *("send", "set", "shutdown", "start", "stop", "submit", "update", "upload", "wipe"),
        "write",
    )
)


def speaks_of_a_change(name: str) -> bool:
    """Whether the name says that the tool changes something: `delete_user`, `sendMail`."""
    return any(word.lower() in _WORDS_OF_CHANGE for word in _WORD.findall(name))


def role_by_name(name: str) -> Role:
    """The role of a tool that declares none: `search_tickets` searches, `read_ticket` reads.

    Tools of other servers declare no role, and neither do the tools in older recordings.
    """
    for word in name.lower().replace("-", "_").split("_"):
        if word in _ROLES_BY_WORD:
            return _ROLES_BY_WORD[word]
    return "other"


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """Valid by construction: a name that every provider accepts, and a schema of named parameters.

    `query_types` are the question types that are granted the tool from the start. `source` is the
    kind of source that it reads, a name in `SOURCE_KINDS`, or None. Without a `role`, the role
    follows from the name.

    A writing tool that `needs_yes` is run only after a person's yes to each call. Own tools do:
    they can change anything. With `even_if_ordered` the question cannot ask for it either, because
    the user who asks may not allow a write.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    query_types: frozenset[QueryType] = frozenset()
    writes: bool = False
    source: str | None = None
    role: Role | None = None
    needs_yes: bool = False
    even_if_ordered: bool = False

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"tool name {self.name!r} must be 1 to 64 of A-Z, a-z, 0-9, '_' and '-'"
            )
        if not self.description.strip():
            raise ValueError(f"tool {self.name!r} has no description")
        if self.parameters.get("type") != "object":
            raise ValueError(
                f"the parameters of tool {self.name!r} must be a schema of type 'object'"
            )
        if self.role is None:
            role: Role = "write" if self.writes else role_by_name(self.name)
            # The class is frozen, so a field can be replaced only in this way.
            object.__setattr__(self, "role", role)

    def lacking(self, arguments: Mapping[str, Any]) -> list[str]:
        """The arguments that it requires and that are not there, or null where a text is due."""
        known: Mapping[str, Mapping[str, Any]] = self.parameters.get("properties", {})
        return [
            name
            for name in self.parameters.get("required", ())
            if name not in arguments
            or (arguments[name] is None and known.get(name, {}).get("type") == "string")
        ]
