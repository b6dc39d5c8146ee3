"""What a run may spend, where that is not decided by its tree: less than asked for, or more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from oracle.bt.board import ledger_of, set_ledger
from oracle.bt.core.runtime import TreeRun
from oracle.bt.nodes.timeout import Timeout
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.wrappers.recipe import Recipe
from oracle.errors import InputError
from oracle.services.control.ledger import RESOURCES, Limits, in_digits
from oracle.services.prompting.project_facts import WARNINGS
from oracle.services.storage.budgets import Budget
from oracle.services.storage.spend import Hold

SECONDS_LEFT: Final = "seconds_left"


def refuse_budgets(budgets: Sequence[Budget]) -> None:
    """Of a run that leaves nothing behind: nobody could say later what it has spent."""
    if budgets:
        raise InputError(
            f"{budgets[0].setting} cannot be kept without a database, which has what was spent; "
            "ask with one, or unset it"
        )


def lowered(recipe: Recipe, hold: Hold) -> Recipe:
    """The recipe of a run that gets less than its limits. The user is told so."""
    limits = hold.lowered(recipe.board["limits"])
    facts = dict(recipe.board.get("facts", {}))
    told = f"The budgets of [spend] leave {in_digits(limits['tokens'])} tokens for this question"
    if limits["money"] != recipe.board["limits"]["money"]:
        told += f" and {in_digits(limits['money'])} in money"
    facts[WARNINGS] = [*facts.get(WARNINGS, ()), f"{told}."]
    return replace(recipe, board={**recipe.board, "limits": limits, "facts": facts})


def checked_raise(given: Mapping[str, Any]) -> dict[str, float]:
    """The limits that a run under way is to have at least. Raises `InputError` for other values."""
    wanted = {name: value for name, value in given.items() if value is not None}
    if not wanted:
        raise InputError(f"say what to raise: {', '.join(RESOURCES)}")
    if unknown := wanted.keys() - set(RESOURCES):
        raise InputError(f"{min(unknown)!r} cannot be raised; choose from: {', '.join(RESOURCES)}")
    for name, value in wanted.items():
        # A boolean is a number for Python, and for nobody else.
        is_whole = name in ("turns", "tokens")
        if isinstance(value, bool) or not isinstance(value, int if is_whole else int | float):
            kind = "whole number" if is_whole else "number"
            raise InputError(f"{name}: {value!r} is not a {kind}")
    # Checks that they are finite and not negative.
    Limits(**{**Limits().to_dict(), **wanted}).check()
    return wanted


def raise_limits(board: TypedBlackboard, run: TreeRun, wanted: Mapping[str, float]) -> None:
    """Give a run under way more. A limit is never made smaller, so obeying twice is harmless.

    The board may be that of a tree of one's own, which has neither limits nor a ledger.
    """
    if "limits" not in board:
        return
    limits: dict[str, Any] = board.get("limits")
    board.set("limits", limits | _higher(limits, wanted))
    if "ledger" not in board or not board.get("ledger"):
        return
    ledger = ledger_of(board)
    before = ledger.limits
    after = replace(before, **_higher(before.to_dict(), wanted))
    set_ledger(board, replace(ledger, limits=after))
    if more := after.seconds - before.seconds:
        _move_deadlines(board, run, more)


def _higher(limits: Mapping[str, Any], wanted: Mapping[str, float]) -> dict[str, float]:
    """A limit of None is off, and nothing is more than that."""
    return {
        name: value
        for name, value in wanted.items()
        if limits[name] is not None and value > limits[name]
    }


def _move_deadlines(board: TypedBlackboard, run: TreeRun, seconds: float) -> None:
    """What waits now was given the time that was left when it began."""
    if SECONDS_LEFT in board:
        board.set(SECONDS_LEFT, board.get(SECONDS_LEFT) + seconds)
    for index in run.deadlines:
        node = run.definition.nodes[index]
        if isinstance(node, Timeout) and node.seconds == SECONDS_LEFT:
            run.deadlines[index] += seconds
    # Its timer is for the old deadline.
    run.wake()
