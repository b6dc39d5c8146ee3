"""`oracle serve`: answer over HTTP."""

from __future__ import annotations

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
        int, typer.Option("--most-runs", min=1, metavar="N", help="Questions answered at once.")
    ] = 100,
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
    """Answer over HTTP: server-sent events, and OpenAI's protocol.

    The server listens on this machine only.

    Examples:
      oracle serve
      oracle serve --port 9000 --model anthropic:claude-sonnet-4-5
      curl -N localhost:8765/api/oracle/stream -d '{"question": "Where is the login?"}' \\
        -H 'Content-Type: application/json'
    """
    try:
        import oracle.api.serving
    except ImportError as problem:
        command = install_command("server")
        raise InputError(f"the server needs more packages ({problem}); run: {command}") from None
    from oracle.api.guard import LOOPBACK
    from oracle.services.background import run_async

    if host not in LOOPBACK:
        raise InputError(
            f"--host {host} could be reached from other machines, and the server does not know "
            "tokens yet; use 127.0.0.1, and a tunnel or a proxy that checks who asks"
        )
    settings = settings_with({} if model is None else {"model.name": model})
    try:
        sock = oracle.api.serving.listening(host, port)
    except OSError as problem:
        raise InputError(
            f"cannot listen on {host}:{port}: {problem.strerror}; choose another --port"
        ) from None
    with sock:
        run_async(_serve(settings, sock, [*LOOPBACK, *(names or ())], most_runs, drain))


async def _serve(
    settings: Settings, sock: socket, hosts: Sequence[str], most_runs: int, drain: float
) -> None:
    from oracle.api.app import create_app
    from oracle.api.door import opened
    from oracle.api.serving import server_of
    from oracle.services.project.root import here

    # Half of the time for those who listen, half for runs that nobody listens to.
    half = drain / 2
    async with opened(
        settings, settings.root or here(), most_runs=most_runs, seconds_to_close=half
    ) as door:
        server = server_of(create_app(door, hosts=hosts), seconds_to_close=half)
        host, port, *_ = sock.getsockname()
        say(f"listening on http://{host}:{port} (stop with Ctrl-C)")
        await server.serve(sockets=[sock])
