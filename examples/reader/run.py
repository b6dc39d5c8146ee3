"""The smallest whole program: a tree in Lua, two leaves in Python, one run, watched."""

import asyncio
from pathlib import Path

import leaves  # noqa: F401 - registers the leaves

from oracle.bt.core.context import TickContext
from oracle.bt.core.runtime import TreeRun
from oracle.bt.lua.library import TreeLibrary
from oracle.bt.render import FORMATS
from oracle.bt.state.base import RunStatus
from oracle.bt.state.blackboard import TypedBlackboard


def show(time: float, path: str, old: RunStatus | None, new: RunStatus | None) -> None:
    print(f"  {'halted' if new is None else new.value:8} {path}")


def main() -> None:
    definition = TreeLibrary([Path(__file__).with_name("reader.lua")])["reader"]
    print(FORMATS["ascii"](definition))

    board = TypedBlackboard(scope_name="reader", schema=definition.schema)
    board.set("question", "SQLite")
    board.set("shelf", ["minutes.md", "storage.md", "weather.md"])

    run = TreeRun(definition, TickContext(blackboard=board))
    run.subscribe(show)
    outcome = asyncio.run(run.settle())
    print(f"\nThe run {outcome.stop} with {outcome.status.value}.")


if __name__ == "__main__":
    main()
