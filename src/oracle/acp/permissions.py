"""Asks the person at the editor before something is written."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from acp.helpers import text_block, tool_content, update_tool_call
from acp.interfaces import Client
from acp.schema import PermissionOption, ToolCallUpdate

from oracle.acp.updates import Updates
from oracle.logs import logger_of
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.story.words import call_words

log = logger_of(__name__)

ALLOW: Final = "allow"
REJECT: Final = "reject"


class Permissions:
    """A run waits for the answer; the listener to its chunks asks the editor.

    So what was said before the question reaches the editor before it. Either of the two may be
    first: the chunk and the run's wait are connected by the id of the question.
    """

    def __init__(self) -> None:
        self._answers: dict[str, asyncio.Future[bool]] = {}

    async def wait(self, question: Mapping[str, Any]) -> bool:
        """For the run. `question` is the data of an `approval` chunk."""
        try:
            return await self._answer_to(question["id"])
        finally:
            self._answers.pop(question["id"], None)

    async def ask(
        self, client: Client, session_id: str, chunk: OracleStreamChunk, updates: Updates
    ) -> None:
        """For the listener. Anything but a yes means no."""
        answer, is_yes = self._answer_to(chunk["id"]), False
        try:
            is_yes = await _ask_editor(client, session_id, chunk, updates)
        except asyncio.CancelledError:
            # The run has ended, and waits no more.
            self._answers.pop(chunk["id"], None)
            raise
        except Exception as problem:  # an editor may not know this, or fail in any way
            log.warning("the editor could not be asked to allow this: %s", problem)
        if not answer.done():
            answer.set_result(is_yes)

    def _answer_to(self, id_: str) -> asyncio.Future[bool]:
        if id_ not in self._answers:
            self._answers[id_] = asyncio.get_running_loop().create_future()
        return self._answers[id_]


async def _ask_editor(
    client: Client, session_id: str, chunk: OracleStreamChunk, updates: Updates
) -> bool:
    calls, tools = chunk["calls"], chunk["tools"]
    call: Mapping[str, Any] | None = calls[0] if calls else None
    id_ = updates.call_asked_about(call["name"], call["arguments"]) if call else updates.new_id()
    title = call_words(call["name"], call["arguments"]) if call else f"Allow {', '.join(tools)}"
    asked = ToolCallUpdate(
        tool_call_id=id_,
        title=title,
        kind=updates.kind(tools[0]) if tools else "other",
        status="pending",
        content=[tool_content(text_block(chunk["content"]))],
        raw_input=call["arguments"] if call else None,
    )
    scope = "Allow this call" if call else "Allow for this question"
    options = [
        PermissionOption(option_id=ALLOW, name=scope, kind="allow_once"),
        PermissionOption(option_id=REJECT, name="Reject", kind="reject_once"),
    ]
    response = await client.request_permission(
        session_id=session_id, tool_call=asked, options=options
    )
    is_yes = getattr(response.outcome, "option_id", None) == ALLOW
    if call is None or not is_yes:
        # Nothing is run under this id, so no result will ever end it.
        status = "completed" if is_yes else "failed"
        await client.session_update(session_id, update_tool_call(id_, status=status))
    return is_yes
