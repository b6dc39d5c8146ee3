"""Find what holds all things of a kind: a class, a constant, a module, a folder, a registry.

"All commands" are the functions under a decorator `command`, or the classes that are named so, or
what a file `commands.py` defines. Each such group is found by names, and the best one answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.overview.manifests import MANIFESTS, tables
from oracle.services.overview.places import Place, Reader, sections_of
from oracle.services.project.identifiers import parts_of, without_ending

_KIND_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("class", "classes", "subclass", "subclasses", "type", "types"), "class"),
    **dict.fromkeys(("function", "functions", "method", "methods"), "function"),
    **dict.fromkeys(("file", "files", "module", "modules", "folder", "folders"), "file"),
}
_NOTHING_LISTED: Final = """
a all an and any available builtin built different each every existing existent given in kind
kinds known of possible provided public several supported the there this valid various
"""
_NOTHING: Final = frozenset(_NOTHING_LISTED.split())
_SHORT_FORMS_LISTED: Final = """
app:application arg:argument async:asynchronous attr:attribute auth:authent auth:author cfg:config
cmd:command conf:config config:configur conn:connection ctx:context db:database def:defin
dep:depend dest:destination dir:director doc:document env:environ err:error exc:exception
exec:execut ext:extension fmt:format fn:function func:function gen:generat idx:index impl:implement
info:information init:initial lang:language lib:librar msg:message num:number obj:object
op:operat opt:option param:parameter pkg:package pref:preference prop:propert proto:protocol
ref:reference regex:regular repo:repositor req:request res:response resp:response spec:specif
src:source stat:statistic stmt:statement sub:subscription sync:synchron sys:system tmpl:template
util:utilit val:value var:variable ver:version
"""
"""What code writes for long words, with the beginning of the word."""
_SHORT_FORMS: Final[dict[str, list[str]]] = {}
for _pair in _SHORT_FORMS_LISTED.split():
    _short, _, _whole = _pair.partition(":")
    _SHORT_FORMS.setdefault(_short, []).append(_whole)
ASSIGNED: Final = lazy_pattern(
    r"\s*(?:(?:const|let|var|export|static"
    r"|pub)\s+)*(?P<name>\w+)\s*(?::[^=\n]{1,80})?=(?!=)"
)
OPENS: Final = lazy_pattern(
    r"\s*(?:export\s+|pub\s+|async\s+|default\s+)*(?:def|class"
    r"|function|func|fn|struct|enum|trait)\s+(?P<name>\w+)"
)
_ITEM: Final = lazy_pattern(
    r"\s{0,3}(?:[-*+]|\d+[.)])\s+\S|\|\s*[^\s|:-]|\.\. "
    r"(?:\w+:)?\w+:: |`{1,2}\w[^`]*`{1,2}\s*$|\.(?:B|BR|BI|IP|It)\s+\S"
)
_CLASS: Final = lazy_pattern(r"\b(?:class|struct|interface|trait|enum)\s+(\w+)")
# A comment or a docstring with at least three words; not a licence.
_SAYS: Final = lazy_pattern(
    r"\s*(?:[\"']{3}|#(?!!)|//+|/?\*+|--)\s*(?!.*(?:copyright|licen[cs]e|eslint|\(c\)))"
    r"(?:\W*\w+){3}",
    re.I,
)
_OPENING_LINES: Final = 60
_MOST_ITEMS: Final = 60
FEWEST: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Places that belong together. `what` says what they are; `worth` is from 0 to 1."""

    what: str
    places: Sequence[Place]
    worth: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is to be listed: `words` without words such as `all`, and a kind if one was named.

    `whole` has the word for the kind too: parameter types may be called `ParamType`.
    """

    words: Sequence[str]
    kind: str = ""
    whole: Sequence[str] = ()


def wanted(of: str) -> Wanted:
    # Who asks for subcommands gets what is registered as a command.
    plain = (word.removeprefix("sub") if len(word) > 6 else word for word in parts_of(of))
    said = [word for word in plain if word not in _NOTHING and len(word) > 1]
    kinds = [_KIND_WORDS[word] for word in said if word in _KIND_WORDS]
    words = [word for word in said if word not in _KIND_WORDS]
    kept = list(dict.fromkeys(words))
    kind = kinds[-1] if kinds and kept else ""
    return Wanted(words=kept or said, kind=kind, whole=said if kind else ())


def same(one: str, other: str) -> bool:
    """Whether two words are forms of one: `commands` and `command`, `config` and
    `configuration`.
    """
    short, long = sorted((without_ending(one), without_ending(other)), key=len)
    if len(short) > 2 and long.startswith(short) and len(long) - len(short) <= 1:
        return True
    whole = max(one, other, key=len)
    forms = _SHORT_FORMS.get(short.removesuffix("s"), ())
    return any(whole.startswith(begins) for begins in forms)


def fit(name: str, words: Sequence[str]) -> int | None:
    """How many parts a name has besides the words; None if it lacks one of them."""
    parts = parts_of(name)
    if not all(any(same(word, part) for part in parts) for word in words):
        return None
    return sum(not any(same(word, part) for word in words) for part in parts)


def holders(reader: Reader, names: Mapping[str, Sequence[str]], asked: Wanted) -> Iterator[Group]:
    """Classes and constants that are named so and hold at least two members."""
    for path, defined in names.items():
        for name in dict.fromkeys(defined):
            extra = fit(name, asked.words)
            if extra is None or extra > 2 or name.startswith("__"):
                continue
            span = body_of(reader.read(path), name)
            if span is None:
                continue
            held = _held(reader.read(path), *span)
            if len(held) >= FEWEST and span[1] - span[0] < _MOST_ITEMS:
                place = Place(path=path, start=span[0] + 1, end=span[1] + 1)
                is_plural = parts_of(name)[-1].endswith("s") or len(asked.words) > 1
                worth = (1.0 if is_plural else 0.7) - 0.2 * extra
                # A class of another name has values of its own, unless they are constants.
                if extra and not _are_constants(reader.read(path), held):
                    worth -= 0.2
                yield Group(what=f"what `{name}` holds", places=[place], worth=worth)


def body_of(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """The lines, from 0, of a class or a collection; None if the name is something else."""
    for number, line in enumerate(lines):
        opened, assigned = OPENS.match(line), ASSIGNED.match(line)
        is_class = opened and opened["name"] == name and "(" not in line.split(name)[0]
        if is_class and re.search(r"\b(?:class|enum)\b", line):
            return number, _end_of_block(lines, number)
        if assigned and assigned["name"] == name and re.search(r"[\[({]", line.split("=", 1)[1]):
            return number, _end_of_brackets(lines, number)
    return None


def _end_of_block(lines: Sequence[str], start: int) -> int:
    depth = depth_of(lines[start])
    end = start
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if (
            line.strip()
            and depth_of(line) <= depth
            and not line.lstrip().startswith(("}", ")", "]"))
        ):
            break
        end = number if line.strip() else end
        if line.strip() and depth_of(line) <= depth:
            break
    return end


def _end_of_brackets(lines: Sequence[str], start: int) -> int:
    level = 0
    for number in range(start, min(len(lines), start + 4 * _MOST_ITEMS)):
        bare = re.sub(r"\"[^\"\n]*\"|'[^'\n]*'|#.*$|//.*$", "", lines[number])
        level += len(re.findall(r"[\[({]", bare)) - len(re.findall(r"[\])}]", bare))
        if level <= 0:
            return number
    return start


def _are_constants(lines: Sequence[str], held: Sequence[int]) -> bool:
    """Elements of a collection, or names in capitals."""
    found = [ASSIGNED.match(lines[n]) for n in held]
    named = [match["name"] for match in found if match]
    return not named or all(name.upper() == name for name in named)


def _held(lines: Sequence[str], start: int, end: int) -> list[int]:
    """Lines that are members: assignments in a class, elements of a collection; no methods."""
    if start == end:
        return [start] * (1 + lines[start].count(","))
    inner = [n for n in range(start + 1, end + 1) if lines[n].strip()]
    depth = min((depth_of(lines[n]) for n in inner), default=0)
    if OPENS.match(lines[start]) and "enum" not in lines[start].split("{")[0].lower():
        methods = sum(bool(OPENS.match(lines[n])) for n in inner)
        own = [n for n in inner if depth_of(lines[n]) == depth and ASSIGNED.match(lines[n])]
        # A class with methods is more than a list of its values.
        return own if len(own) > methods else []
    return [n for n in inner if not re.match(r"\s*(?:[\])}]|#|//)", lines[n])]


def registered(reader: Reader, used: Mapping[str, Sequence[int]], word: str) -> Iterator[Group]:
    """What is defined under a decorator, or assigned from a call, whose name is the word.

    `used` are lines, from 1, by path, that use the word as a name.
    """
    decorated: list[Place] = []
    assigned: list[Place] = []
    call = re.compile(rf"=\s*(?:\w+(?:\(\))?\.)*{re.escape(word)}\(")
    for path, numbers in used.items():
        lines = reader.read(path)
        for number in dict.fromkeys(numbers):
            line = lines[number - 1] if number <= len(lines) else ""
            # `@value.setter` registers nothing.
            if re.match(rf"\s*@(?:\w+\.)*{re.escape(word)}\b(?!\.)", line):
                below = range(number, min(len(lines), number + 90))
                opened = next((n for n in below if OPENS.match(lines[n])), None)
                if opened is not None:
                    decorated.append(Place(path=path, start=number, end=opened + 1))
            elif call.search(line) and ASSIGNED.match(line) and not line.startswith((" ", "\t")):
                assigned.append(Place(path=path, start=number, end=number))
    for what, places in (
        (f"what is under `@{word}`", decorated),
        (f"made by `{word}(…)`", assigned),
    ):
        if len(places) >= FEWEST:
            yield Group(what=what, places=places, worth=0.9)


def modules(reader: Reader, names: Mapping[str, Sequence[str]], asked: Wanted) -> Iterator[Group]:
    """What a file defines that is named so, and the files of a folder that is named so."""
    for path, defined in names.items():
        stem = path.rpartition("/")[2].partition(".")[0]
        public = {name for name in defined if not name.startswith("_")}
        if fit(stem, asked.words) == 0 and len(public) >= FEWEST:
            found = [
                Place(path=path, start=number, end=number)
                for number, line in enumerate(reader.read(path), 1)
                if not line.startswith((" ", "\t")) and _name_at(line) in public
            ]
            if len(found) >= FEWEST:
                worth = 0.75 if stem.lower().endswith("s") else 0.55
                # `wait_fixed`, `wait_random` in `wait.py`: the file is the list of them.
                alike = sum(fit(name, asked.words) is not None for name in public)
                if alike >= 3 and 2 * alike > len(public):
                    worth = 0.85
                yield Group(what=f"what `{path}` defines", places=found, worth=worth)
    for folder, inside in _folders(reader.paths, asked).items():
        if len(inside) >= FEWEST:
            places = [_shown_by(reader, path) for path in inside.values()]
            worth = 0.85 if asked.kind == "file" else 0.72 if len(inside) > 3 else 0.6
            yield Group(what=f"what is in `{folder}/`", places=places, worth=worth)


def _shown_by(reader: Reader, path: str) -> Place:
    """The line that says most about a file: the class that is named like it, or its first words."""
    lines = reader.read(path)[:_OPENING_LINES]
    stem = path.rpartition("/")[2].partition(".")[0]
    named = (
        n for n, line in enumerate(lines) if (at := _CLASS.search(line)) and same_name(at[1], stem)
    )
    saying = (n for n, line in enumerate(lines) if _SAYS.match(line))
    number = next(named, next(saying, 0)) + 1
    return Place(path=path, start=number, end=number)


def same_name(one: str, other: str) -> bool:
    return "".join(parts_of(one)) == "".join(parts_of(other))


def _folders(paths: Sequence[str], asked: Wanted) -> dict[str, dict[str, str]]:
    """By folder that is named so: what is in it, each with a file that shows it.

    A folder in it is shown by its first file: `themes/mkdocs/` by `themes/mkdocs/404.html`.
    """
    folders: dict[str, dict[str, str]] = {}
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            held = parts[depth]
            if fit(parts[depth - 1], asked.words) == 0 and not held.startswith(("_", ".")):
                folders.setdefault("/".join(parts[:depth]), {}).setdefault(held, path)
                break
    return folders


def declared(reader: Reader, asked: Wanted) -> Iterator[Group]:
    """Entries of a table of a manifest that is named so: entry points, features, workspaces."""
    for path in reader.paths:
        if path.rpartition("/")[2] not in MANIFESTS:
            continue
        lines = reader.read(path)
        for start, end in tables(lines, ".*"):
            name = lines[start].strip("[] \t\"'")
            last = re.split(r"[.:]", name)[-1]
            held = [n for n in range(start + 1, end + 1) if ASSIGNED.match(lines[n])]
            if fit(last, asked.words) == 0 and len(held) >= FEWEST:
                place = Place(path=path, start=start + 1, end=end + 1)
                yield Group(what=f"what `{path}` declares", places=[place], worth=0.85)


def _name_at(line: str) -> str:
    found = OPENS.match(line) or ASSIGNED.match(line)
    return found["name"] if found else ""


def documented(reader: Reader, documents: Sequence[str], asked: Wanted) -> Iterator[Group]:
    """Lists, tables and subsections below a heading that is named so."""
    for path in documents:
        lines = reader.read(path)
        found = sections_of(lines)
        for section in found:
            extra = fit(section.title, asked.words)
            if extra is None or extra > 2:
                continue
            inside = [each for each in found if section.start < each.start < section.end]
            below = [each for each in inside if each.level == section.level + 1]
            items = [n for n in range(section.start + 1, section.end) if _ITEM.match(lines[n])]
            # Sections that are called like the one above are kinds of the things, not the things.
            if 2 * sum(fit(each.title, asked.words) is not None for each in below) > len(below):
                continue
            if len(below) >= 3:
                places = [Place(path=path, start=s.start + 1, end=s.start + 1) for s in below]
            elif len(items) >= 3:
                places = [Place(path=path, start=n + 1, end=n + 1) for n in items]
            else:
                continue
            what = f"what `{path}` lists under `{section.title}`"
            yield Group(what=what, places=places[:_MOST_ITEMS], worth=0.8 - 0.1 * extra)


def depth_of(line: str) -> int:
    return len(line) - len(line.lstrip())
