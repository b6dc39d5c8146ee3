"""What a run does right now, in plain words, for the status line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from oracle.cli.terminal.safe_text import printable
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.models.tool_spec import role_by_name

WAITING: Final = "waiting for the model"

_ACTIVITIES: Final = {
    ChunkType.QUESTION: "thinking",
    ChunkType.TURN_START: WAITING,
    ChunkType.REASONING: "the model is thinking",
    ChunkType.CONTENT: "writing",
    ChunkType.TURN_END: "thinking",
}
_NOUNS: Final[Mapping[str, tuple[str, str]]] = {
    "file": ("file", "files"),
    "note": ("note", "notes"),
    "thread": ("thread", "threads"),
    "fetch": ("web page", "web pages"),
}
_PLACES: Final[Mapping[str, str]] = {"vault": "notes", "web": "the web"}


class Activity:
    """Follows the chunks of a run. `words` is what it does after the last one."""

    def __init__(self) -> None:
        self.words = "starting"
        self._calls: dict[str, str] = {}

    def follow(self, chunk: OracleStreamChunk) -> None:
        if chunk.type == ChunkType.TOOL_CALL:
            self._calls[chunk["id"]] = chunk["name"]
        elif chunk.type == ChunkType.TOOL_RESULT:
            self._calls.pop(chunk["id"], None)
        elif words := _ACTIVITIES.get(chunk.type):
            self._calls.clear()
            self.words = words
        if self._calls:
            self.words = doing(list(self._calls.values()))


def doing(names: Sequence[str]) -> str:
    """What these tools do together, by the role of the last one: `reading 3 files`."""
    role = role_by_name(names[-1])
    alike = [name for name in names if role_by_name(name) == role]
    return printable(_WORDS[role](alike))


def _searching(names: Iterable[str]) -> str:
    places = dict.fromkeys(map(_place, names))
    return f"searching {' and '.join(places)}"


def _place(name: str) -> str:
    words = [word for word in name.lower().replace("-", "_").split("_") if word != "search"]
    return " ".join(_PLACES.get(word, word) for word in words) or "the project"


def _reading(names: Sequence[str]) -> str:
    noun = _noun(names[-1])
    count = sum(_noun(name) == noun for name in names)
    one, many = noun
    return f"reading {count} {many}" if count > 1 else f"reading a {one}"


def _noun(name: str) -> tuple[str, str]:
    return next((noun for word, noun in _NOUNS.items() if word in name), ("source", "sources"))


def _writing(names: Sequence[str]) -> str:
    return f"writing a {_noun(names[-1])[0]}" if _noun(names[-1])[0] != "source" else "writing"


_WORDS: Final = {
    "search": _searching,
    "read": _reading,
    "uses": lambda names: "looking up definitions",
    "map": lambda names: "looking over the project",
    "list": lambda names: "listing what there is",
    "write": _writing,
    "other": lambda names: f"running {names[-1]}",
}
