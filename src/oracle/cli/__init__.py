"""The command line: parse, call one thing, print. Answers go to stdout, all else to stderr."""

import gc
import os
import signal
import sys

if sys.platform == "win32":
    # Said here, because the imports that follow would fail with a traceback.
    sys.exit("oracle does not work on Windows yet; use it in WSL")

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in a shell."""

# Few objects of a short command are garbage. Looking for them takes a tenth of its time, so this
# comes before the imports.
gc.set_threshold(100_000)


def run() -> None:
    """The console script. Ctrl-C while modules are loaded ends it without a traceback."""

    def leave(number: int, frame: object) -> None:
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, leave)
    from oracle.cli.main import run as run_command

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run_command()
