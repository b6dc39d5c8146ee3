"""Compares what a run decided with what it decides now: the first node of each turn that differs.

Only nodes that both trees have are compared by their status. So a tree whose nodes were renamed or
moved, and which does the same, has no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field, replace
from typing import Any, NamedTuple

from oracle.bt.wrappers.decisions.lookup import Note
from oracle.bt.wrappers.decisions.playing import Played
from oracle.bt.wrappers.decisions.recording import Decisions, Fact, NodeEnd, Recording, Totals
from oracle.lazy_dataclass import dataclass

NOT_REACHED = "not reached"
GONE = "gone"
"""In the place of a status: the new tree does not have the node."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnDifference:
    """The first node of a turn that decides differently; empty if only other things differ.

    `instead` is a node that only the new tree has, and that decided before it could. `no_longer`
    and `newly` are what the run did in this turn, in words.
    """

    turn: int
    node: str = ""
    before: str = ""
    now: str = ""
    instead: str = ""
    no_longer: Sequence[str] = ()
    newly: Sequence[str] = ()

    @property
    def is_only_further(self) -> bool:
        """Whether it says no more than that one of the runs goes on where the other breaks off."""
        return NOT_REACHED in (self.before, self.now) and not self.instead


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionDiff:
    """`missing` is where the recording had no answer: what follows is not known.

    `was_interrupted` says that the recorded run has no end itself.
    """

    run_id: str
    question: str
    turns: Sequence[TurnDifference] = ()
    before: Totals = field(default_factory=Totals)
    now: Totals = field(default_factory=Totals)
    stop_before: str = ""
    stop_now: str = ""
    same_answer: bool = True
    assumed: Sequence[Note] = ()
    lived: Sequence[Note] = ()
    missing: Note | None = None
    was_interrupted: bool = False

    @property
    def is_same(self) -> bool:
        """Whether no decision differs, as far as the recording goes."""
        return not self.turns and (self.missing is not None or self.stop_before == self.stop_now)

    @property
    def is_followed(self) -> bool:
        """Whether the recording had an answer to everything; one without an end, up to there."""
        return self.missing is None or (self.was_interrupted and self.is_same)

    def as_data(self) -> dict[str, Any]:
        data = asdict(self)
        for name in ("assumed", "lived"):
            data[name] = [note._asdict() for note in getattr(self, name)]
        data["missing"] = None if self.missing is None else self.missing._asdict()
        return {**data, "is_same": self.is_same, "is_followed": self.is_followed}


def compared(recording: Recording, played: Played) -> DecisionDiff:
    before, now = recording.decisions, played.recording.decisions
    course = played.course
    return DecisionDiff(
        run_id=recording.recipe.run_id,
        question=recording.recipe.question,
        turns=_differences(before, now, last=_last_known(course.missing, before)),
        before=before.totals,
        now=now.totals,
        stop_before=before.stop_reason,
        stop_now=now.stop_reason,
        same_answer=before.answer == now.answer,
        assumed=course.assumed,
        lived=course.lived,
        missing=course.missing,
        was_interrupted=not before.stop_reason,
    )


def between(first: Recording, second: Recording) -> DecisionDiff:
    """The same for two recorded runs. Where one has no end, both count up to there."""
    before, now = first.decisions, second.decisions
    cut = [run.totals.turns for run in (before, now) if not run.stop_reason]
    return DecisionDiff(
        run_id=first.recipe.run_id,
        question=first.recipe.question,
        turns=_differences(before, now, last=min(cut, default=None)),
        before=before.totals,
        now=now.totals,
        stop_before=before.stop_reason,
        stop_now=now.stop_reason,
        same_answer=before.answer == now.answer,
        was_interrupted=bool(cut),
    )


def _last_known(missing: Note | None, before: Decisions) -> int | None:
    """The turn in which one of the two runs breaks off; what one has more there says nothing."""
    if missing is not None:
        return missing.turn
    return None if before.stop_reason else before.totals.turns


def _differences(before: Decisions, now: Decisions, *, last: int | None) -> list[TurnDifference]:
    common = {*before.paths} & {*now.paths}
    turns = {end.turn for end in (*before.nodes, *now.nodes)}
    found: list[TurnDifference] = []
    for turn in sorted(turns):
        if last is not None and turn > last:
            break
        old, new = _of_turn(before, turn), _of_turn(now, turn)
        breaks_off = turn == last
        # A turn that only one of them has is told by what is done in it.
        is_shared = turn <= min(before.totals.turns, now.totals.turns)
        first = _first_node(turn, old, new, common) if is_shared else None
        if first is not None and breaks_off and first.is_only_further:
            first = None
        no_longer = [] if breaks_off else _more(old.facts, new.facts)
        newly = _more(new.facts, old.facts)
        if first is not None or no_longer or newly:
            first = first or _by_fact(turn, old, new)
            found.append(replace(first, no_longer=no_longer, newly=newly))
    return found


class _Turn(NamedTuple):
    nodes: Sequence[NodeEnd]
    facts: Sequence[Fact]


def _of_turn(run: Decisions, turn: int) -> _Turn:
    return _Turn(
        [end for end in run.nodes if end.turn == turn],
        [fact for fact in run.facts if fact.turn == turn],
    )


def _first_node(turn: int, before: _Turn, now: _Turn, common: set[str]) -> TurnDifference | None:
    """The first node that both trees have and that ends differently, in the order of the turn."""
    old = [end for end in before.nodes if end.path in common]
    new = [end for end in now.nodes if end.path in common]
    at = next((n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    if at is not None:
        instead = _own_node_before(new[at], now.nodes, common)
        if gone := _own_node_before(old[at], before.nodes, common):
            return replace(_gone(turn, gone, before.nodes), instead=instead)
        if instead:
            status = new[at].status if new[at].path == old[at].path else NOT_REACHED
            return TurnDifference(
                turn=turn, node=old[at].path, before=old[at].status, now=status, instead=instead
            )
        return _decided(turn, old[at:], new[at:]) or _left_out(turn, old[at], new[at])
    if len(old) == len(new):
        return _gone_from_turn(turn, before, now, common)
    at = min(len(old), len(new))
    end = (old if len(old) > at else new)[at]
    statuses = (end.status, NOT_REACHED) if len(old) > at else (NOT_REACHED, end.status)
    return TurnDifference(turn=turn, node=end.path, before=statuses[0], now=statuses[1])


def _decided(turn: int, old: Sequence[NodeEnd], new: Sequence[NodeEnd]) -> TurnDifference | None:
    """The node that ends first in one of the runs, if it ends differently in the other.

    One that is entered now, and was passed over before, ends later: after what is below it.
    """
    outer = min(old[0].path, new[0].path, key=len)
    if any(not _is_within(end.path, outer) for end in (old[0], new[0])):
        return None
    ends = [next((end.status for end in run if end.path == outer), "") for run in (old, new)]
    if not all(ends) or ends[0] == ends[1]:
        return None
    return TurnDifference(turn=turn, node=outer, before=ends[0], now=ends[1])


def _is_within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}/")


def _left_out(turn: int, was: NodeEnd, is_: NodeEnd) -> TurnDifference:
    """No node that both trees have ends differently: one of them is passed over."""
    if _is_within(is_.path, was.path.rpartition("/")[0]):
        return TurnDifference(turn=turn, node=is_.path, before=NOT_REACHED, now=is_.status)
    return TurnDifference(turn=turn, node=was.path, before=was.status, now=NOT_REACHED)


def _own_node_before(end: NodeEnd, nodes: Sequence[NodeEnd], common: set[str]) -> str:
    """The node that only this tree has and that ended just before this one; the outermost."""
    place = next(number for number, other in enumerate(nodes) if other is end)
    if not place or nodes[place - 1].path in common:
        return ""
    return _outermost_own(nodes[place - 1].path, common)


def _outermost_own(path: str, common: set[str]) -> str:
    names = path.split("/")
    paths = ("/".join(names[:count]) for count in range(1, len(names) + 1))
    return next(path for path in paths if path not in common)


def _gone(turn: int, path: str, nodes: Sequence[NodeEnd]) -> TurnDifference:
    status = next((end.status for end in nodes if end.path == path), "")
    return TurnDifference(turn=turn, node=path, before=status or NOT_REACHED, now=GONE)


def _gone_from_turn(
    turn: int, before: _Turn, now: _Turn, common: set[str]
) -> TurnDifference | None:
    """A branch that was left out of the tree, where all others end as before. One that took part
    without any effect is no difference.
    """
    if not (_more(before.facts, now.facts) or _more(now.facts, before.facts)):
        return None
    path = next((end.path for end in before.nodes if end.path not in common), "")
    return _gone(turn, _outermost_own(path, common), before.nodes) if path else None


def _by_fact(turn: int, before: _Turn, now: _Turn) -> TurnDifference:
    """Who decided what is new, where no node ends differently.

    Both runs may come to it: then it ends the same way in both, and only what it says differs.
    """
    known = {fact.text for fact in before.facts}
    node = next((fact.node for fact in now.facts if fact.node and fact.text not in known), "")
    if not node:
        return TurnDifference(turn=turn)
    was = next((end.status for end in before.nodes if end.path == node), None)
    if was is None:
        return TurnDifference(turn=turn, node=node, before=NOT_REACHED)
    return TurnDifference(turn=turn, node=node, before=was, now=was)


def _more(these: Iterable[Fact], others: Iterable[Fact]) -> list[str]:
    """What is here more often than there, in order."""
    left = Counter(fact.text for fact in others)
    more: list[str] = []
    for fact in these:
        if left[fact.text]:
            left[fact.text] -= 1
        else:
            more.append(fact.text)
    return more
