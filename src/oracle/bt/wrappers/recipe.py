"""What a run is made of: written down as its first record, and read back to run it again.

The first record holds what the run depends on in addition to its effects: the trees, the prompts
and the values on the board. So a record is enough to run it again, on any machine that has the
leaves.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeAlias

from oracle.bt.actions.assess import turns_of
from oracle.bt.core.context import DEFAULT_TICK_BUDGET
from oracle.errors import InputError, JournalError
from oracle.models.prompt_segment import PromptSegment
from oracle.models.session import Exchange
from oracle.services.agent_services import RECORD_FORMAT, AgentServices, Sources
from oracle.services.classification.classifier import terms_to_look_up
from oracle.services.control.grants import specs_as_data
from oracle.services.control.ledger import Limits
from oracle.services.journal import Record
from oracle.services.llm.protocol import Model
from oracle.services.prompting.project_facts import date_of
from oracle.services.prompting.segment_files import built_in_segments
from oracle.services.signals.said import signals_in_answer
from oracle.services.tools.protocol import Tools

TREE: Final = "oracle-agent"
UNKNOWN_WINDOW: Final = 8_192
LEAF_PACKAGES: Final = ("oracle.bt.actions", "oracle.bt.conditions")
KEPT_BY_CONTENT: Final = ("sources", "prompts")

FORMAT: Final = RECORD_FORMAT
OLDEST_FORMAT: Final = 2
"""Records from this format on can be replayed. A record without a format is of format 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """What a run is made of. `sources` are the tree files by name, `prompts` the segments by id.

    `folder` is where it was asked, if that is not in a project: runs of all such folders share one
    database.
    """

    tree: str
    sources: Mapping[str, str]
    board: Mapping[str, Any]
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    question: str = ""
    model: str = ""
    folder: str = ""
    tick_budget: int = DEFAULT_TICK_BUDGET
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    began_at: float = field(default_factory=time.time)
    format: int = FORMAT

    def as_body(self, keep: Callable[[str], str]) -> dict[str, Any]:
        """The form for the record. `keep` stores a text by its content, once for all runs."""
        facts = {slot: getattr(self, slot) for slot in self.__slots__}
        kept = {
            kind: {name: keep(text) for name, text in facts[kind].items()}
            for kind in KEPT_BY_CONTENT
        }
        return {**facts, "board": dict(self.board), **kept}

    @classmethod
    def from_records(cls, records: Sequence[Record], contents: Mapping[str, str]) -> Recipe:
        if not records or records[0].kind != "start":
            raise JournalError("the record has no beginning; the run died before it was begun")
        known: dict[str, Any] = dict(records[0].body)
        _check_format(known)
        for kind in KEPT_BY_CONTENT:
            known[kind] = {file: contents[name] for file, name in known.get(kind, {}).items()}
        return cls(**known)


def _check_format(start: Mapping[str, Any]) -> None:
    """Refuse a record whose tree names leaves of another version, before the tree is loaded."""
    found = start.get("format", 1)
    if OLDEST_FORMAT <= found <= FORMAT:
        return
    other = "an older" if found < FORMAT else "a newer"
    run_id = start["run_id"]
    raise InputError(
        f"run {run_id} was recorded by {other} version of oracle, whose leaves this version does "
        f"not have; it can be shown (`oracle run show {run_id}`) and its session can be exported "
        "(`oracle sessions export`), but it cannot be replayed or resumed"
    )


GatherFacts: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSetup:
    """What all runs of one agent share. Without trees or segments our own are used.

    `sources` are brought up to date before a run, and the `facts` are gathered. `live` has what
    leaves call on.
    """

    live: AgentServices = field(default_factory=AgentServices)
    limits: Limits = field(default_factory=Limits)
    trees: Mapping[str, str] | None = None
    segments: tuple[PromptSegment, ...] | None = None
    sources: Sources | None = None
    facts: GatherFacts | None = None
    folder: str = ""

    def recipe(
        self,
        query: str,
        *,
        attachment: str = "",
        history: Sequence[Exchange] = (),
        known_terms: Sequence[str] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Recipe:
        """`known_terms` are the terms of the query that name something in the project.

        `facts` are about the project. They are on record, as is the date, so that a replay reads
        neither the disk nor the calendar.
        """
        live = self.live
        board: dict[str, Any] = {
            "query": query,
            "facts": {"date": date_of(time.time()), **(facts or {})},
            "model": _model_facts(live.model),
            "limits": self.limits.to_dict(),
            "tool_list": "[]" if live.tools is None else _tool_list(live.tools),
        }
        if live.approve is not None:
            board["can_ask"] = True
        if attachment:
            board["attachment"] = attachment
        if history:
            board["history"] = [_remembered(exchange) for exchange in history]
        if known_terms is not None:
            board["known_terms"] = sorted(known_terms)
        return Recipe(
            tree=TREE,
            sources=built_in_trees() if self.trees is None else self.trees,
            prompts=_segment_texts(self.segments or built_in_segments()),
            question=query,
            model=board["model"]["name"],
            board=board,
            folder=self.folder,
        )


def terms_of(query: str, history: Sequence[Exchange]) -> list[str]:
    """The terms that the classification wants to know about: does the project have them?"""
    return terms_to_look_up(query, turns_of([_remembered(exchange) for exchange in history]))


def services_from(recipe: Recipe, live: AgentServices | None = None) -> AgentServices:
    """The live services with the prompts that the run was begun with; alone, those of a replay."""
    segments = _segments_from(tuple(recipe.prompts.values()))
    return replace(live or AgentServices(), segments=segments, record_format=recipe.format)


@cache
def import_our_leaves() -> None:
    """Register the leaves that ship with oracle; importing them does that."""
    for package in LEAF_PACKAGES:
        for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
            importlib.import_module(f"{package}.{found.name}")


@cache
def built_in_trees() -> Mapping[str, str]:
    """Our own trees, with the leaves that they name."""
    import_our_leaves()
    folder = Path(str(files("oracle") / "bt" / "trees"))
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.lua"))}


def _model_facts(model: Model | None) -> dict[str, Any]:
    if model is None:
        return {
            "name": "none",
            "context_window": UNKNOWN_WINDOW,
            "longest_output": 0,
            "prices": {"input": 0.0, "output": 0.0},
        }
    return {
        "name": model.name,
        "context_window": model.context_window,
        "longest_output": model.longest_output,
        "prices": None if model.prices is None else asdict(model.prices),
    }


def _tool_list(tools: Tools) -> str:
    """The same text for the same tools, so that runs share what is made of it."""
    return json.dumps(specs_as_data(tools.specs), sort_keys=True)


def _remembered(exchange: Exchange) -> dict[str, Any]:
    said = ("places_found", "places", "failed", "sources_tried")
    metadata = {name: exchange.metadata[name] for name in said if name in exchange.metadata}
    if signals := signals_in_answer(exchange.metadata.get("signals")):
        metadata["signals"] = signals
    return {"question": exchange.question, "answer": exchange.answer, "metadata": metadata}


@lru_cache(maxsize=16)
def _segment_texts(segments: tuple[PromptSegment, ...]) -> Mapping[str, str]:
    return {segment.id: json.dumps(asdict(segment), sort_keys=True) for segment in segments}


@lru_cache(maxsize=16)
def _segments_from(texts: tuple[str, ...]) -> tuple[PromptSegment, ...]:
    return tuple(_segment_from(json.loads(text)) for text in texts)


def _segment_from(data: dict[str, Any]) -> PromptSegment:
    data["conditions"] = tuple(data["conditions"])
    return PromptSegment(**data)
