"""`oracle serve`: answer over HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.project import settings_with
from oracle.cli.terminal.output import say
from oracle.errors import InputError
from oracle.services.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from socket import socket

    from oracle.settings import Settings

PORT = 8765


def serve(
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")
    ] = PORT,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Ask this model.")] = None,
    most_runs: Annotated[
        int | None,
        typer.Option("--most-runs", min=1, metavar="N", help="Questions answered at once."),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            min=0,
            max=1,
            metavar="N",
            help="1 answers in this process. 0 leaves that to `oracle worker` processes.",
        ),
    ] = 1,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name under which a proxy or a tunnel calls the server. Can be repeated.",
        ),
    ] = None,
    drain: Annotated[
        float,
        typer.Option(
            "--drain",
            min=0,
            metavar="SECONDS",
            help="How long runs may go on after the server is told to stop. Then they are "
            "interrupted, and the next server resumes them.",
        ),
    ] = 20.0,
) -> None:
    """Answer in a browser and over HTTP, also by OpenAI's protocol.

    Without tokens the server listens on this machine only. With tokens (`oracle token create`) it
    asks each client for one, and may listen on other addresses.

    Examples:
      oracle serve
      oracle serve --host 0.0.0.0
      oracle serve --port 9000 --model anthropic:claude-sonnet-4-5
      curl -N localhost:8765/api/oracle/stream \\
        -H 'Content-Type: application/json' \\
        -d '{"question": "Where is the login?"}'
    """
    try:
        import uvloop

        import oracle.api.serving
    except ImportError as problem:
        command = install_command("server")
        raise InputError(f"the server needs more packages ({problem}); run `{command}`") from None
    from oracle.api.guard import LOOPBACK
    from oracle.services.background import run_async

    settings = settings_with({"model.name": model, "server.most_runs": most_runs})
    is_reachable = host not in LOOPBACK
    if is_reachable and not run_async(_has_token(settings)):
        raise InputError(
            f"--host {host} can be reached from other machines, and there is no valid token that "
            "would keep strangers out; create one first: oracle token create NAME"
        )
    try:
        sock = oracle.api.serving.listening(host, port)
    except OSError as problem:
        raise InputError(
            f"cannot listen on {host}:{port}: {problem.strerror}; choose another --port"
        ) from None
    with sock:
        hosts = [*LOOPBACK, *(names or ())]
        run_async(
            _serve(settings, sock, hosts, drain, is_reachable=is_reachable, answers=workers > 0),
            uvloop.new_event_loop,
        )


async def _has_token(settings: Settings) -> bool:
    from oracle.services.storage.database import Database, url_for_writing
    from oracle.services.storage.tokens import Tokens

    async with await Database.open(url_for_writing(settings)) as database:
        return any(token.state(time.time()) == "active" for token in await Tokens(database).all())


async def _serve(
    settings: Settings,
    sock: socket,
    hosts: Sequence[str],
    drain: float,
    *,
    is_reachable: bool,
    answers: bool,
) -> None:
    from oracle.api.app import create_app
    from oracle.api.door import opened
    from oracle.api.serving import server_of
    from oracle.services.project.root import here

    root = settings.root or here()
    async with opened(settings, root, has_workers_elsewhere=not answers) as door:
        app = create_app(door, hosts=hosts, is_reachable=is_reachable)
        server = server_of(app, drain=door.runs.close, seconds_to_close=drain)
        host, port, *_ = sock.getsockname()
        shown = f"[{host}]" if ":" in host else host
        say(f"listening on http://{shown}:{port} (stop with Ctrl-C)")
        if is_reachable:
            say("warning: tokens are sent unencrypted; put a proxy with TLS in front, or a tunnel")
        await server.serve(sockets=[sock])
