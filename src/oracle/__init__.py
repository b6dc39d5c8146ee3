"""Answers a developer's questions about a project; a behavior tree keeps the model honest.

What is named here is the public face; it is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oracle.agent import Answer as Answer
    from oracle.agent import Oracle as Oracle
    from oracle.errors import OracleError as OracleError
    from oracle.models.stream_chunk import ChunkType as ChunkType
    from oracle.models.stream_chunk import OracleStreamChunk as OracleStreamChunk
    from oracle.models.tool_spec import ToolSpec as ToolSpec
    from oracle.services.control.ledger import Limits as Limits
    from oracle.services.llm.protocol import Model as Model
    from oracle.services.tools.protocol import ToolResult as ToolResult
    from oracle.services.tools.protocol import Tools as Tools

_HOMES = {
    "Answer": "oracle.agent",
    "ChunkType": "oracle.models.stream_chunk",
    "Limits": "oracle.services.control.ledger",
    "Model": "oracle.services.llm.protocol",
    "Oracle": "oracle.agent",
    "OracleError": "oracle.errors",
    "OracleStreamChunk": "oracle.models.stream_chunk",
    "ToolResult": "oracle.services.tools.protocol",
    "ToolSpec": "oracle.models.tool_spec",
    "Tools": "oracle.services.tools.protocol",
}

__all__ = [  # noqa: RUF022 - the one that matters first
    "Oracle",
    "Answer",
    "Limits",
    "Model",
    "Tools",
    "ToolSpec",
    "ToolResult",
    "OracleStreamChunk",
    "ChunkType",
    "OracleError",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
