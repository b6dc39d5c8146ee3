"""A process that answers a question, writes with a real tool, and is killed on the way.

`test_writes.py` starts it. Arguments: `ask` or the id of a run to resume, the tool, its arguments,
and the number of the step on the disk before which it dies, counted from the intent.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.run_store import open_store
from oracle.services.storage.database import as_url
from oracle.services.tools.executor import ToolBox
from oracle.services.tools.project_tools import project_tools
from oracle.testing import Reply, ScriptedModel
from oracle.testing import signal as said
from tests.faults.killed_writer import STEPS, Countdown
from tests.scenarios import WRITE, yes

QUESTION = "Add an entry to the decision log: we keep SQLite."


def replies(tool, arguments):
    def reply(request):
        if any(message["role"] == "tool" for message in request.messages):
            return "It is in the log." + said("context_sufficient", sources_found=1)
        granted = [spec.name for spec in request.tools]
        return Reply(calls=[(tool, arguments)]) if tool in granted else WRITE

    return reply


class DyingBox(ToolBox):
    """Armed by the first write. After its last step it dies too: the record is never written."""

    def __init__(self, box, countdown):
        super().__init__(box._tools.values())
        self._countdown = countdown

    async def run(self, name, arguments, mark=None):
        self._countdown.is_armed = True
        await super().run(name, arguments, mark)
        os.kill(os.getpid(), signal.SIGKILL)


async def main(command, tool, arguments, step):
    tools = project_tools(Path())
    if command == "ask":
        countdown = Countdown(int(step), torn=False)
        for name in STEPS:
            setattr(os, name, countdown.around(name, getattr(os, name)))
        tools = DyingBox(tools, countdown)
    model = ScriptedModel(replies(tool, json.loads(arguments)), repeats_last=True)
    async with open_store(as_url("oracle.db")) as store:
        wrapper = OracleBTWrapper(model=model, tools=tools, store=store, approve=yes)
        chunks = wrapper.process_query(QUESTION) if command == "ask" else wrapper.resume(command)
        print(json.dumps([chunk.to_dict() async for chunk in chunks]))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
