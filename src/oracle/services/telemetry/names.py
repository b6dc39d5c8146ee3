"""Names of attributes. Those of OpenTelemetry's conventions for generative AI still change between
its versions, so they are our own strings and not imported.
"""

from __future__ import annotations

from typing import Final

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
MODEL: Final = "gen_ai.request.model"
AGENT: Final = "gen_ai.agent.name"
TOOL: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
CALL_ID: Final = "gen_ai.tool.call.id"
DATA_SOURCE: Final = "gen_ai.data_source.id"
TOKENS: Final = "gen_ai.usage.total_tokens"
COST: Final = "gen_ai.usage.cost"
ERROR: Final = "error.type"

# Content, sent only if it is asked for.
INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"

# What the conventions have no name for.
RUN: Final = "oracle.run.id"
TREE: Final = "oracle.tree"
RESUMED: Final = "oracle.resumed"
STOP_REASON: Final = "oracle.stop_reason"
TURN: Final = "oracle.turn"
TURNS: Final = "oracle.turns"
OUTCOME: Final = "oracle.outcome"
OFFERED: Final = "oracle.tools.offered"
NODE: Final = "oracle.node"
MISSING: Final = "oracle.missing"
ERROR_TEXT: Final = "oracle.error"

INVOKE_AGENT: Final = "invoke_agent"
CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"
RETRIEVAL: Final = "retrieval"
"""A call of a tool that searches."""
