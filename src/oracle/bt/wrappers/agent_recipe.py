"""What a run of the agent is made of, before it begins and again when it is replayed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from oracle.bt.actions.assess import turns_of
from oracle.bt.wrappers.our_leaves import import_our_leaves
from oracle.bt.wrappers.recorded_run import Recipe
from oracle.models.prompt_segment import PromptSegment
from oracle.models.session import Exchange
from oracle.services.agent_services import AgentServices
from oracle.services.classification.classifier import terms_to_look_up
from oracle.services.control.grants import specs_as_data
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Model
from oracle.services.prompting.segment_files import built_in_segments
from oracle.services.tools.protocol import Tools

TREE: Final = "oracle-agent"
UNKNOWN_WINDOW: Final = 8_192


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """`known_terms` are those of its terms that name something in the project, if that is known."""

    text: str
    attachment: str = ""
    history: Sequence[Exchange] = ()
    known_terms: Sequence[str] | None = None

    def terms(self) -> list[str]:
        """What the classification may want to know of: which of these are the project's own."""
        return terms_to_look_up(self.text, turns_of([_remembered(each) for each in self.history]))


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSetup:
    """What all runs of one wrapper share. `trees` are files by name; ours where none are given.

    `can_ask` says that there is a person to ask.
    """

    model: Model | None = None
    tools: Tools | None = None
    limits: Limits = field(default_factory=Limits)
    can_ask: bool = False
    trees: Mapping[str, str] | None = None
    segments: tuple[PromptSegment, ...] | None = None

    def recipe(self, question: Question) -> Recipe:
        return Recipe(
            tree=TREE,
            sources=built_in_trees() if self.trees is None else self.trees,
            prompts=_segment_texts(self.segments or built_in_segments()),
            question=question.text,
            model=_model_facts(self.model)["name"],
            board=self._board(question),
        )

    def _board(self, question: Question) -> dict[str, Any]:
        board: dict[str, Any] = {
            "query": question.text,
            "model": _model_facts(self.model),
            "limits": self.limits.to_dict(),
            "tool_list": "[]" if self.tools is None else _tool_list(self.tools),
        }
        if self.can_ask:
            board["can_ask"] = True
        if question.attachment:
            board["attachment"] = question.attachment
        if question.history:
            board["history"] = [_remembered(exchange) for exchange in question.history]
        if question.known_terms is not None:
            board["known_terms"] = sorted(question.known_terms)
        return board


def services_from(recipe: Recipe, live: AgentServices | None = None) -> AgentServices:
    """The live services with the prompts that the run was begun with; alone, those of a replay."""
    segments = _segments_from(tuple(recipe.prompts.values()))
    return replace(live or AgentServices(), segments=segments)


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
