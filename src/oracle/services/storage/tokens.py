"""Tokens: who may use the server, and for what.

A token is `oracle_ID_SECRET`. The id is a name for lists and logs. The secret has 256 random bits,
so a plain SHA-256 of the token is as good as a slow hash, and the token itself is stored nowhere.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

from oracle.errors import InputError, NotFound
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.storage.damage import check_row, is_time
from oracle.services.storage.database import Database
from oracle.services.storage.records import ambiguous, insert
from oracle.services.storage.schema import api_tokens
from oracle.services.storage.transactions import Transaction

Scope: TypeAlias = Literal["read", "ask", "write"]
SCOPES: Final[tuple[Scope, ...]] = ("read", "ask", "write")
"""Each one includes those before it: an answer about a conversation shows what is in it."""

_TOKEN: Final = lazy_pattern(r"oracle_(?P<id>[0-9a-f]{10})_[A-Za-z0-9_-]{43}", re.ASCII)
_NAME: Final = lazy_pattern(r"\w(?:[\w .@+-]{0,62}[\w.@+-])?")
_NO_DIGEST: Final = "0" * 64
"""Compared with the digest of an unknown token, so that it takes as long as a known one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """What is known of a token. `digest` is not shown."""

    id: str
    name: str
    user_id: str
    scope: str
    digest: str
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None

    def state(self, now: float) -> Literal["active", "expired", "revoked"]:
        if self.revoked_at is not None:
            return "revoked"
        is_over = self.expires_at is not None and self.expires_at <= now
        return "expired" if is_over else "active"


def allows(held: str, needed: Scope) -> bool:
    """A scope that this version does not know allows nothing.

    >>> allows("ask", "read"), allows("ask", "write")
    (True, False)
    """
    return held in SCOPES and SCOPES.index(needed) <= SCOPES.index(held)


class Tokens:
    """Every method that takes a token's id also takes a unique prefix of it, or its name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, *, name: str, user: str, scope: Scope, at: float, expires_at: float | None
    ) -> tuple[Token, str]:
        """The token, and the text of it: it can never be shown again."""
        for what, given in (("name", name), ("user", user)):
            if not _NAME.fullmatch(given):
                raise InputError(
                    f"the {what} {given[:80]!r} cannot be used; write at most 64 letters, digits, "
                    "blanks and . @ + - _"
                )
        if expires_at is not None and not (at < expires_at and is_time(expires_at)):
            raise InputError("a token ends in the future, before the year 10000; or never")
        id_ = secrets.token_hex(5)
        text = f"oracle_{id_}_{secrets.token_urlsafe(32)}"
        token = Token(
            id=id_,
            name=name,
            user_id=user,
            scope=scope,
            digest=_digest(text),
            created_at=at,
            expires_at=expires_at,
        )
        await self._database.write(lambda c: insert(c, api_tokens, asdict(token)))
        return token, text

    async def all(self) -> list[Token]:
        """Oldest first, also those that are expired or revoked."""
        return await self._database.read(lambda c: _tokens(c, "ORDER BY created_at, id"))

    async def is_any(self) -> bool:
        """Also a revoked one counts: to revoke the last token must not open a server to all."""
        return bool(await self._database.read(lambda c: c.rows("SELECT 1 FROM api_tokens LIMIT 1")))

    async def valid(self, presented: str, now: float) -> Token | None:
        """The token that a client sends, if it is one of ours, not revoked and not expired."""
        match = _TOKEN.fullmatch(presented)
        if match is None:
            return None
        found = await self._database.read(lambda c: _tokens(c, "WHERE id = ?", [match["id"]]))
        # The database is asked for the id, which is not secret. The secret part is compared in a
        # time that does not depend on how much of it is right.
        digest = found[0].digest if found else _NO_DIGEST
        is_right = hmac.compare_digest(_digest(presented), digest)
        return found[0] if found and is_right and found[0].state(now) == "active" else None

    async def revoke(self, typed: str, at: float) -> Token:
        def revoke(connection: Transaction) -> Token:
            token = _called(connection, typed)
            when = token.revoked_at or at
            connection.execute(
                "UPDATE api_tokens SET revoked_at = ? WHERE id = ?", [when, token.id]
            )
            return replace(token, revoked_at=when)

        return await self._database.write(revoke)

    async def delete(self, typed: str) -> Token:
        def delete(connection: Transaction) -> Token:
            token = _called(connection, typed)
            connection.execute("DELETE FROM api_tokens WHERE id = ?", [token.id])
            return token

        return await self._database.write(delete)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _tokens(connection: Transaction, rest: str, values: Sequence[Any] = ()) -> list[Token]:
    found = connection.records(f"SELECT {api_tokens.names} FROM api_tokens {rest}", values)
    for row in found:
        check_row(api_tokens, row)
    return [Token(**row) for row in found]


def _called(connection: Transaction, typed: str) -> Token:
    """By its id or the beginning of it, by its name, or by the token itself if it has leaked."""
    match = _TOKEN.fullmatch(typed)
    wanted = match["id"] if match else typed.removeprefix("oracle_").rstrip("_…")
    tokens = _tokens(connection, "ORDER BY id")
    found = [token for token in tokens if wanted and token.id.startswith(wanted)]
    found = found or [token for token in tokens if token.name == typed]
    if not found:
        # A mistyped token is still a secret.
        shown = "" if len(typed) > 40 else f" {typed!r}"
        raise NotFound(f"no token{shown}; `oracle token list` shows which there are")
    if len(found) > 1:
        raise ambiguous("token", typed, [token.id for token in found])
    return found[0]
