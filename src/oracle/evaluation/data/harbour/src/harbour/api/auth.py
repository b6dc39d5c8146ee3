"""API keys. A key looks like `hbr_agent_x7…` and is stored as a hash."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any, Literal

from harbour.errors import NotAllowed

Role = Literal["agent", "office", "master", "board"]

MAY: dict[Role, frozenset[str]] = {
    "agent": frozenset({"request", "cancel", "read_own"}),
    "office": frozenset({"request", "confirm", "cancel", "read", "cranes"}),
    "master": frozenset({"request", "confirm", "cancel", "read", "cranes", "override"}),
    "board": frozenset({"read"}),
}


@dataclass(frozen=True, kw_only=True)
class Caller:
    key_id: int
    role: Role
    agent: str | None = None

    def require(self, right: str) -> None:
        if right not in MAY[self.role]:
            raise NotAllowed(f"a key of role {self.role} may not {right.replace('_', ' ')}")


def digest(key: str, pepper: str) -> str:
    return hmac.new(pepper.encode(), key.encode(), hashlib.sha256).hexdigest()


def identify(header: str | None, keys: Any, pepper: str) -> Caller:
    """`keys` looks a digest up; revoked keys are not found."""
    if not header or not header.startswith("Bearer hbr_"):
        raise NotAllowed("send the key as `Authorization: Bearer hbr_...`")
    row = keys.find(digest(header.removeprefix("Bearer "), pepper))
    if row is None:
        raise NotAllowed("unknown or revoked key")
    return Caller(key_id=row["id"], role=row["role"], agent=row["agent"])
