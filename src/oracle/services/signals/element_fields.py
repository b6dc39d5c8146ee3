"""Reads one whole element: it becomes a `Signal`, or the reasons why it is malformed."""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from typing import TYPE_CHECKING, cast

from oracle.lazy_dataclass import dataclass
from oracle.models.signals import SIGNALS, FieldKind, FieldSpec, FieldValue, Signal, SignalType
from oracle.patterns import lazy_pattern
from oracle.services.signals.said import is_visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The signal, or None for a malformed element; `problems` says why, and what was dropped."""

    signal: Signal | None
    problems: tuple[str, ...]


# Possessive quantifiers (`*+`, `++`) keep time linear: what they matched is never tried again.
_OPENING_TAG = lazy_pattern(r"<signal((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>", re.I)
_SPOILT_OPENING_TAG = lazy_pattern(r"<signal([^<>]*)>?", re.I)
_ATTRIBUTE = lazy_pattern(
    r"(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>/]+))"
)


def read_element(raw: str, timestamp: datetime) -> Reading:
    # A tag with an odd quote, or one that `<` cuts off, is read as far as it goes.
    tag = _OPENING_TAG.match(raw) or _SPOILT_OPENING_TAG.match(raw)
    assert tag is not None
    attributes = _attributes(tag[1])
    type_name = _decode(attributes.pop("type", "")).lower()
    if type_name not in SIGNALS:
        problem = f"unknown type {type_name[:40]!r}" if type_name else "no type"
        return Reading(signal=None, problems=(f"malformed signal: {problem}",))
    # An empty element (`/>`) has no closing tag, and so no body.
    body = _without_sections(raw[tag.end() : max(raw.rfind("</"), tag.end())])
    given, problems = _first_of_each(attributes, body)
    return _read_fields(SignalType(type_name), given, problems, raw, timestamp)


def _read_fields(
    type_: SignalType, given: dict[str, str], problems: list[str], raw: str, timestamp: datetime
) -> Reading:
    confidence = _to_confidence(given.pop("confidence", ""))
    fields = _converted(type_, given, problems)
    missing = [name for name in SIGNALS[type_].required_names if name not in fields]
    if confidence is None or missing:
        missing += ["confidence (a number from 0 to 1)"] if confidence is None else []
        problems.append(f"malformed signal: {type_} lacks {', '.join(missing)}")
        return Reading(signal=None, problems=tuple(problems))
    signal = Signal(
        type=type_, confidence=confidence, fields=fields, raw_xml=raw, timestamp=timestamp
    )
    return Reading(signal=signal, problems=tuple(problems))


def _converted(
    type_: SignalType, given: Mapping[str, str], problems: list[str]
) -> dict[str, FieldValue]:
    fields: dict[str, FieldValue] = {}
    for name, text in given.items():
        spec = SIGNALS[type_].field(name)
        value = _CONVERSIONS[spec.kind](text) if spec else None
        if value is None:
            problems.append(_why_dropped(name, spec))
        else:
            fields[name] = value
    return fields


def _first_of_each(attributes: Mapping[str, str], body: str) -> tuple[dict[str, str], list[str]]:
    given = {name: text for name, text in attributes.items() if name == "confidence"}
    problems = [f"attribute {name!r} dropped" for name in attributes if name not in given]
    for name, text in _children(body):
        if name in given:
            problems.append(f"field {name!r} is given twice: the first counts")
        given.setdefault(name, text)
    return given, problems


def _why_dropped(name: str, spec: FieldSpec | None) -> str:
    if spec is None:
        return f"field {name!r} dropped: the type does not have it"
    return f"field {name!r} dropped: empty or not {spec.kind}"


def _attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), "".join(values))
    return found


def _without_sections(body: str) -> str:
    """CDATA becomes escaped text, comments are removed. One that is never closed is text."""
    parts: list[str] = []
    at = 0
    while mark := _SECTION_START.search(body, at):
        is_comment = mark[0] == "<!--"
        end = body.find("-->" if is_comment else "]]>", mark.end())
        if end < 0:
            break
        parts.append(body[at : mark.start()])
        parts.append("" if is_comment else _escape(body[mark.end() : end]))
        at = end + len("-->")
    return "".join(parts) + body[at:]


_SECTION_START = lazy_pattern(r"<!\[CDATA\[|<!--", re.I)
_TAG = lazy_pattern(r"<(/?)([^\W\d][\w.-]*+)((?:[\s/][^<>]*)?)>")


def _children(body: str) -> Iterator[tuple[str, str]]:
    """Name and inner text of each outermost element. A tag that is never closed is text."""
    # The closing tags of each name, in order: a search from each tag would take quadratic time.
    tags = list(_TAG.finditer(body))
    closing: defaultdict[str, deque[re.Match[str]]] = defaultdict(deque)
    for tag in tags:
        if tag[1]:
            closing[tag[2].lower()].append(tag)
    end = 0
    for tag in tags:
        name = tag[2].lower()
        if tag[1] or tag.start() < end:
            continue
        if tag[3].endswith("/"):
            yield name, ""
            continue
        partners = closing[name]
        while partners and partners[0].start() < tag.end():
            partners.popleft()
        if partners:
            yield name, body[tag.end() : partners[0].start()]
            end = partners[0].end()


_ENTITY = lazy_pattern(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));", re.A)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def _decode(text: str) -> str:
    """Decode entities and strip white space. Any other ampersand stays as it is."""
    return _ENTITY.sub(_character, text).strip()


def _character(entity: re.Match[str]) -> str:
    name, decimal, hexadecimal = entity.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < code < 0xD800 or 0xDFFF < code <= 0x10FFFF
    return chr(code) if is_character else entity.group()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_NUMBER = lazy_pattern(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?", re.A)
_WHOLE_NUMBER = lazy_pattern(r"\+?(\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.0*)?", re.A)


def _to_confidence(text: str) -> float | None:
    number = _NUMBER.fullmatch(_decode(text))
    value = float(number[0]) if number else -1.0
    # `abs` turns -0.0 into 0.0.
    return abs(value) if 0 <= value <= 1 else None


def _to_str(text: str) -> str | None:
    text = _decode(text)
    return text if is_visible(text) else None


def _to_int(text: str) -> int | None:
    number = _WHOLE_NUMBER.fullmatch(_decode(text))
    return int(number[1].replace(",", "")) if number else None


def _to_list(text: str) -> list[str] | None:
    items = [_decode(inner) for name, inner in _children(text) if name == "item"]
    items = items or _split(text)
    return [item for item in items if is_visible(item)] or None


_ARRAY_ITEM = lazy_pattern(
    r"""\s*+(?:("(?:[^"\\]|\\.)*+"|'[^']*+')(?=\s*+(?:,|\Z))|([^,]++))""", re.S
)


def _split(text: str) -> list[str]:
    """Split before entities are decoded, so that a comma written as an entity is text."""
    array = _decode(text)
    if not _is_array(array):
        return [_decode(item) for item in text.split(",")]
    try:
        items = cast(list[object], json.loads(array, strict=False))
    except (ValueError, RecursionError):
        # Not quite JSON: single quotes, a comma at the end, too many brackets.
        return [_unquoted("".join(item)) for item in _ARRAY_ITEM.findall(array[1:-1])]
    return [_scalar(item) for item in items if isinstance(item, str | int | float)]


def _is_array(text: str) -> bool:
    """In `[a] first, second [b]` the brackets are text: the first one closes before the end."""
    if not (text.startswith("[") and text.endswith("]")):
        return False
    before, closing, _ = text[1:-1].partition("]")
    return not closing or any(mark in before for mark in "[\"'")


def _unquoted(item: str) -> str:
    item = item.strip()
    try:
        return _scalar(json.loads(item, strict=False)) if item.startswith('"') else item.strip("'")
    except ValueError:
        return item.strip('"')


def _scalar(value: str | float) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value)


_CONVERSIONS: Mapping[FieldKind, Callable[[str], FieldValue | None]] = {
    "str": _to_str,
    "int": _to_int,
    "list[str]": _to_list,
}
