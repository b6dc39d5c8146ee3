"""`oracle acp`: answer in an editor."""

from __future__ import annotations

import os
import sys

from oracle.cli.options import CostOption, ModelOption, TimeoutOption, TurnsOption, flags_for
from oracle.cli.terminal.output import say
from oracle.cli.terminal.streams import keep_stdin, keep_stdout
from oracle.errors import InputError
from oracle.services.installing import install_command


def acp(
    model: ModelOption = None,
    max_turns: TurnsOption = None,
    max_cost: CostOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Answer in an editor, over the Agent Client Protocol.

    An editor starts this command and speaks with it on stdin and stdout.
    The project, its settings and its sessions are those of the folder that is open in the editor.

    Examples:
      oracle acp
      oracle acp --model anthropic:claude-sonnet-4-5
    """
    try:
        from oracle.acp.serving import serve
    except ImportError as problem:
        command = install_command("acp")
        raise InputError(f"editors need more packages ({problem}); run `{command}`") from None
    from oracle.services.background import run_async

    if sys.stdin.isatty():
        say("this command is for editors, which speak the Agent Client Protocol; Ctrl-D ends it")
    # Only the protocol may be written to stdout. Whatever else is printed goes to stderr.
    keep_stdin()
    keep_stdout()
    flags = flags_for(model, max_turns, max_cost, timeout)
    stdin, stdout = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    # From here on `print` leads to stderr too.
    sys.stdout = sys.stderr
    run_async(serve(flags, stdin=stdin, stdout=stdout))
