"""The frames of a run. `FRAMES` is the contract with the page (docs/server.md)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

FRAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tree": "the tree that the run began with, and all its nodes in depth-first order",
        "question": "what the question was taken for, and the tools granted to it",
        "nodes": "nodes whose status has changed, in order: a list, for what came together",
        "turn": "a turn begins or ends, with the tools, the budgets and what it used",
        "model": "a request to the model begins or ends",
        "text": "how many characters of text the turn has so far",
        "call": "a call of a tool begins or ends",
        "signal": "what the model said of its own state; sent again when the tree has judged it",
        "decision": "what a node of the tree decided, and why",
        "cost": "what one request has used, and which node spent it",
        "budget": "a budget has come to its warning, or to what is kept for the last answer",
        "prompt": "the parts of the first request, and messages that were added later",
        "sources": "the places that the answer cites, and the others that were found",
        "held": "the run waits before a node, because of a break; with its board",
        "released": "it goes on",
        "end": "how the run ended",
    }
)


class Frame(NamedTuple):
    """One of them. A change of one node is a frame of its own, of the type `node`: those that
    follow each other are sent together as `nodes`.
    """

    type: str
    data: Mapping[str, Any]
