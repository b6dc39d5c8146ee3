"""Who asks, what they may do, and how often: checked before any route or mounted application.

A request carries a token as `Authorization: Bearer …`. It is looked up for each request, so one
that another process creates or revokes counts at once. A server whose database has no token serves
the local user without one; it listens on this machine only (`guard.py`).

    app = Access(app, tokens=tokens, rates=Rates(600), is_required=False)

What is inside finds the caller with `caller_of(scope)` (`caller.py`).
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from oracle.api.caller import KEY, TRUSTED, Caller
from oracle.api.problems import problem, problem_of
from oracle.api.rates import Rates
from oracle.api.rules import Needs, rule_for
from oracle.errors import Forbidden, OracleError
from oracle.services.background import Together
from oracle.services.storage.tokens import Token, Tokens

SECONDS_BETWEEN_LOOKS: Final = 1.0
"""How long a stream may go on after its token was revoked or has expired."""
_LONGEST: Final = 200
"""Of the header. A token has 61 characters."""


class Access:
    """With `is_required`, tokens are needed even if there is none in the database."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: Tokens,
        rates: Rates,
        is_required: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._app = app
        self._tokens = tokens
        # Asked by each request without a token, and hundreds may come at once.
        self._is_any_token = Together(tokens.is_any)
        self._rates = rates
        self._is_required = is_required
        self._clock = clock
        self._looks: dict[str, _Look] = {}

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Connection, receive: Receive, send: Send) -> None:
        rule = rule_for(scope)
        if rule is not None and rule.needs == "nothing":
            scope[KEY] = Caller(user="", scope="")
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._caller(scope)
        except OracleError as failed:
            # The database cannot be read. Nobody is let in unseen.
            caller, refusal = None, problem_of(failed, scope)
        else:
            refusal = self._refusal(scope, caller, "read" if rule is None else rule.needs)
        if refusal is not None or caller is None:
            await (refusal or unauthorized(scope))(scope, receive, send)
            return
        scope[KEY] = caller
        if caller is TRUSTED:
            # It has no token that could end, so there is nothing to watch.
            await self._app(scope, receive, send)
            return
        watched = _Watched(self, scope, caller, receive, send)
        await self._app(scope, watched.receive, watched.send)

    def _refusal(self, scope: Connection, caller: Caller | None, needs: Needs) -> Response | None:
        client = (caller.id if caller else "") or f"address {(scope.get('client') or ('',))[0]}"
        if wait := self._rates.seconds_to_wait(client):
            return problem(
                429,
                "TooManyRequests",
                f"too many requests; try again in {math.ceil(wait)} s",
                headers={"Retry-After": str(math.ceil(wait))},
                scope=scope,
            )
        if caller is None or needs == "nothing":
            return None
        try:
            caller.check(needs, f"{scope['method']} {scope['path'][:80]}")
        except Forbidden as refused:
            return problem_of(refused, scope)
        return None

    async def _caller(self, scope: Connection) -> Caller | None:
        token = await self._token(scope)
        if token is not None:
            return Caller(user=token.user_id, scope=token.scope, id=token.id)
        is_needed = self._is_required or await self._is_any_token()
        return None if is_needed else TRUSTED

    async def _token(self, scope: Connection) -> Token | None:
        presented = presented_in(scope)
        return await self._tokens.valid(presented, self._clock()) if presented else None

    async def is_still(self, caller: Caller, scope: Connection) -> bool:
        """One look for all streams of a token that ask at about the same time."""
        presented, now = presented_in(scope), time.monotonic()
        if presented not in self._looks or self._looks[presented].is_old(now):
            # Others that are old go with it, so that only tokens in use are kept.
            self._looks = {each: look for each, look in self._looks.items() if not look.is_old(now)}
            self._looks[presented] = _Look(now, asyncio.ensure_future(self._caller(scope)))
        try:
            # Shielded: a client that leaves must not end the look of the others.
            return await asyncio.shield(self._looks[presented].caller) == caller
        except OracleError:
            return False


class _Look(NamedTuple):
    at: float
    caller: asyncio.Future[Caller | None]

    def is_old(self, now: float) -> bool:
        return now - self.at >= SECONDS_BETWEEN_LOOKS / 2


def presented_in(scope: Connection) -> str:
    """The token of a request; empty if there is none, or if it is not clear which."""
    given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if len(given) != 1 or len(given[0]) > _LONGEST:
        return ""
    scheme, _, token = given[0].decode("latin-1").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def unauthorized(scope: Connection) -> Response:
    # What was sent is never repeated: a token with a mistyped end is still a secret.
    has_sent = any(name.lower() == b"authorization" for name, _ in scope["headers"])
    why = ', error="invalid_token"' if has_sent else ""
    message = (
        "the token is not known, or it is revoked or expired; `oracle token list` shows the tokens"
        if has_sent
        else "a token is needed; send `Authorization: Bearer TOKEN`, and make one with "
        "`oracle token create NAME`"
    )
    headers = {"WWW-Authenticate": f'Bearer realm="oracle"{why}'}
    return problem(401, "Unauthorized", message, headers=headers, scope=scope)


class _Watched:
    """The two ends of a request. After its token has ended, nothing more is sent.

    The application hears that the client has left, and so stops to work for it. A stream waits for
    its client to leave, so it also ends while it has nothing to send.
    """

    def __init__(
        self, access: Access, scope: Connection, caller: Caller, receive: Receive, send: Send
    ) -> None:
        self._access = access
        self._scope = scope
        self._caller = caller
        self._receive = receive
        self._send = send
        self._looked_at = time.monotonic()
        self._is_begun = False
        self._ended = asyncio.Event()

    async def receive(self) -> Message:
        coming = asyncio.ensure_future(self._receive())
        ending = asyncio.ensure_future(self._ended.wait())
        try:
            while True:
                done, _ = await asyncio.wait(
                    {coming, ending},
                    timeout=SECONDS_BETWEEN_LOOKS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if coming.done():
                    return coming.result()
                if done:
                    return {"type": "http.disconnect"}
                await self._look()
        finally:
            coming.cancel()
            ending.cancel()

    async def send(self, message: Message) -> None:
        if self._ended.is_set():
            return
        # What is whole has been let out already, and its length is known to the client.
        is_rest = self._is_begun and not message.get("more_body", False)
        now = time.monotonic()
        if now - self._looked_at >= SECONDS_BETWEEN_LOOKS and not is_rest:
            await self._look()
        if not self._ended.is_set():
            self._is_begun = True
            await self._send(message)

    async def _look(self) -> None:
        self._looked_at = time.monotonic()
        if await self._access.is_still(self._caller, self._scope) or self._ended.is_set():
            return
        self._ended.set()
        if self._is_begun:
            # A stream just ends, without its last event.
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await unauthorized(self._scope)(self._scope, self._receive, self._send)
