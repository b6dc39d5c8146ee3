"""Reads of places that nobody has named, such as a path that projects usually have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, cast

from oracle.models.tool_spec import ToolSpec

Call = Mapping[str, Any]


def is_guess(call: Call, spec: ToolSpec, named: str) -> bool:
    """Whether it reads a place that is not in the text `named`, in small letters.

    The file's own name is enough, because the folder may be clear from elsewhere. So is the name of
    a module: who has read `import app.store` may read `src/app/store.py`.
    """
    places = [value.strip().lower() for value in _required(call, spec)]
    return bool(places) and not any(_is_named(place, named) for place in places)


def places_named(messages: Sequence[Mapping[str, Any]]) -> str:
    """What the user, earlier answers and results have said, in small letters.

    A result that says "there is no file x" repeats only what the call asked for, but it may name
    what there is: "there are a, b".
    """
    asked = max((n for n, each in enumerate(messages) if each["role"] == "user"), default=-1)
    said: list[str] = [str(each["content"]).lower() for each in messages[: asked + 1]]
    calls: dict[str, Call] = {}
    for message in messages[asked + 1 :]:
        # Some models use the same ids again in each turn.
        if message["role"] == "assistant":
            calls = {call["id"]: call for call in message.get("tool_calls", ())}
        elif message["role"] == "tool":
            text = str(message["content"]).lower()
            call = None if message.get("success") else calls.get(message["call_id"])
            for value in _strings(call).values() if call is not None else ():
                text = text.replace(value.strip().lower(), " ")
            said.append(text)
    return "\n".join(said)


def _is_named(place: str, named: str) -> bool:
    path = PurePosixPath(place)
    module = ".".join((*path.parts[-2:-1], path.stem))
    return any(each and each in named for each in (place, path.name, "." in module and module))


def _required(call: Call, spec: ToolSpec) -> list[str]:
    """What the call is about. An option, such as a number of lines or a heading, is not a place."""
    required = spec.parameters.get("required")
    return [value for name, value in _strings(call).items() if not required or name in required]


def _strings(call: Call) -> dict[str, str]:
    """Its arguments that are texts; none if they cannot be read."""
    if not isinstance(call["arguments"], Mapping):
        return {}
    arguments = cast("Mapping[str, Any]", call["arguments"])
    return {name: it for name, it in arguments.items() if isinstance(it, str) and it.strip()}
