"""A recording in one file, to be kept in a repository or sent to somebody: redacted and checked.

It is a JSON object. A digest of everything else in it shows whether it was changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast, get_args

from oracle.bt.wrappers.decisions.playing import played
from oracle.bt.wrappers.decisions.recording import (
    Cancelled,
    Decisions,
    Effect,
    EffectKind,
    Fact,
    Identity,
    NodeEnd,
    Recording,
    Totals,
)
from oracle.bt.wrappers.recipe import FORMAT, Recipe, check_facts
from oracle.errors import InputError, JournalError
from oracle.regular_file import read_regular
from oracle.services.control.repetition import name_of_call
from oracle.services.project.redaction import redacted

MARK: Final = "oracle_recording"
VERSION: Final = 2
LARGEST_FILE: Final = 64 * 1024 * 1024
_STREAMED: Final = ("text", "reasoning")
_EXPORT_AGAIN: Final = "export it again (`oracle run export`)"


# -- writing ---------------------------------------------------------------------------------------


async def exported(recording: Recording) -> str:
    """The text of the file. Secrets and the path of the home folder are taken out.

    Where that changes a text, requests are known by other digests from then on. So it is played
    once with its own answers, and the file has what that comes to.
    """
    data = _as_data(recording)
    clean = _clean(data)
    clean["recipe"]["folder"] = ""
    for was, is_ in zip(_streams(data), _streams(clean), strict=True):
        _clean_stream(was, is_)
    _rename_calls(data, clean)
    if clean != data:
        again = await played(_from_data(clean))
        was, is_ = recording.decisions, again.recording.decisions
        if again.course.missing is not None or len(was.nodes) != len(is_.nodes):
            raise InputError(
                f"run {recording.recipe.run_id} cannot be exported: without its secrets it would "
                "go another way; ask it again without them, and export that run"
            )
        clean = _as_data(again.recording)
    head = {MARK: VERSION, "digest": _digest(clean)}
    return json.dumps({**head, **clean}, indent=1, ensure_ascii=False) + "\n"


def _as_data(recording: Recording) -> dict[str, Any]:
    recipe = {field.name: getattr(recording.recipe, field.name) for field in fields(Recipe)}
    decisions = recording.decisions
    numbers = {path: number for number, path in enumerate(decisions.paths)}
    nodes = [f"{end.turn} {numbers[end.path]} {end.status}" for end in decisions.nodes]
    data = {
        "recipe": recipe,
        "cancelled": [*recording.cancelled],
        "effects": [asdict(effect) for effect in recording.effects],
        "decisions": {**asdict(decisions), "nodes": nodes, "paths": _short(decisions.paths)},
    }
    # Tuples and read-only mappings become what the file will give back.
    return json.loads(json.dumps(data, default=dict))


def _short(paths: Sequence[str]) -> list[str]:
    """Each path as the number of the node above it and its own name: paths are long, and many."""
    numbers = {path: number for number, path in enumerate(paths)}
    shown: list[str] = []
    for path in paths:
        above, _, name = path.rpartition("/")
        shown.append(f"{numbers.get(above, -1)} {name if above in numbers else path}")
    return shown


def _whole(short: Sequence[str]) -> list[str]:
    paths: list[str] = []
    for text in short:
        above, _, name = text.partition(" ")
        paths.append(name if int(above) < 0 else f"{paths[int(above)]}/{name}")
    return paths


def _digest(data: Mapping[str, Any]) -> str:
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _streams(data: Mapping[str, Any]) -> Iterator[list[tuple[dict[str, Any], str]]]:
    """The parts of each text that was streamed, each with the name of its field.

    A response that reached the longest output is continued by another effect of the same turn.
    """
    effects: Sequence[dict[str, Any]] = data["effects"]
    texts: dict[tuple[Any, ...], list[tuple[dict[str, Any], str]]] = {}
    for number, effect in enumerate(effects):
        is_response = effect["identity"][0] == "model"
        where = ("turn", effect["turn"]) if is_response else ("effect", number)
        for _, part in effect["parts"]:
            fields = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
            for kind in _STREAMED:
                if isinstance(fields.get(kind), str):
                    texts.setdefault((*where, kind), []).append((fields, kind))
    yield from texts.values()


def _clean_stream(
    was: Sequence[tuple[dict[str, Any], str]], is_: Sequence[tuple[dict[str, Any], str]]
) -> None:
    """Clean a text as a whole: a part may end in the middle of a secret. Then cut it again at the
    same places; the last part gets the rest.
    """
    pieces = [part[kind] for part, kind in was]
    whole = "".join(pieces)
    cleaned: str = _clean(whole)
    lengths = [*map(len, pieces[:-1]), len(cleaned)]
    at = 0
    for (part, kind), length in zip(is_, lengths, strict=True):
        part[kind] = cleaned[at : at + length]
        at += length


def _rename_calls(data: Mapping[str, Any], clean: Mapping[str, Any]) -> None:
    """A call is known by a digest of its arguments, which are others now."""
    names = {
        name_of_call(was["name"], before): name_of_call(is_["name"], after)
        for was, is_ in zip(_calls(data), _calls(clean), strict=True)
        for before, after in zip(_forms(was), _forms(is_), strict=False)
    }
    for effect in clean["effects"]:
        if effect["identity"][0] == "tool":
            effect["identity"][1] = names.get(effect["identity"][1], effect["identity"][1])


def _calls(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts: list[Any] = [part for effect in data["effects"] for _, part in effect["parts"]]
    return [part["tool_call"] for part in parts if isinstance(part, dict) and "tool_call" in part]


def _forms(call: Mapping[str, Any]) -> Iterator[Any]:
    """Arguments that came as text are called with what the text says."""
    yield call["arguments"]
    if isinstance(call["arguments"], str):
        with suppress(ValueError):
            yield json.loads(call["arguments"])


def _clean(value: Any) -> Any:
    return _without_home(redacted(value))


def _without_home(value: Any) -> Any:
    home = str(Path.home())
    if home in ("/", ""):
        return value
    return json.loads(json.dumps(value).replace(json.dumps(home)[1:-1], "~"))


# -- reading ---------------------------------------------------------------------------------------


def read_recording(file: Path) -> Recording:
    data = _read(file)
    version, digest = data.pop(MARK), data.pop("digest", None)
    if version != VERSION:
        raise InputError(
            f"{file}: a recording of version {version!r}, and this oracle reads version {VERSION}; "
            "use the version that wrote it"
        )
    if digest != _digest(data):
        raise JournalError(f"{file}: the recording was changed or is damaged; {_EXPORT_AGAIN}")
    try:
        recording = _from_data(data)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        raise JournalError(f"{file}: damaged ({problem!r}); {_EXPORT_AGAIN}") from None
    if recording.recipe.format != FORMAT:
        raise InputError(
            f"{file}: recorded with the leaves of another version of oracle (format "
            f"{recording.recipe.format}, here {FORMAT}); record it again"
        )
    return recording


def _read(file: Path) -> dict[str, Any]:
    try:
        text = read_regular(file, LARGEST_FILE + 1)
        if len(text) > LARGEST_FILE:
            raise InputError(f"{file}: over {LARGEST_FILE >> 20} MiB, which no recording has")
        found: Any = json.loads(text)
    except OSError as problem:
        raise InputError(f"{file}: {problem.strerror}; check the path") from None
    except (ValueError, RecursionError):
        raise InputError(f"{file}: no recording: it is not whole JSON; {_EXPORT_AGAIN}") from None
    if not isinstance(found, dict) or MARK not in found:
        raise InputError(f"{file}: no recording; `oracle run export RUN` writes one")
    return cast("dict[str, Any]", found)


def _from_data(data: Mapping[str, Any]) -> Recording:
    check_facts(data["recipe"])
    decisions = data["decisions"]
    paths = _whole(decisions["paths"])
    return Recording(
        recipe=Recipe(**data["recipe"]),
        cancelled=[Cancelled(*each) for each in data["cancelled"]],
        effects=[_effect(each) for each in data["effects"]],
        decisions=Decisions(
            paths=paths,
            nodes=[_node_end(text, paths) for text in decisions["nodes"]],
            facts=[Fact(*fact) for fact in decisions["facts"]],
            totals=Totals(**decisions["totals"]),
            stop_reason=decisions["stop_reason"],
            answer=decisions["answer"],
        ),
    )


def _effect(data: Mapping[str, Any]) -> Effect:
    effect = Effect(**data)
    # Files of older versions do not have the prompt.
    kind, key, words, loose, size, *prompt = data["identity"]
    if kind not in get_args(EffectKind):
        raise ValueError(f"an effect of kind {kind!r}")
    return replace(
        effect,
        turn=int(effect.turn),
        identity=Identity(kind, str(key), str(words), str(loose), int(size), *map(str, prompt)),
        parts=[(float(when), part) for when, part in effect.parts],
        ended=None if effect.ended is None else float(effect.ended),
        halted=None if effect.halted is None else float(effect.halted),
    )


def _node_end(text: str, paths: Sequence[str]) -> NodeEnd:
    turn, number, status = text.split(" ", 2)
    return NodeEnd(int(turn), paths[int(number)], status)


# -- many ------------------------------------------------------------------------------------------


def recordings_in(folder: Path) -> list[Path]:
    """The files of a folder, and below it; at least one: a check of nothing must not pass."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; check the path")
    found = sorted(file for file in folder.rglob("*.json") if not file.name.startswith("."))
    if not found:
        raise InputError(f"{folder}: no recording here; `oracle run export RUN` writes one")
    return found
