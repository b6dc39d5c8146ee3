"""BERT as a run sees it: two questions, each answered in time or not at all.

Both return JSON-shaped values for the journal. `{"problem": …}` means that the heuristic decides
alone; it is on record too, so a replay comes to the same decision.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from oracle.lazy_dataclass import dataclass
from oracle.services.bert.background_model import BackgroundModel, NoAnswer
from oracle.services.bert.minilm import Encoder, is_installed, load_minilm
from oracle.services.bert.prototypes import Prototypes
from oracle.services.bert.query_types import layers, type_probabilities

Use: TypeAlias = Literal["classification", "fallback"]
Choice: TypeAlias = Literal["auto", "on", "off"]

USES: Final[frozenset[Use]] = frozenset({"classification", "fallback"})


@dataclass(frozen=True, slots=True)
class Readers:
    """All that is made from an encoder when it is loaded."""

    encode: Encoder
    prototypes: Prototypes


class Bert:
    """`uses` is what it is asked for. It is loaded by the first question, in the background."""

    def __init__(
        self,
        load: Callable[[], Encoder] = load_minilm,
        *,
        uses: Collection[Use] = USES,
        model: BackgroundModel[Readers] | None = None,
    ) -> None:
        self.uses = frozenset(uses)
        self.model = model or BackgroundModel(lambda: open_readers(load))

    async def query_types(self, texts: Sequence[str]) -> dict[str, Any]:
        """`{"types": …}` for the texts of a query, or `{"problem": …}`."""
        return await self._answer(lambda found: {"types": type_probabilities(found.encode, texts)})

    async def situation(self, said: Sequence[str]) -> dict[str, Any]:
        """`{"states": …, "strategies": …}` for its last sentences, or `{"problem": …}`."""
        return await self._answer(lambda found: found.prototypes.situation(said))

    async def _answer(self, question: Callable[[Readers], Mapping[str, Any]]) -> dict[str, Any]:
        try:
            return dict(await self.model.ask(question))
        except NoAnswer as problem:
            return {"problem": str(problem)}


def open_readers(load: Callable[[], Encoder] = load_minilm) -> Readers:
    """Takes seconds. Making the prototypes also warms the encoder up: its first answer takes
    several times as long as the next ones.
    """
    encode = load()
    layers()
    return Readers(encode, Prototypes(encode))


@cache
def _shared_model() -> BackgroundModel[Readers]:
    """One for all agents of a process: it takes half a gigabyte."""
    return BackgroundModel(open_readers)


def chosen_bert(choices: Mapping[Use, Choice]) -> Bert | None:
    """BERT for the uses that the settings choose; None if there is none. Nothing is loaded yet.

    `auto` means: if it is installed. With `on` its absence is reported by an event.
    """
    uses: set[Use] = {use for use, choice in choices.items() if choice == "on"}
    uses |= {use for use, choice in choices.items() if choice == "auto" and is_installed()}
    return Bert(uses=uses, model=_shared_model()) if uses else None
