"""`oracle token`: make tokens for the server, list them, and revoke them."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from oracle.cli.lazy_commands import ListingGroup
from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.output import say, show_json, show_sentence
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_table
from oracle.cli.terminal.times import parse_duration, shown_time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from oracle.services.storage.tokens import Token, Tokens

app = typer.Typer(
    help="Make tokens for `oracle serve`, list and revoke them.",
    cls=ListingGroup,
)

Result = TypeVar("Result")

NEVER = "never"


class ScopeName(StrEnum):
    read = "read"
    ask = "ask"
    write = "write"


TokenArgument = Annotated[
    str, typer.Argument(metavar="TOKEN", help="Its id, the beginning of it, or its name.")
]


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it in lists.")],
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            metavar="USER",
            help="Whose sessions and runs it shows; the name if not given. The terminal's own user "
            "is called local.",
        ),
    ] = None,
    scope: Annotated[
        ScopeName,
        typer.Option(
            "--scope",
            help="read: look at sessions and runs. ask: also ask and cancel. write: also rename "
            "and delete sessions, and allow tools that write.",
        ),
    ] = ScopeName.ask,
    expires: Annotated[
        str,
        typer.Option("--expires", metavar="TIME", help="When it ends, such as 12h or 90d; never."),
    ] = "90d",
    json: JsonOption = False,
) -> None:
    """Make a token and print it. It is shown this once, and only its hash is stored.

    Examples:
      oracle token create laptop --user local
      oracle token create ann --scope write --expires 30d
      oracle token create dashboard --scope read --expires never
    """
    now = time.time()
    ends = None if expires.strip().lower() == NEVER else now + parse_duration(expires)
    made, text = _with_tokens(
        lambda tokens: tokens.create(
            name=name, user=user or name, scope=scope.value, at=now, expires_at=ends
        )
    )
    if json:
        show_json({**_data(made, now), "token": text})
        return
    print(text)
    end = "it does not expire" if ends is None else f"it expires on {shown_time(ends)}"
    say(f"token {made.id} of user {made.user_id}, scope {made.scope}; {end}")
    say("keep it now: it is not shown again")


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the tokens, also expired and revoked ones, without their secret part."""
    now = time.time()
    found = _with_tokens(lambda tokens: tokens.all())
    if json:
        show_json([_data(token, now) for token in found])
        return
    if not found:
        say("there are no tokens; `oracle token create NAME` makes one")
        return
    columns = tuple(map(Column, ("TOKEN", "NAME", "USER", "SCOPE", "STATE", "EXPIRES")))
    show_table(columns, [_row(token, now) for token in found])


@app.command()
def revoke(
    token: TokenArgument,
    delete: Annotated[
        bool,
        typer.Option(
            "--delete",
            help="Also remove it from the list. A server on this machine needs no token again when "
            "the list is empty.",
        ),
    ] = False,
) -> None:
    """Make a token invalid at once, also for servers that are running."""
    now = time.time()

    async def work(tokens: Tokens) -> Token:
        return await (tokens.delete(token) if delete else tokens.revoke(token, now))

    gone = _with_tokens(work)
    show_sentence(
        f"token {gone.id} ({printable(gone.name)}) is {'deleted' if delete else 'revoked'}"
    )


def _row(token: Token, now: float) -> tuple[str, ...]:
    expires = NEVER if token.expires_at is None else shown_time(token.expires_at)
    state = token.state(now)
    return (f"oracle_{token.id}_…", token.name, token.user_id, token.scope, state, expires)


def _data(token: Token, now: float) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "user": token.user_id,
        "scope": token.scope,
        "state": token.state(now),
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
    }


def _with_tokens(work: Callable[[Tokens], Awaitable[Result]]) -> Result:
    """In the database that `oracle serve` would use here."""
    from oracle.services.background import run_async
    from oracle.services.storage.database import Database, url_for_writing
    from oracle.services.storage.tokens import Tokens

    async def run() -> Result:
        async with await Database.open(url_for_writing(settings_with({}))) as database:
            return await work(Tokens(database))

    return run_async(run())
