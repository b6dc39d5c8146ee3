"""`oracle serve`: answer over HTTP."""

from __future__ import annotations

import logging
import socket
from functools import partial
from math import ceil
from typing import Annotated

import typer

from oracle.cli.project import settings_with
from oracle.cli.terminal.output import say
from oracle.errors import InputError
from oracle.services.installing import install_command

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
        import uvicorn

        from oracle.api.app import create_app
    except ImportError as problem:
        command = install_command("server")
        raise InputError(f"the server needs more packages ({problem}); run: {command}") from None
    from oracle.api.door import opened
    from oracle.api.guard import LOOPBACK
    from oracle.services.project.root import here

    if host not in LOOPBACK:
        raise InputError(
            f"--host {host} could be reached from other machines, and there are no tokens yet; "
            "use 127.0.0.1, and a tunnel or a proxy that checks who asks"
        )
    settings = settings_with({} if model is None else {"model.name": model})
    root = settings.root or here()
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    door = partial(opened, settings, root, most_runs=most_runs, seconds_to_close=drain / 2)
    config = uvicorn.Config(
        create_app(door, hosts=[*LOOPBACK, *(names or ())]),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        # Half of the time for those who listen, half for runs that nobody listens to.
        timeout_graceful_shutdown=ceil(drain / 2),
        lifespan="on",
    )
    server = uvicorn.Server(config)
    sock = _listening(host, port)
    say(f"listening on http://{host}:{sock.getsockname()[1]} (stop with Ctrl-C)")
    server.run(sockets=[sock])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as problem:
        raise InputError(
            f"cannot listen on {host}:{port}: {problem.strerror}; choose another --port"
        ) from None
