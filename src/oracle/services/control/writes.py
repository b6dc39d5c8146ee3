"""What became of the calls of a run that write: which were done, and which were not.

Each call of a run leaves an entry in its list of results. The entry of a call that writes has the
key `write`: the name of the call with its arguments, its turn, and what became of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from oracle.models.tool_spec import ToolSpec, speaks_of_a_change
from oracle.services.control.repetition import name_of_call

State = Literal["done", "failed", "not_run", "in_doubt", "denied"]
"""`in_doubt`: it was begun, and nobody knows whether it was done. `denied`: it needed a person's
yes and got none, which is named as missing where it is refused.
"""

Result = Mapping[str, Any]

_WORDS: Final[Mapping[State, str]] = {
    "not_run": "{wrote} was written: {tools} was not run",
    "failed": "{wrote} was written: {tools} failed",
    "in_doubt": "it is not known whether {tools} was done",
}
_ANY_TOOL: Final = ""


def would_write(name: str, spec: ToolSpec | None) -> bool:
    """Whether a call was meant to write. Of a tool that does not exist, only its name can tell."""
    return spec.writes if spec is not None else speaks_of_a_change(name)


def note_of_write(
    call: Mapping[str, Any], spec: ToolSpec | None, turn: int, state: State
) -> dict[str, Any]:
    """What the entry of a call that writes has besides."""
    name = name_of_call(call["name"], call["arguments"])
    # A tool that does not exist is never called with success: another one that writes takes its
    # place, such as `write_note` that of `create_note`.
    tool = spec.name if spec is not None else _ANY_TOOL
    return {"call": name, "tool": tool, "turn": turn, "state": state}


def done_writes(results: Sequence[Result]) -> dict[str, int]:
    """The calls that were done, by name, each with its turn."""
    return {write["call"]: write["turn"] for write in _in_state(results, "done")}


def was_refused(results: Sequence[Result], call: str) -> bool:
    """Whether this very call was refused before."""
    return any(write["call"] == call for write in _in_state(results, "not_run"))


def is_anything_written(results: Sequence[Result]) -> bool:
    return bool(_in_state(results, "done"))


def was_a_write_tried(results: Sequence[Result]) -> bool:
    """Whether one was run, whatever came of it, or a person did not allow it."""
    return bool(_in_state(results, "done", "failed", "in_doubt", "denied"))


def undone_writes(results: Sequence[Result]) -> list[str]:
    """What was to be written and was not, in words for the user; nothing for what was made good.

    A call is made good by a call of the same tool that succeeds in a later turn. If several calls
    of one turn were not done, as many have to succeed later. A call that was done before is not
    missing, however often it is refused from then on.
    """
    done = _in_state(results, "done")
    known = {write["call"] for write in done}
    open_ = [
        (result["name"], result["write"])
        for result in results
        if "write" in result
        and result["write"]["state"] in _WORDS
        and result["write"]["call"] not in known
    ]
    in_one_turn = defaultdict[tuple[str, int], set[str]](set)
    for _, write in open_:
        in_one_turn[write["tool"], write["turn"]].add(write["call"])
    named = defaultdict[State, list[str]](list)
    for name, write in open_:
        needed = len(in_one_turn[write["tool"], write["turn"]])
        if _done_after(done, write["tool"], write["turn"]) < needed:
            named[write["state"]].append(name)
    wrote = "not everything" if done else "nothing"
    return [
        words.format(wrote=wrote, tools=", ".join(dict.fromkeys(named[state])))
        for state, words in _WORDS.items()
        if named[state]
    ]


def _done_after(done: Sequence[Mapping[str, Any]], tool: str, turn: int) -> int:
    counts = Counter(w["tool"] for w in done if w["turn"] > turn)
    return counts.total() if tool == _ANY_TOOL else counts[tool]


def _in_state(results: Sequence[Result], *states: State) -> list[Mapping[str, Any]]:
    return [r["write"] for r in results if "write" in r and r["write"]["state"] in states]
