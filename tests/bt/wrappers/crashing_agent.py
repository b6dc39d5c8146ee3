"""A process that answers a question and dies where it is told to; a test starts it."""

import asyncio
import json
import os
import sys
from pathlib import Path

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.run_store import RunStore, open_store
from oracle.services.storage.database import as_url
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.scenarios import CODE, WRITE, search, yes

LONGER_THAN_A_FLUSH = 0.5


class DyingModel(ScriptedModel):
    """Its first word of the last answer is on disk, or is not, when the process dies."""

    def __init__(self, moment):
        super().__init__(next_reply, repeats_last=True)
        self.moment = moment

    async def stream(self, request):
        async for part in super().stream(request):
            yield part
            if "It is" in part.get("text", "") and self.moment.startswith("in the stream"):
                await asyncio.sleep(LONGER_THAN_A_FLUSH if self.moment.endswith("kept") else 0)
                die()


def next_reply(request):
    """By what the conversation holds so far, so that a second process goes on from there."""
    done = [message["name"] for message in request.messages if message["role"] == "tool"]
    if "search_code" not in done:
        return Reply(calls=[*search(1).calls, *search(2).calls])
    if "write_note" in done:
        return "It is in auth.py:3." + signal("context_sufficient", sources_found=1)
    granted = [spec.name for spec in request.tools]
    return Reply(calls=[("write_note", {"query": "q"})]) if "write_note" in granted else WRITE


class DyingTools(ScriptedTools):
    def __init__(self, moment):
        super().__init__({"search_code": self.search, "write_note": self.write})
        self.moment = moment

    def search(self, arguments):
        if self.moment == "between two tools" and arguments["query"] == "2":
            die()
        note(f"search {arguments['query']}")
        return "auth.py:3 def login()"

    def write(self, _):
        if self.moment == "before the write":
            die()
        note("write")
        if self.moment == "after the write":
            die()
        return "notes/x.md"

    async def was_done(self, name, arguments):
        if self.moment == "nobody knows":
            raise OSError("the disk is gone")
        return self._result(name, "notes/x.md") if "write" in world() else None


class DyingStore(RunStore):
    moment = ""

    async def keep_exchange(self, *arguments):
        if self.moment == "before the exchange":
            die()
        kept = await super().keep_exchange(*arguments)
        if self.moment == "after the exchange":
            die()
        return kept


def die():
    os._exit(9)


def note(line):
    with Path("world.txt").open("a") as file:
        file.write(f"{line}\n")


def world():
    file = Path("world.txt")
    return file.read_text().splitlines() if file.exists() else []


async def main(command, url, argument):
    moment = argument if command == "ask" else os.environ.get("MOMENT", "")
    async with open_store(as_url(url)) as store:
        store.__class__, store.moment = DyingStore, moment
        tools = DyingTools(moment)
        wrapper = OracleBTWrapper(model=DyingModel(moment), tools=tools, store=store, approve=yes)
        chunks = wrapper.process_query(CODE) if command == "ask" else wrapper.resume(argument)
        said = [chunk.to_dict() async for chunk in chunks]
    print(json.dumps(said))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
