"""An editor for tests: the package's own client, which remembers what it is shown."""

import asyncio
import os
import socket
import tempfile
from contextlib import asynccontextmanager

import acp
from acp.core import connect_to_agent, run_agent
from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

from oracle.acp.agent import EditorAgent
from oracle.testing import ScriptedModel
from tests.processes import ORACLE, relayed

TEXT = acp.text_block


class Editor:
    """`says` is the option that its user chooses; None closes the question, and with "nothing" the
    user never answers.
    """

    def __init__(self, says="allow"):
        self.says = says
        self.updates = []
        self.asked = []
        self.news = asyncio.Condition()
        self.agent = None
        self.errors = ""

    def on_connect(self, conn):
        pass

    async def session_update(self, session_id, update, **_):
        async with self.news:
            self.updates.append((session_id, update))
            self.news.notify_all()

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append((len(self.updates), tool_call, [option.option_id for option in options]))
        if self.says == "nothing":
            async with self.news:
                self.news.notify_all()
            await asyncio.Event().wait()
        if self.says is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        outcome = AllowedOutcome(outcome="selected", option_id=self.says)
        return RequestPermissionResponse(outcome=outcome)

    def of(self, kind, session_id=None):
        """The updates of a kind, such as `tool_call`."""
        return [
            update
            for id_, update in self.updates
            if update.session_update == kind and session_id in (None, id_)
        ]

    def text(self, kind="agent_message_chunk", session_id=None):
        return "".join(update.content.text for update in self.of(kind, session_id))

    async def until(self, kind, times=1):
        async with self.news:
            await self.news.wait_for(lambda: len(self.of(kind)) >= times)

    async def until_asked(self):
        async with self.news:
            await self.news.wait_for(lambda: self.asked)

    async def new(self, root):
        return (await self.agent.new_session(cwd=str(root), mcp_servers=[])).session_id

    async def ask(self, session_id, *blocks):
        blocks = [TEXT(block) if isinstance(block, str) else block for block in blocks]
        return await self.agent.prompt(session_id=session_id, prompt=blocks)


@asynccontextmanager
async def in_this_process(*replies, model=None, flags=None, **options):
    """An editor that is connected to the agent by a socket; the model plays the replies."""
    agent = EditorAgent(flags or {}, model=model or ScriptedModel(*replies))
    ours, theirs = await _connected()
    serving = asyncio.create_task(
        run_agent(agent, theirs[1], theirs[0], use_unstable_protocol=True)
    )
    editor = Editor(**options)
    editor.door = agent
    editor.agent = connect_to_agent(editor, ours[1], ours[0], use_unstable_protocol=True)
    try:
        await editor.agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        yield editor
    finally:
        await editor.agent.close()
        ours[1].close()
        await serving
        theirs[1].close()
        await agent.close()


async def _connected():
    return [await asyncio.open_connection(sock=each) for each in socket.socketpair()]


@asynccontextmanager
async def as_process(*arguments, env=None, is_fork=True, **options):
    """The real command, as an editor starts it."""
    editor = Editor(**options)
    command = [*ORACLE, "acp", *arguments]
    with tempfile.TemporaryFile() as errors:
        async with acp.spawn_agent_process(
            editor,
            *(relayed(command) if is_fork else command),
            env={**os.environ, **(env or {})},
            transport_kwargs={"stderr": errors},
            use_unstable_protocol=True,
        ) as (agent, process):
            editor.agent, editor.process = agent, process
            await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
            yield editor
        errors.seek(0)
        editor.errors = errors.read().decode()
