"""What a character knows in one turn: the conversation, its strength, and its own dice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Final, Literal, TypeVar

from oracle.testing.simulated import competent
from oracle.testing.simulated.conversation import Conversation
from oracle.testing.simulated.response import Response

StrengthName = Literal["mild", "marked", "extreme"]
T = TypeVar("T")

_ENDLESS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Strength:
    """`chance` is how often the model misbehaves. `patience` is for how many turns of a question
    it does so, if the misbehaviour keeps it from answering.
    """

    name: StrengthName
    chance: float
    patience: int


MILD: Final = Strength(name="mild", chance=0.4, patience=3)
MARKED: Final = Strength(name="marked", chance=0.85, patience=8)
EXTREME: Final = Strength(name="extreme", chance=1.0, patience=_ENDLESS)
STRENGTHS_BY_NAME: Final[Mapping[str, Strength]] = {
    each.name: each for each in (MILD, MARKED, EXTREME)
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """`slips` says whether the model misbehaves in this turn, by chance. `random` is fresh for
    each request, so the same request always gets the same response. `honest` is what a competent
    model would say now.
    """

    conversation: Conversation
    strength: Strength
    random: Random
    slips: bool
    honest: Response

    @property
    def persists(self) -> bool:
        """Whether it misbehaves in this turn and has not lost its patience yet."""
        return self.slips and self.is_patient

    @property
    def is_patient(self) -> bool:
        return self.conversation.turns < self.strength.patience

    @property
    def answer(self) -> Response:
        return competent.answer(self.conversation)

    @property
    def topic(self) -> str:
        """The longest word of the question: what a model would name things after."""
        words = competent.words_in(self.conversation.question)
        return max(words, key=len, default="project")

    def by_strength(self, mild: T, marked: T, extreme: T) -> T:
        return {"mild": mild, "marked": marked, "extreme": extreme}[self.strength.name]


Play = Callable[[Turn], Response]


def take_turn(
    conversation: Conversation, *, character: str, strength: Strength, seed: int
) -> tuple[Turn, str]:
    """The turn, and a key for the ids of its calls. Both depend on nothing but what is given.

    `hash()` of a text differs between processes, so the dice are seeded with a digest.
    """
    parts = (seed, character, strength.name, conversation.question, conversation.responses)
    digest = sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
    random = Random(int(digest[:16], 16))
    turn = Turn(
        conversation=conversation,
        strength=strength,
        random=random,
        slips=random.random() < strength.chance,
        honest=competent.respond(conversation),
    )
    return turn, digest[16:28]
