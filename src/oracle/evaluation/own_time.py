"""What our own code adds to the time of a response: the loop, and reading its signals."""

from __future__ import annotations

import time
from typing import Final

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.evaluation.criteria import WITHOUT_MODEL, Figure
from oracle.evaluation.intervals import interval
from oracle.services.signals.parser import SignalStreamParser
from oracle.testing.models import Reply, ScriptedModel, ScriptedTools, signal

CHUNK: Final = 4
LENGTH: Final = 10_000
ROUNDS: Final = 20
TURNS: Final = 6
"""The requests of a run whose own time is measured: five with a tool call, and the answer."""
_PROSE: Final = "The middleware reads the `session` cookie & looks it up in the <store> of users.\n"
RESPONSES: Final = {
    "prose": _PROSE * (LENGTH // len(_PROSE)),
    "a fence": "```python\n" + "def renew(session): return session.later()\n" * (LENGTH // 43),
    "tags": "<signals> <sig " * (LENGTH // 15),
    "an open signal": '<signal type="need_turn"><reason>' + "why & " * (LENGTH // 6),
}


def figure_of_parsing() -> Figure:
    """Of the response that takes longest, streamed in small chunks."""
    slowest = max(
        ([_seconds_to_read(text) for _ in range(ROUNDS)] for text in RESPONSES.values()), key=min
    )
    return Figure(
        measure="parsing",
        on=f"the parser, worst of {len(RESPONSES)} texts",
        command=WITHOUT_MODEL,
        count=ROUNDS,
        value=interval([1000 * seconds for seconds in slowest]),
    )


def _seconds_to_read(text: str) -> float:
    written = text + signal("context_sufficient", sources_found=3)
    began = time.process_time()
    parser = SignalStreamParser()
    for start in range(0, len(written), CHUNK):
        parser.feed(written[start : start + CHUNK])
    parser.close()
    return time.process_time() - began


async def figure_of_overhead() -> Figure:
    """All of our own time counts: the tree, the ledger, the journal in memory, the prompt."""
    await _seconds_of_a_run()
    rounds = [await _seconds_of_a_run() / TURNS for _ in range(ROUNDS)]
    return Figure(
        measure="overhead",
        on="a scripted model",
        command=WITHOUT_MODEL,
        count=ROUNDS,
        value=interval(rounds),
    )


async def _seconds_of_a_run() -> float:
    turns = [
        Reply(
            text="I look further. " + signal("need_turn", reason=f"part {turn} was not read"),
            calls=[("search_code", {"query": f"login {turn}"})],
        )
        for turn in range(TURNS - 1)
    ]
    answer = "It is in login_0.py:3. " + signal("context_sufficient", sources_found=5)
    found = [f"login_{turn}.py:3 def login(): return True" for turn in range(TURNS - 1)]
    agent = OracleBTWrapper(
        model=ScriptedModel(*turns, answer), tools=ScriptedTools({"search_code": found})
    )
    began = time.process_time()
    async for _ in agent.process_query("How does the login function work?"):
        pass
    return time.process_time() - began
