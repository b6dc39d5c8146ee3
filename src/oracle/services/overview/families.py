"""Classes and functions that belong together: by the ends of their names, and by inheritance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.overview.members import FEWEST, Group, Wanted, fit, same
from oracle.services.overview.places import Place, Reader
from oracle.services.project.identifiers import parts_of, without_ending

_KINDS: Final = {
    "class": r"class|struct|trait|interface|enum|type",
    "function": r"(?:async\s+)?def|function|func|fn|pub fn",
}
_INHERITS: Final = lazy_pattern(
    r"(?:export\s+|abstract\s+)*class\s+(?P<name>\w+)\s*(?:\(|extends\s+)(?P<bases>[^){\n]+)"
)
_MOST_FILES: Final = 1_500


def families(reader: Reader, names: Mapping[str, Sequence[str]], asked: Wanted) -> Iterator[Group]:
    """Classes, or functions, whose names end with the words: `SimpleWorker`, `SpawnWorker`.

    If the kind was named, the words may be anywhere: `WorkerPool` is one of the worker classes.
    """
    kind = asked.kind if asked.kind in ("class", "function") else "class"
    for words in filter(None, (asked.whole, asked.words)):
        is_named = asked.kind == kind and words is asked.words
        found = _named(reader, names, words, kind, anywhere=is_named)
        if kind == "class":
            found = _with_heirs(reader, names, words, found)
        if len(found) >= FEWEST:
            worth = 0.9 if asked.kind == kind else 0.75 if len(found) > FEWEST else 0.6
            yield Group(what=f"{kind} names with `{' '.join(words)}`", places=found, worth=worth)
            # Names with all of the words are what is meant; the others only have a part of them.
            return


def _named(
    reader: Reader,
    names: Mapping[str, Sequence[str]],
    words: Sequence[str],
    kind: str,
    *,
    anywhere: bool,
) -> list[Place]:
    def fits(name: str) -> bool:
        is_inside = anywhere and not name.startswith("_") and fit(name, words) is not None
        return is_inside or _ends_with(name, words)

    opens = re.compile(rf"(?:export\s+|pub\s+|default\s+|abstract\s+)*(?:{_KINDS[kind]})\s+(\w+)")
    fitting = {path: {name for name in defined if fits(name)} for path, defined in names.items()}
    return [
        Place(path=path, start=number, end=number)
        for path, wanted_here in fitting.items()
        if wanted_here
        for number, line in enumerate(reader.read(path), 1)
        if (match := opens.match(line)) and match[1] in wanted_here
    ]


def _with_heirs(
    reader: Reader,
    names: Mapping[str, Sequence[str]],
    words: Sequence[str],
    found: Sequence[Place],
) -> list[Place]:
    """Also classes that inherit from one whose name ends with the words, whatever their names, and
    the heirs of those.
    """
    known = {(place.path, place.start) for place in found}
    classes = [
        (Place(path=path, start=number, end=number), match["name"], _bases(match["bases"]))
        for path in [*names][:_MOST_FILES]
        for number, line in enumerate(reader.read(path), 1)
        if (match := _INHERITS.match(line))
    ]
    family: set[str] = set()
    heirs: dict[tuple[str, int], Place] = {}
    is_growing = True
    while is_growing:
        is_growing = False
        for place, name, bases in classes:
            is_heir = any(base in family or _ends_with(base, words) for base in bases)
            if is_heir and name not in family:
                family.add(name)
                is_growing = True
            # A private class connects its heirs to the family. It is not listed itself.
            is_listed = not name.startswith("_") and (place.path, place.start) not in known
            if is_heir and is_listed:
                heirs[place.path, place.start] = place
    return [*found, *heirs.values()]


def _bases(text: str) -> list[str]:
    """Without type parameters and keyword arguments: `Base[Item], metaclass=Meta` is `Base`."""
    bare = re.sub(r"\[[^\]]*\]?|<[^>]*>?|\w+\s*=\s*[\w.]+", "", text)
    return [name.rpartition(".")[2] for name in re.findall(r"[\w.]+", bare)]


def _ends_with(name: str, words: Sequence[str]) -> bool:
    parts = parts_of(name)[-len(words) :] if words else []
    if not parts or len(parts) != len(words) or name.startswith("_"):
        return False
    # `completion classes` are `BashComplete` and `ZshComplete`: the stem decides.
    return all(
        same(word, part) or (len(part) > 4 and word.startswith(without_ending(part)[:5]))
        for word, part in zip(words, parts, strict=True)
    )
