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
from dataclasses import asdict, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from operator import is_
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast

from oracle.bt.actions.assess import turns_of
from oracle.bt.board import BERT, PIPE_EMPTY, SECONDS_WAITED, SHARES
from oracle.bt.core.context import DEFAULT_TICK_BUDGET
from oracle.errors import InputError, JournalError, NotFound, named
from oracle.lazy_dataclass import dataclass
from oracle.models.prompt_segment import PromptSegment
from oracle.models.session import LOCAL, Exchange
from oracle.models.source import NOTHING_GIVEN, Given
from oracle.models.tool_spec import ToolSpec
from oracle.services.agent_services import AgentServices, Sources
from oracle.services.control.grants import only_by_yes, specs_as_data
from oracle.services.control.ledger import Limits
from oracle.services.journal import Record
from oracle.services.journal.record import KEPT_BY_CONTENT
from oracle.services.llm.protocol import Model
from oracle.services.project.diffs import without_secret_files
from oracle.services.project.redaction import redact, redacted
from oracle.services.prompting.project_facts import ROOTS, date_of
from oracle.services.prompting.segment_files import built_in_segments
from oracle.services.signals.said import has_visible_text, signals_in_answer
from oracle.services.storage.budgets import Budget
from oracle.services.storage.damage import RESTORE
from oracle.services.tools.protocol import PreparedTools, Tools

TREE: Final = "oracle-agent"
BASELINE: Final = "baseline"
"""The plain loop that the tree is compared with. It is always the built-in one."""
LOOPS: Final = {"tree": TREE, "baseline": BASELINE}
UNKNOWN_WINDOW: Final = 8_192
LEAF_PACKAGES: Final = ("oracle.bt.actions", "oracle.bt.conditions")

FORMAT: Final = 3
"""Which leaves a recorded tree may name. A record without a format is of format 1."""


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
            problem = JournalError if records else NotFound
            raise problem("the record has no beginning; the run has not begun, or died before it")
        known: dict[str, Any] = dict(records[0].body)
        _check_format(known)
        for kind in KEPT_BY_CONTENT:
            known[kind] = {
                file: _text_of(name, contents, known["run_id"], f"{kind} {file}")
                for file, name in _named_texts(known, kind).items()
            }
        check_facts(known)
        return cls(**known)


def _named_texts(start: Mapping[str, Any], kind: str) -> Mapping[str, str]:
    found: Any = start.get(kind, {})
    names = cast("dict[str, Any]", found) if isinstance(found, dict) else {"?": found}
    if not all(isinstance(name, str) for name in names.values()):
        raise _damaged(start["run_id"], f"its {kind} are {named(cast('object', found), 60)}")
    return names


def _text_of(name: str, contents: Mapping[str, str], run_id: str, what: str) -> str:
    text = contents.get(name)
    if text is None:
        raise _damaged(run_id, f"the text of its {what} is missing or was changed (blob {name})")
    return text


_FACTS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "tree": str,
    "board": dict,
    "question": str,
    "model": str,
    "folder": str,
    "tick_budget": int,
    "run_id": str,
    "began_at": (int, float),
    "format": int,
    "sources": dict,
    "prompts": dict,
}


def check_facts(known: Mapping[str, Any]) -> None:
    for name, value in known.items():
        if name not in _FACTS or not isinstance(value, _FACTS[name]):
            raise _damaged(known["run_id"], f"its {name[:40]} is {named(value, 60)}")


def _damaged(run_id: object, what: str) -> JournalError:
    return JournalError(f"run {run_id} cannot be played again: {what}; {RESTORE}")


def _check_format(start: Mapping[str, Any]) -> None:
    """Refuse a record whose tree names leaves of another version, before the tree is loaded."""
    found = start.get("format", 1)
    if type(found) is not int:
        raise _damaged(start["run_id"], f"its format is {named(found, 60)}")
    if found == FORMAT:
        return
    other = "an older" if found < FORMAT else "a newer"
    run_id = start["run_id"]
    raise InputError(
        f"run {run_id} was recorded by {other} version of oracle, whose leaves this version does "
        f"not have; it can be shown (`oracle run show {run_id}`) and its session can be exported "
        "(`oracle sessions export`), but it cannot be replayed or resumed"
    )


GatherFacts: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]


class Definitions(Protocol):
    """Trees and prompts that may change between two runs."""

    @property
    def trees(self) -> Mapping[str, str] | None: ...
    @property
    def segments(self) -> tuple[PromptSegment, ...]: ...

    def refresh(self) -> InputError | None:
        """Read what has changed. Returns why a changed file is not used."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSetup:
    """What all runs of one agent share. Without trees or segments our own are used.

    `sources` are brought up to date before a run, and so are `definitions`, which replace trees and
    segments; the `facts` are gathered. `live` has what leaves call on.
    """

    live: AgentServices = field(default_factory=AgentServices)
    limits: Limits = field(default_factory=Limits)
    trees: Mapping[str, str] | None = None
    segments: tuple[PromptSegment, ...] | None = None
    sources: Sources | None = None
    definitions: Definitions | None = None
    facts: GatherFacts | None = None
    folder: str = ""
    project: str | None = None
    user: str = LOCAL
    may_write: bool = True
    """Whether the user may allow a tool that writes. If not, an order to write is not a yes."""
    tree: str = TREE
    budgets: tuple[Budget, ...] = ()
    """Of all runs of the user and the project together."""
    roots: tuple[tuple[str, str], ...] = ()
    """The further roots of the project: the name and the path of each, as the settings have it."""

    async def prepare_tools(
        self, query: str, history: Sequence[Exchange], known_terms: Mapping[str, int] | None
    ) -> None:
        """Before the recipe: ask servers for their tools, if they never were and it needs them."""
        tools = self.live.tools
        if isinstance(tools, PreparedTools) and tools.needs_preparation:
            turns = turns_of([_remembered(exchange) for exchange in history])
            await tools.prepare(self.live.classify(query, turns, known_terms).query_type)

    def recipe(
        self,
        query: str,
        *,
        given: Given = NOTHING_GIVEN,
        history: Sequence[Exchange] = (),
        known_terms: Mapping[str, int] | None = None,
        shares: Mapping[str, float] | None = None,
        seconds_before: float = 0.0,
        facts: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> Recipe:
        """`known_terms` are the terms of the query that name something in the project, with the
        number of files that have each. `shares` say how much of the query each source has.

        All text of a run's beginning is redacted here, before it is sent or recorded.
        `seconds_before` were spent on the question already, and count for its time limit. `facts`
        are on record, as is the date: a replay reads neither the disk nor the calendar.
        """
        live, definitions = self.live, self.definitions or self
        board: dict[str, Any] = {
            "query": query,
            "facts": {"date": date_of(time.time()), **(facts or {})},
            "model": _model_facts(live.model),
            "limits": self.limits.to_dict(),
        }
        if live.approve is not None:
            board["can_ask"] = True
        if has_visible_text(given.text):
            board["attachment"] = without_secret_files(given.text)
        if given.sources:
            board["attached"] = [dict(source) for source in given.sources]
        if self.roots:
            board["facts"][ROOTS] = [list(root) for root in self.roots]
        if given.is_pipe_empty:
            board["facts"][PIPE_EMPTY] = True  # no key of its own: own trees declare their keys
        if shares:
            board["facts"][SHARES] = dict(shares)
        if live.bert is not None:
            # On record, so that a replay asks the journal exactly where the run asked BERT.
            board["facts"][BERT] = sorted(live.bert.uses)
        # The limit counts from when the user began to wait, but half of it is for the run.
        counted = min(given.seconds_waited, self.limits.seconds / 2)
        if waited := round(given.seconds_waited - counted, 3):
            board["facts"][SECONDS_WAITED] = waited
        if before := round(seconds_before + counted, 3):
            board["seconds_before"] = before
        if history:
            board["history"] = [_remembered(exchange) for exchange in history]
        if known_terms is not None:
            # Pairs, because the trees declare a list.
            board["known_terms"] = sorted([term, files] for term, files in known_terms.items())
        board = redacted(board)
        board["tool_list"] = "[]" if live.tools is None else _tool_list(self._offered(live.tools))
        own = None if self.tree == BASELINE else definitions.trees
        recipe = Recipe(
            tree=self.tree,
            sources=built_in_trees() if own is None else redacted(dict(own)),
            prompts=segment_texts(definitions.segments or built_in_segments()),
            question=board["query"],
            model=board["model"]["name"],
            board=board,
            folder=self.folder,
        )
        return recipe if run_id is None else replace(recipe, run_id=run_id)

    def _offered(self, tools: Tools) -> Sequence[ToolSpec]:
        return tools.specs if self.may_write else only_by_yes(tools.specs)


def check_roots(run_id: str, board: Any, roots: Sequence[tuple[str, str]]) -> None:
    """A run goes on with the roots that it began with, or not at all: what it has read, and what it
    has cited, is in those. `board` is that of its first record.
    """
    facts: Any = cast("dict[str, Any]", board).get("facts") if isinstance(board, dict) else None
    # What is damaged is reported when the record is read.
    if not isinstance(facts, dict):
        return
    recorded: Any = cast("dict[str, Any]", facts).get(ROOTS, [])
    if recorded != [list(root) for root in roots]:
        raise InputError(
            f"run {run_id} began with other roots than the project has now: {named(recorded, 200)};"
            " set [roots] in oracle.toml as it was, or ask the question again"
        )


def services_from(recipe: Recipe, live: AgentServices | None = None) -> AgentServices:
    """The live services with the prompts that the run was begun with; alone, those of a replay."""
    segments = _segments_from(tuple(recipe.prompts.values()))
    return replace(live or AgentServices(), segments=segments)


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


def _tool_list(specs: Sequence[ToolSpec]) -> str:
    """The same text for the same tools, so that runs share what is made of it."""
    global _last_tools
    last, text = _last_tools
    # Made once as long as the tools are the same objects: it is long, and each question has it.
    if len(last) != len(specs) or not all(map(is_, last, specs)):
        text = _redacted_once(json.dumps(specs_as_data(specs), sort_keys=True))
        _last_tools = (tuple(specs), text)
    return text


_last_tools: tuple[Sequence[ToolSpec], str] = ((), "[]")
_redacted_once = lru_cache(maxsize=16)(redact)


def _is_list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list) and all(isinstance(item, kind) for item in cast("list[Any]", value))
    )


_REMEMBERED: Final[Mapping[str, Callable[[Any], bool]]] = {
    "attached_characters": lambda value: type(value) is int and value > 0,
    "attached": _is_list_of(str),
    "places_found": lambda value: type(value) is int,
    "places": _is_list_of(dict),
    "failed": lambda value: type(value) is bool,
    "sources_tried": _is_list_of(str),
}


def _remembered(exchange: Exchange) -> dict[str, Any]:
    # What is not as oracle writes it was changed by somebody else, and is not used.
    metadata = {
        name: exchange.metadata[name]
        for name, fits in _REMEMBERED.items()
        if name in exchange.metadata and fits(exchange.metadata[name])
    }
    if signals := signals_in_answer(exchange.metadata.get("signals")):
        metadata["signals"] = signals
    return {"question": exchange.question, "answer": exchange.answer, "metadata": metadata}


@lru_cache(maxsize=16)
def segment_texts(segments: tuple[PromptSegment, ...]) -> Mapping[str, str]:
    # Ours hold no secrets, which a test checks, and looking for some takes time at each start.
    ours = {id(segment) for segment in built_in_segments()}
    return {
        segment.id: json.dumps(
            asdict(segment) if id(segment) in ours else redacted(asdict(segment)), sort_keys=True
        )
        for segment in segments
    }


@lru_cache(maxsize=16)
def _segments_from(texts: tuple[str, ...]) -> tuple[PromptSegment, ...]:
    return tuple(map(_segment_from, texts))


def _segment_from(text: str) -> PromptSegment:
    try:
        data: dict[str, Any] = json.loads(text)
        data["conditions"] = tuple(data["conditions"])
        return PromptSegment(**data)
    except (ValueError, TypeError, KeyError, RecursionError) as problem:
        raise JournalError(f"a recorded prompt is damaged: {problem}; {RESTORE}") from None
