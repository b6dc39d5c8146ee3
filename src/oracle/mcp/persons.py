"""How a run asks the person at the client, in each era of the protocol.

| the client | the question | the run meanwhile |
| --- | --- | --- |
| speaks 2026-07-28 | the call returns an input request; its retry has the answer | is parked |
| speaks an older version | a request to the client, while the call goes on | waits |
| cannot show a question | refused, and the answer says so | goes on without it |
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

Context: TypeAlias = ServerRequestContext[Any, Any]

_FIELD: Final = "approve"


def form_about(question: Mapping[str, Any]) -> types.ElicitRequestFormParams:
    """`question` is the data of an `approval` chunk."""
    schema = {
        "type": "object",
        "properties": {
            _FIELD: {
                "type": "boolean",
                "title": "Allow it?",
                "description": f"Yes allows {', '.join(question['tools'])} to write.",
                "default": False,
            }
        },
        "required": [_FIELD],
    }
    return types.ElicitRequestFormParams(message=question["content"], requested_schema=schema)


def is_yes(reply: object) -> bool:
    """Only a form that was sent with the value true is a yes."""
    if not isinstance(reply, types.ElicitResult):
        return False
    return reply.action == "accept" and (reply.content or {}).get(_FIELD) is True


class Retrying:
    """The answers come with the retry of a call. `waiting` gets the first question without one."""

    def __init__(self, answers: Mapping[str, bool]) -> None:
        self._answers = answers
        self.waiting: asyncio.Future[Mapping[str, Any]] = asyncio.Future()

    async def ask(self, question: Mapping[str, Any]) -> bool:
        if question["id"] in self._answers:
            return self._answers[question["id"]]
        if not self.waiting.done():
            self.waiting.set_result(question)
        # The run is parked now. It asks again when it is resumed.
        return await asyncio.Future[bool]()


class Answering:
    """The client is asked while the call goes on."""

    def __init__(self, context: Context) -> None:
        self._context = context
        # It never has a question that the call itself must return.
        self.waiting: asyncio.Future[Mapping[str, Any]] = asyncio.Future()

    async def ask(self, question: Mapping[str, Any]) -> bool:
        form = form_about(question)
        try:
            reply = await self._context.session.elicit_form(
                form.message, form.requested_schema, self._context.request_id
            )
        except (MCPError, ValidationError):
            # The client cannot show it after all, or has left.
            return False
        return is_yes(reply)


Person: TypeAlias = Retrying | Answering


def person_of(context: Context, answers: Mapping[str, bool]) -> Person | None:
    """None if the client cannot ask a person."""
    can = context.session.client_capabilities
    if can is None or can.elicitation is None:
        return None
    # A client may only be able to open pages. An empty capability means forms.
    if can.elicitation.form is None and can.elicitation.url is not None:
        return None
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return Retrying(answers)
    return Answering(context)
