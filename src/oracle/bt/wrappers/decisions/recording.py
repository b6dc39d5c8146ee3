"""A recorded run as a replay against a change needs it: its effects by content, its decisions.

The journal has the effects of a run in their order, for a replay that is exact. Here each effect
is known by what was asked, so that a run that goes another way can find it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, NamedTuple, TypeAlias

from oracle.bt.wrappers.recipe import Recipe
from oracle.lazy_dataclass import dataclass

EffectKind: TypeAlias = Literal["model", "part", "tool", "person", "bert", "other"]
"""`part` is a request to the model about a part of a broad question."""


class Identity(NamedTuple):
    """What is asked. `key` is the same for the same request, whatever the system prompt says.

    `loose` is a weaker key, under which a response may be assumed. `size` is the estimated number
    of tokens of a model request. `prompt` is the same for the same model and system prompt; it is
    empty where neither matters, or where the recording does not say.
    """

    kind: EffectKind
    key: str
    words: str
    loose: str = ""
    size: int = 0
    prompt: str = ""


@dataclass(kw_only=True, slots=True)
class Effect:
    """One effect, filled in while its run is watched. Times are seconds since it began.

    `ended` is None if it never ended. Then `halted` is when its leaf was halted, for example by a
    deadline; None if the record ends before that.
    """

    identity: Identity
    node: str
    turn: int
    began: float
    parts: list[tuple[float, Any]] = field(default_factory=list[tuple[float, Any]])
    ended: float | None = None
    halted: float | None = None
    value: Any = None
    failure: Mapping[str, Any] | None = None


class NodeEnd(NamedTuple):
    """A node has ended: success, failure, skipped or halted."""

    turn: int
    path: str
    status: str


class Fact(NamedTuple):
    """Something that the run did, in words. `node` is who decided it, if that is known."""

    turn: int
    text: str
    node: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """`money` is None if the price of the model is not known."""

    turns: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    money: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Decisions:
    """`paths` are all nodes of the tree. `stop_reason` is empty for a run without an end."""

    paths: Sequence[str] = ()
    nodes: Sequence[NodeEnd] = ()
    facts: Sequence[Fact] = ()
    totals: Totals = field(default_factory=Totals)
    stop_reason: str = ""
    answer: str = ""


class Cancelled(NamedTuple):
    """Somebody cancelled the run, so many seconds after it began; before its first tick if None."""

    after: float | None
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    recipe: Recipe
    effects: Sequence[Effect]
    decisions: Decisions
    cancelled: Sequence[Cancelled] = ()
