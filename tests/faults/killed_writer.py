"""A process that writes with a real tool and is killed before its n-th step on the disk.

`test_writes.py` starts it. Arguments: the tool, its arguments, the number of the step, and `torn`
to let a write put half of its bytes on the disk first. The mark is in `mark.json`, as a journal
would have it.
"""

import asyncio
import fcntl
import json
import os
import signal
import sys
from pathlib import Path

from oracle.services.tools.project_tools import project_tools

STEPS = ("open", "rename", "replace", "link", "unlink", "write", "fsync", "ftruncate", "close")


class Countdown:
    def __init__(self, left: int, torn: bool) -> None:
        self.left = left
        self.torn = torn
        self.is_armed = False

    def around(self, name, real):
        def step(*arguments, **options):
            if self.is_armed:
                if self.left == 0:
                    if self.torn and name == "write":
                        real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                self.left -= 1
            return real(*arguments, **options)

        return step


def keep(mark) -> None:
    Path("mark.json").write_text(json.dumps(mark))


async def main(tool: str, arguments: str, left: str, torn: str = "") -> None:
    countdown = Countdown(int(left), bool(torn))
    for name in STEPS:
        setattr(os, name, countdown.around(name, getattr(os, name)))
    fcntl.flock = countdown.around("flock", fcntl.flock)
    tools = project_tools(Path())
    given = json.loads(arguments)
    mark = json.loads(json.dumps(await tools.mark(tool, given)))
    keep(mark)
    countdown.is_armed = True
    result = await tools.run(tool, given, mark)
    countdown.is_armed = False
    print(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
