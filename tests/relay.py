"""A program in the place of a fork of `tests/fork_server.py`, for libraries that start programs.

    python -I -S relay.py NAME_OF_THE_SERVER -c CODE ARGUMENTS...

It hands its streams, folder and environment to the fork, passes signals on, and ends as the fork
does. It starts in a fiftieth of the time that the imports of a command take.
"""

import json
import os
import signal
import socket
import struct
import sys

LENGTH = struct.Struct("!I")
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start(server: str, arguments: list[str]) -> socket.socket:
    """Return where the server reports the id of the fork, and how it ended."""
    ours, theirs = socket.socketpair()
    job = {
        "arguments": arguments,
        "cwd": os.getcwd(),
        "env": dict(os.environ),
        "owns_terminal": False,
    }
    request = json.dumps(job).encode()
    with socket.socket(socket.AF_UNIX) as connection, theirs:
        connection.connect(f"\0{server}")
        handles = [0, 1, 2, theirs.fileno()]
        socket.send_fds(connection, [LENGTH.pack(len(request))], handles)
        connection.sendall(request)
    return ours


def end(code: int) -> None:
    if code < 0:
        if -code in PASSED_ON:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    reports = start(sys.argv[1], sys.argv[2:]).makefile("rb")
    fork = int(reports.readline())
    for number in PASSED_ON:
        signal.signal(number, lambda number, _: os.kill(fork, number))
    # As long as this process held them too, no reader would see the end of a stream.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    end(int(reports.readline()))
