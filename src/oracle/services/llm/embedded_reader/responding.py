"""One response to one situation: talk, an action, a look around, or the answer."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.services.llm.embedded_reader.answering import answer
from oracle.services.llm.embedded_reader.choosing import Passage
from oracle.services.llm.embedded_reader.looking import (
    READS,
    Aim,
    ToCall,
    aim_of,
    best_of,
    closer_calls,
    first_calls,
    new_searches,
    other_calls,
)
from oracle.services.llm.embedded_reader.saying import Response, signal
from oracle.services.llm.embedded_reader.situation import Situation
from oracle.services.llm.embedded_reader.talking import talk


def respond(situation: Situation) -> Response:
    spoken = talk(situation)
    return spoken or look(situation, aim_of(situation))


def look(situation: Situation, aim: Aim) -> Response:
    """Search, look closer, answer; another way where nothing came, and `stuck` where none is."""
    found = best_of(situation, aim)
    if not situation.tools:
        return answer(situation, aim, found)
    if not situation.calls:
        calls = first_calls(situation, aim)
        why = f"Searching for {', '.join(aim.words.all)}"
        return _go(calls, why, 2) if calls else answer(situation, aim, found)
    if not found:
        return _another_way(situation, aim)
    if not any(call.name in READS for call in situation.calls):
        calls = closer_calls(situation, found)
        if calls:
            return _go(calls, f"Reading the best places: {_places(found)}", 1)
    return answer(situation, aim, found)


def _another_way(situation: Situation, aim: Aim) -> Response:
    if fresh := first_calls(situation, aim, new_searches(situation)):
        return _go(fresh, "Nothing was found; looking into another source", 2)
    if len(situation.turns) == 1 and (calls := other_calls(situation, aim)):
        return _go(calls, _why_another_way(situation), 2)
    if all(turn for turn in situation.turns):
        return _stuck(situation, aim)
    return answer(situation, aim, ())


def _why_another_way(situation: Situation) -> str:
    failed = list(dict.fromkeys(call.name for call in situation.failed))
    if failed:
        return f"{', '.join(failed)} failed; trying another way"
    return "Nothing was found by these words; trying parts of them and related ones"


def _stuck(situation: Situation, aim: Aim) -> Response:
    tried = list(dict.fromkeys(call.name for call in situation.calls))
    blocker = f"nothing was found for {', '.join(aim.words.all) or 'the question'}"
    if situation.failed:
        names = dict.fromkeys(call.name for call in situation.failed)
        blocker += f"; {', '.join(names)} failed"
    return Response(
        text=answer(situation, aim, ()).text,
        signal=signal("stuck", 0.6, attempted=tried or ["nothing"], blocker=blocker),
    )


def _go(calls: Sequence[ToCall], why: str, turns: int) -> Response:
    return Response(calls=calls, signal=signal("need_turn", 0.8, reason=why, expected_turns=turns))


def _places(found: Sequence[Passage]) -> str:
    return ", ".join(passage.where for passage in found[:3])
