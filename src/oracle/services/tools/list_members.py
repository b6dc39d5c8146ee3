"""list_members: all things of a kind that the project has, with the place of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.models.source import Source
from oracle.patterns import lazy_pattern
from oracle.services.background import in_thread
from oracle.services.overview.blocks import blocks
from oracle.services.overview.families import families
from oracle.services.overview.finding import documents_of
from oracle.services.overview.inside_classes import Body, inside_class
from oracle.services.overview.members import (
    Group,
    Wanted,
    declared,
    documented,
    holders,
    modules,
    registered,
    same,
    wanted,
)
from oracle.services.overview.option_lists import command_options, environment_variables
from oracle.services.project.identifiers import without_ending
from oracle.services.search.records import Role
from oracle.services.search.roles import role_of
from oracle.services.tools.answer import Answer
from oracle.services.tools.lookup import with_left_out
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.project_reader import ProjectReader
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace

_GROUPS: Final = 3
_MOST_ITEMS: Final = 60
_BY_LAST_WORD: Final = 0.7
_BY_OTHER_WORDS: Final = 0.9
_VAGUE: Final = (
    "strategy",
    "implementation",
    "variant",
    "flavour",
    "flavor",
    "form",
    "mode",
    "object",
    "helper",
    "backend",
    "engine",
    "provider",
    "choice",
    "value",
)
_LOOKED_UP: Final = 3
_TOOLING: Final = lazy_pattern(r"(?:^|/)(?:noxfile|setup|conf|conftest|fabfile|tasks|dodo)\.py$")
_MADE: Final = lazy_pattern(r"(?:^|/)(?:dist|build|out|_sources|site|target)/")
_IF_MADE: Final = 0.8
"""What is made from the sources comes after them."""
_IN_TESTS: Final = 0.5
"""What tests hold is seldom asked for: its worth is halved."""


@dataclass(frozen=True, kw_only=True)
class ListMembers(PlainArguments):
    of: str = argument(
        min_length=1,
        max_length=200,
        description="What to list, in one to three words: commands, job status, worker classes.",
    )
    within: str | None = argument(
        default=None,
        max_length=200,
        description="The class whose methods, fields or subclasses are wanted, if it is one class.",
    )


def list_members(work: Workspace) -> Tool[ListMembers]:
    async def run(given: ListMembers) -> Answer:
        asked = wanted(given.of)
        names = await work.lookup.top_names()
        used = {word: await _used(work, word) for word in _names_for(asked)}
        reader = ProjectReader(work.files)
        if given.within:
            bodies = await _bodies(work, reader, given.within)
            inside = await in_thread(lambda: _inside(reader, names, given.of, bodies))
            if inside:
                return with_left_out(_answer(reader, given.of, inside), work.lookup)
        groups = await in_thread(lambda: _groups(reader, names, used, asked))
        if not groups:
            groups = await in_thread(lambda: _groups_of_parts(reader, names, used, asked))
        return with_left_out(_answer(reader, given.of, groups), work.lookup)

    return Tool(
        name="list_members",
        description=(
            "List all things of a kind, such as commands, signals, hooks, settings or subclasses: "
            "what a class, a module, a folder or a registry holds."
        ),
        arguments=ListMembers,
        run=run,
        query_types=frozenset({QueryType.CODE, QueryType.DOCUMENTATION, QueryType.RESEARCH}),
        source="code",
        role="members",
    )


def _parts_of(asked: Wanted) -> list[tuple[Wanted, float]]:
    """What else may be meant, with its worth. The last word says what they are: `plugin events` are
    events. A word such as `strategies` only says that they are of a kind: the others name it.
    """
    if len(asked.words) < 2:
        return []
    parts = [(replace(asked, words=asked.words[-1:]), _BY_LAST_WORD)]
    if any(same(asked.words[-1], vague) for vague in _VAGUE):
        parts.insert(0, (replace(asked, words=asked.words[:-1]), _BY_OTHER_WORDS))
    return parts


async def _bodies(work: Workspace, reader: ProjectReader, within: str) -> list[Body]:
    """The classes that are named exactly so, also those inside of other classes; no tests."""
    said = within.replace("`", " ").split()
    names = [name for name in said if name[:1].isupper() or "_" in name]
    found = [each for name in names[:_LOOKED_UP] for each in await work.lookup.definitions(name)]
    return [
        Body(name=each.name, path=each.path, start=each.start, end=each.end)
        for each in found
        if each.kind not in ("function", "method") and reader.role_of(each.path) is not Role.TEST
    ]


def _names_for(asked: Wanted) -> list[str]:
    """Names under which code may register things: `command` for commands, `hookspec` not."""
    last = asked.words[-1] if asked.words else ""
    # In Python a decorator is a use of its name, so `command` and `commands` are looked up.
    forms = (last, last.removesuffix("s"), without_ending(last))
    return [name for name in dict.fromkeys(forms) if len(name) > 2]


async def _used(work: Workspace, word: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for usage in await work.lookup.usages(word):
        if role_of(work.files.inner(usage.path)) is Role.SOURCE:
            found.setdefault(usage.path, []).append(usage.line)
    return found


def _groups_of_parts(
    reader: ProjectReader,
    names: Mapping[str, Sequence[str]],
    used: Mapping[str, Mapping[str, Sequence[int]]],
    asked: Wanted,
) -> list[Group]:
    for part, worth in _parts_of(asked):
        if found := _groups(reader, names, used, part):
            return [replace(group, worth=worth * group.worth) for group in found]
    return []


def _groups(
    reader: ProjectReader,
    names: Mapping[str, Sequence[str]],
    used: Mapping[str, Mapping[str, Sequence[int]]],
    asked: Wanted,
) -> list[Group]:
    if not asked.words:
        return []
    own = {path: held for path, held in names.items() if reader.role_of(path) is Role.SOURCE}
    # Stubs repeat what the source defines.
    own = {path: held for path, held in own.items() if not path.endswith(".pyi")} or own
    documents = documents_of(reader)
    found = [
        *holders(reader, own, asked),
        *blocks(reader, own, asked),
        *families(reader, own, asked),
        *(group for word, lines in used.items() for group in registered(reader, lines, word)),
        *modules(reader, own, asked),
        *declared(reader, asked),
        *documented(reader, documents, asked),
        *command_options(reader, [*own], documents, asked),
        *environment_variables(reader, [*own], documents, asked),
    ]
    return sorted(found, key=lambda group: -_weighed(reader, group))[:_GROUPS]


def _inside(
    reader: ProjectReader, names: Mapping[str, Sequence[str]], of: str, bodies: Sequence[Body]
) -> list[Group]:
    """What the class has, or its subclasses; none without such a class."""
    own = [path for path in names if reader.role_of(path) is not Role.TEST]
    found = [group for body in bodies for group in inside_class(reader, body, of, own)]
    # Of several classes with the name, the one that has most.
    return sorted(found, key=lambda group: -len(group.places))[:1]


def _weighed(reader: ProjectReader, group: Group) -> float:
    is_test = all(reader.role_of(place.path) is Role.TEST for place in group.places)
    # Scripts that build, test or document the project hold settings of these tools.
    is_tooling = all(_TOOLING.search(place.path) for place in group.places)
    is_made = all(_MADE.search(place.path) for place in group.places)
    return group.worth * (_IN_TESTS if is_test or is_tooling else _IF_MADE if is_made else 1.0)


def _answer(reader: ProjectReader, of: str, groups: Sequence[Group]) -> Answer:
    sources: list[Source] = []
    for group in groups:
        for place in group.places[:_MOST_ITEMS]:
            for source in reader.quoted(place, _weighed(reader, group)):
                source["group"] = group.what
                sources.append(source)
    if not sources:
        return Answer(
            summary=f"Nothing here is a list of {of!r} by its name. Search for the words.",
            empty=True,
        )
    told = "; ".join(f"{group.what} ({len(group.places)})" for group in groups)
    return Answer(summary=f"Found for {of!r}, best first: {told}.", findings=sources)
