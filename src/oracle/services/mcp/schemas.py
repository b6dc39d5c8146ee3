"""The schema of a foreign tool, reduced to what every provider of models accepts.

A provider refuses a whole request because of one schema that it does not like. So only known
keywords are kept. Patterns are left out, because they could take for ever; so are references.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from oracle.patterns import lazy_pattern
from oracle.services.project.hidden_characters import visible

_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_NUMBERS: Final = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_NAME: Final = lazy_pattern(r"[A-Za-z0-9_.-]{1,64}")
_DEEPEST: Final = 6
_MOST_PROPERTIES: Final = 40
_MOST_CHOICES: Final = 60
_LONGEST_WORDS: Final = 400


def plain_schema(schema: object) -> dict[str, Any] | None:
    """A schema of named arguments; None if it cannot be used."""
    reduced = _reduced(schema, 0)
    if not isinstance(schema, dict) or reduced is None:
        return None
    given = cast("dict[str, Any]", schema)
    if given.get("type", "object") != "object":
        return None
    properties = reduced.get("properties", {})
    # An argument that is required and cannot be named makes the tool useless.
    if any(name not in properties for name in _names(given.get("required"))):
        return None
    return {**reduced, "type": "object", "properties": properties}


def _reduced(schema: object, depth: int) -> dict[str, Any] | None:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return {} if depth else None
    given = cast("dict[str, Any]", schema)
    kept: dict[str, Any] = {}
    if (type_ := _type(given.get("type"))) is not None:
        kept["type"] = type_
    if isinstance(given.get("description"), str):
        kept["description"] = words(given["description"])
    choices = given.get("enum")
    if isinstance(choices, list) and 0 < len(cast("list[Any]", choices)) <= _MOST_CHOICES:
        plain = [each for each in cast("list[Any]", choices) if _is_plain(each)]
        kept |= {"enum": plain} if plain else {}
    for name in _NUMBERS:
        if isinstance(given.get(name), int | float) and not isinstance(given[name], bool):
            kept[name] = given[name]
    if isinstance(given.get("items"), dict):
        kept["items"] = _reduced(given["items"], depth + 1)
    if isinstance(given.get("properties"), dict):
        inner = cast("Mapping[str, Any]", given["properties"])
        kept["properties"] = {
            name: _reduced(value, depth + 1)
            for name, value in list(inner.items())[:_MOST_PROPERTIES]
            if _NAME.fullmatch(name)
        }
        required = [each for each in _names(given.get("required")) if each in kept["properties"]]
        kept |= {"required": required} if required else {}
    return kept


def words(text: str, longest: int = _LONGEST_WORDS) -> str:
    """On one line, without characters that are not seen, and not too long."""
    line = " ".join(visible(text[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _type(given: object) -> str | None:
    """One type: of several, the first that is not null."""
    several = cast("list[Any]", given) if isinstance(given, list) else [given]
    known = [each for each in several if isinstance(each, str) and each in _TYPES]
    return next((each for each in known if each != "null"), None)


def _names(given: object) -> list[str]:
    if not isinstance(given, list):
        return []
    return [each for each in cast("list[Any]", given) if isinstance(each, str)]


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool) and len(str(value)) <= _LONGEST_WORDS
