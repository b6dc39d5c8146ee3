"""`oracle mcp`: answer another program over the Model Context Protocol, on stdin and stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.project import settings_with
from oracle.errors import InputError
from oracle.services.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from oracle.mcp.desk import Desk
    from oracle.settings import Settings


def mcp(
    model: Annotated[str | None, typer.Option("--model", "-m", help="Ask this model.")] = None,
) -> None:
    """Answer a program such as an editor over MCP, on stdin and stdout.

    It is started by that program, in the folder of the project. stdout carries the protocol only.

    Examples:
      oracle mcp
      claude mcp add oracle -- oracle mcp
    """
    try:
        from oracle.mcp.server import serve_lines
    except ImportError as problem:
        command = install_command("mcp")
        raise InputError(f"MCP needs more packages ({problem}); run `{command}`") from None
    from oracle.mcp.wire import claimed
    from oracle.services.background import run_async

    settings = settings_with({} if model is None else {"model.name": model})
    # Before own code is loaded: it may print.
    with claimed() as (stdin, stdout):
        run_async(_serve(settings, lambda desk: serve_lines(desk, stdin, stdout)))


async def _serve(settings: Settings, serve: Callable[[Desk], Awaitable[None]]) -> None:
    from oracle.cli.terminal.trusting import say_problems
    from oracle.mcp.desk import opened
    from oracle.services.background import in_thread
    from oracle.services.own_code.collecting import load_tools
    from oracle.services.project.root import here

    # Nobody is asked whether to trust it: the terminal belongs to the program that started us.
    own = await in_thread(load_tools, settings.root)
    say_problems(own.problems)
    async with opened(settings, settings.root or here(), own=own) as desk:
        await serve(desk)
