"""Answers questions about a project. A behavior tree controls the language model.

These names are the public API. Each one is imported when it is first used.
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
    from oracle.services.own_code.found import Found as Found
    from oracle.services.own_code.tool import tool as tool
    from oracle.services.tools.protocol import ToolResult as ToolResult
    from oracle.services.tools.protocol import Tools as Tools

_MODULES = {
    "Answer": "oracle.agent",
    "ChunkType": "oracle.models.stream_chunk",
    "Found": "oracle.services.own_code.found",
    "Limits": "oracle.services.control.ledger",
    "Model": "oracle.services.llm.protocol",
    "Oracle": "oracle.agent",
    "OracleError": "oracle.errors",
    "OracleStreamChunk": "oracle.models.stream_chunk",
    "ToolResult": "oracle.services.tools.protocol",
    "ToolSpec": "oracle.models.tool_spec",
    "Tools": "oracle.services.tools.protocol",
    "tool": "oracle.services.own_code.tool",
}

__all__ = [  # noqa: RUF022 - most important first
    "Oracle",
    "Answer",
    "tool",
    "Found",
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
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
