"""Who asks, as what is inside of the server sees it. It needs no package of the server: MCP over
stdio uses it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from oracle.errors import Forbidden
from oracle.lazy_dataclass import dataclass
from oracle.models.session import LOCAL
from oracle.services.storage.tokens import Scope, allows

KEY: Final = "oracle.caller"
"""Where `Access` puts the caller into the scope of a request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The user of a request, and what they may do. `id` is the id of their token."""

    user: str
    scope: str
    id: str = ""

    @property
    def may_write(self) -> bool:
        return allows(self.scope, "write")

    def check(self, scope: Scope, what: str = "this") -> None:
        """Raises `Forbidden`."""
        if not allows(self.scope, scope):
            raise Forbidden(
                f"{what} needs a token with the scope {scope!r}, and this one has {self.scope!r}; "
                f"create one with `oracle token create NAME --scope {scope}`",
                scope=scope,
            )


TRUSTED: Final = Caller(user=LOCAL, scope="write")
"""Everybody who reaches a server that needs no tokens."""


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """Raises `KeyError` outside of `Access`: nothing is served without the check."""
    caller: Caller = scope[KEY]
    return caller
