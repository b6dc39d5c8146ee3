"""The table of all characters. A character exists if it is listed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from oracle.errors import NotFound, did_you_mean
from oracle.services.llm.protocol import Model
from oracle.testing.simulated import claiming, gathering, manners, signalling
from oracle.testing.simulated.model import SimulatedModel
from oracle.testing.simulated.response import Response
from oracle.testing.simulated.turn import STRENGTHS_BY_NAME, Play, Turn

T = TypeVar("T")
AtExtreme = Literal["answers", "answers without tools", "never answers"]
"""Whether the extreme form ever gives the best answer that it could.

| value | meaning |
| --- | --- |
| answers | by itself, as well as its misbehaviour lets it |
| answers without tools | only when no tools are offered any more |
| never answers | the misbehaviour takes the answer's place, or keeps it from finding anything |
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Character:
    """`group` is what the trouble is about. Mild and marked forms always answer in the end."""

    name: str
    group: Literal["control", "gathering", "signals", "claims", "text"]
    play: Play
    at_extreme: AtExtreme = "answers"

    @property
    def description(self) -> str:
        return " ".join((self.play.__doc__ or "").split("\n\n")[0].split())


def competent(turn: Turn) -> Response:
    """Searches, reads and answers with citations: the control."""
    return turn.honest


_NEVER: Final = "never answers"
_WITHOUT_TOOLS: Final = "answers without tools"

_ROWS: Final = (
    Character(name="competent", group="control", play=competent),
    Character(
        name="gatherer", group="gathering", play=gathering.gatherer, at_extreme=_WITHOUT_TOOLS
    ),
    Character(
        name="rephraser", group="gathering", play=gathering.rephraser, at_extreme=_WITHOUT_TOOLS
    ),
    Character(name="tiny_steps", group="gathering", play=gathering.tiny_steps),
    Character(name="flooder", group="gathering", play=gathering.flooder),
    Character(
        name="failing_caller",
        group="gathering",
        play=gathering.failing_caller,
        at_extreme=_WITHOUT_TOOLS,
    ),
    Character(name="mangler", group="gathering", play=gathering.mangler, at_extreme=_NEVER),
    Character(name="silent", group="signals", play=signalling.silent),
    Character(name="more_turns", group="signals", play=signalling.more_turns),
    Character(name="malformed", group="signals", play=signalling.malformed),
    Character(name="fenced", group="signals", play=signalling.fenced),
    Character(
        name="contradictory",
        group="signals",
        play=signalling.contradictory,
        at_extreme=_WITHOUT_TOOLS,
    ),
    Character(name="new_reasons", group="signals", play=signalling.new_reasons, at_extreme=_NEVER),
    Character(name="overconfident", group="claims", play=claiming.overconfident),
    Character(name="baseless", group="claims", play=claiming.baseless, at_extreme=_NEVER),
    Character(name="premature", group="claims", play=claiming.premature, at_extreme=_NEVER),
    Character(name="inventor", group="claims", play=claiming.inventor, at_extreme=_NEVER),
    Character(
        name="withdrawn_caller", group="claims", play=claiming.withdrawn_caller, at_extreme=_NEVER
    ),
    Character(name="both_sides", group="claims", play=claiming.both_sides, at_extreme=_NEVER),
    Character(name="text_caller", group="claims", play=claiming.text_caller, at_extreme=_NEVER),
    Character(name="empty", group="text", play=manners.empty, at_extreme=_NEVER),
    Character(name="echoer", group="text", play=manners.echoer),
    Character(name="polyglot", group="text", play=manners.polyglot),
    Character(name="refuser", group="text", play=manners.refuser, at_extreme=_NEVER),
    Character(name="repeater", group="text", play=manners.repeater, at_extreme=_NEVER),
    Character(name="drafter", group="text", play=manners.drafter),
    Character(name="asks_back", group="text", play=manners.asks_back, at_extreme=_NEVER),
)
CHARACTERS: Final[Mapping[str, Character]] = {row.name: row for row in _ROWS}
STRENGTHS: Final = ("mild", "marked", "extreme")


def simulated_model(character: str, strength: str = "marked", *, seed: int = 0) -> Model:
    """A model of this character. The same seed gives the same responses in every process."""
    played = _named(character, CHARACTERS, "character")
    return SimulatedModel(
        character=played.name,
        play=played.play,
        strength=_named(strength, STRENGTHS_BY_NAME, "strength"),
        seed=seed,
    )


def _named(name: str, known: Mapping[str, T], what: str) -> T:
    if name in known:
        return known[name]
    step = f"choose one of {', '.join(known)}"
    raise NotFound(f"there is no {what} {name!r}{did_you_mean(name, known, step=step)}")
