"""The indexes of a project and of its further roots, behind the interface of one index.

Each root has an index and a thread of its own, so that a disk that does not respond holds up its
root only. A root that cannot be searched is left out, and the results of the tools say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from oracle.errors import OracleError, ToolProblem
from oracle.logs import logger_of
from oracle.models.query_classification import OWN_NAME
from oracle.services.project.root import KEPT_FOLDERS
from oracle.services.project.roots import Root, Roots, below
from oracle.services.project.secret_files import OURS, SecretFiles
from oracle.services.prompting.tokens import estimate_tokens
from oracle.services.tools.project_index import PLACES_IN_A_FILE, ProjectIndex

if TYPE_CHECKING:
    from oracle.services.search import Definition, Hit, Index, Kind, Reference
    from oracle.services.search.records import FileOnMap, ProgressListener

log = logger_of(__name__)

SECONDS_FOR_A_ROOT: Final = 12.0
"""How long one look-up waits for a root; less than the time limit of a tool."""
_STEPS_BEFORE_HALF: Final = 3
"""On a map the fourth file of a root counts half as much as its first."""

Found = TypeVar("Found")


class RootedIndex:
    """The project's own index, which is `main`, with those of its roots."""

    def __init__(
        self, roots: Roots, progress: ProgressListener | None = None, *, main: ProjectIndex
    ) -> None:
        self._roots = roots
        self._main = main
        self._others = {
            root.name: ProjectIndex(
                root.path,
                progress,
                kept=KEPT_FOLDERS,
                secrets=root.secrets,
                on_disk=main.is_on_disk,
                folder=partial(root.index_folder, roots.main),
            )
            for root in roots.others
        }
        # Why a root was left out of the last look-up.
        self._not_searched: dict[str, str] = {}
        self._looking: dict[str, Future[str]] = {}
        self._hanging: set[str] = set()

    @asynccontextmanager
    async def at_hand(self) -> AsyncGenerator[None]:
        async def entered(root: Root) -> None:
            index = self._others[root.name]
            try:
                await self._check(root)
                await stack.enter_async_context(index.at_hand())
            except (OracleError, OSError) as problem:
                log.warning("the root %s was not brought up to date: %s", root.name, problem)

        async with AsyncExitStack() as stack:
            main = stack.enter_async_context(self._main.at_hand())
            await asyncio.gather(main, *map(entered, self._roots.others))
            yield

    async def known(self, terms: Sequence[str]) -> Mapping[str, int] | None:
        found = await self._of_all(lambda index: index.known(terms))
        if found[""] is None or (None in found.values() and not any(found.values())):
            return None
        together: dict[str, int] = {}
        for known in found.values():
            for term, files in (known or {}).items():
                is_name = OWN_NAME in (files, together.get(term))
                together[term] = OWN_NAME if is_name else together.get(term, 0) + files
        names = {root.name.casefold() for root in self._roots.others}
        together.update((term, OWN_NAME) for term in terms if term.casefold() in names)
        return together

    async def search_kinds(
        self, query: str, kinds: Sequence[Kind], k: int
    ) -> Mapping[str, Sequence[Hit]]:
        return {kind: await self.search(query, kind, k) for kind in kinds}

    async def search(self, query: str, kind: Kind, k: int, *, under: str = "") -> Sequence[Hit]:
        root, inner = self._roots.split(under)
        if under:
            hits = await self._in(root, lambda index: index.search(query, kind, k, under=inner))
            return [replace(hit, path=below(root, hit.path)) for hit in hits]
        from oracle.services.search.ranking import Scale
        from oracle.services.search.several import highest, merged, total

        # Three steps: see `search_several`.
        counted = await self._asked_all(lambda index: index.statistics(query, kind), query)
        statistics = total(counted.values())
        only = counted.keys()
        scores = await self._asked_all(
            lambda index: index.best_scores(query, kind, statistics), only=only
        )
        scale = Scale(statistics=statistics, best=highest(scores.values()))
        found = await self._asked_all(
            lambda index: index.search(query, kind, k, per_file=PLACES_IN_A_FILE, scale=scale),
            only=only,
        )
        return merged(found, k)

    async def definitions(self, name: str) -> Sequence[Definition]:
        found = await self._of_all(lambda index: index.definitions(name))
        return [
            replace(each, path=prefix + each.path)
            for prefix, defined in found.items()
            for each in defined
        ]

    async def usages(self, name: str) -> Sequence[Reference]:
        found = await self._of_all(lambda index: index.usages(name))
        return [
            replace(each, path=prefix + each.path)
            for prefix, used in found.items()
            for each in used
        ]

    async def symbols(self, path: str) -> Sequence[Definition]:
        root, inner = self._roots.split(path)
        found = await self._in(root, lambda index: index.symbols(inner))
        return [replace(each, path=path) for each in found]

    async def top_names(self) -> Mapping[str, Sequence[str]]:
        found = await self._of_all(lambda index: index.top_names())
        return {
            prefix + path: names
            for prefix, by_path in found.items()
            for path, names in by_path.items()
        }

    async def paths(self) -> Sequence[str]:
        found = await self._of_all(lambda index: index.paths())
        return [prefix + path for prefix, paths in found.items() for path in paths]

    async def map_for(
        self, question: str, token_budget: int, *, under: str = ""
    ) -> Sequence[FileOnMap]:
        root, inner = self._roots.split(under)
        if under:
            drawn = await self._in(
                root, lambda index: index.map_for(question, token_budget, under=inner)
            )
            return [_on_map(below(root, ""), each) for each in drawn]
        from oracle.services.search.several import total

        counted = await self._asked_all(lambda i: i.statistics(question, "code"), question)
        statistics, only = total(counted.values()), counted.keys()
        scores = await self._asked_all(
            lambda index: index.best_scores(question, "code", statistics), only=only
        )
        maps = await self._of_all(lambda index: index.map_for(question, token_budget), only)
        worth = {prefix: best.passages for prefix, best in scores.items()}
        ranked = sorted(
            (
                (-worth.get(prefix, 0.0) / (_STEPS_BEFORE_HALF + number), prefix, number)
                for prefix, files in maps.items()
                for number in range(len(files))
            )
        )
        chosen: list[FileOnMap] = []
        for _, prefix, number in ranked:
            named = _on_map(prefix.rstrip("/"), maps[prefix][number])
            token_budget -= estimate_tokens(named.text) + 1
            if token_budget < 0:
                break
            chosen.append(named)
        return chosen

    @property
    def left_out(self) -> str:
        notes = [self._main.left_out]
        for name, index in self._others.items():
            if note := self._not_searched.get(name):
                notes.append(f"{note[:1].upper()}{note[1:]}.")
            elif note := index.left_out:
                notes.append(f"In {name}/: {note}")
        return " ".join(filter(None, notes))

    def close(self) -> None:
        for index in (self._main, *self._others.values()):
            index.close()

    # one root, or all of them

    async def _check(self, root: Root) -> None:
        """`ToolProblem` if the root cannot be read. A disk that hangs is asked once, not again."""
        looking = self._looking.get(root.name)
        if looking is None or looking.done():
            looking = self._others[root.name].in_its_thread(lambda: root.problem)
            self._looking[root.name] = looking
        elif root.name in self._hanging:
            raise ToolProblem(_hangs(root))
        try:
            async with asyncio.timeout(SECONDS_FOR_A_ROOT):
                problem = await asyncio.shield(asyncio.wrap_future(looking))
        except TimeoutError:
            self._hanging.add(root.name)
            raise ToolProblem(_hangs(root)) from None
        self._hanging.discard(root.name)
        if problem:
            raise ToolProblem(f"{problem}; answer without it, and say that it is missing")

    async def _in(
        self, root: Root | None, look_up: Callable[[ProjectIndex], Awaitable[Found]]
    ) -> Found:
        if root is None:
            return await look_up(self._main)
        await self._check(root)
        return await look_up(self._others[root.name])

    async def _asked_all(
        self,
        question: Callable[[Index], Found],
        about: str = "",
        *,
        only: Collection[str] | None = None,
    ) -> dict[str, Found]:
        return await self._of_all(lambda index: index.asked(question, about=about), only)

    async def _of_all(
        self,
        look_up: Callable[[ProjectIndex], Awaitable[Found]],
        only: Collection[str] | None = None,
    ) -> dict[str, Found]:
        """What each index returns, by the beginning of its paths; the project's own is first.

        A root that fails is left out. If the project's own index fails, the look-up does. `only`
        are those that an earlier step of the same look-up has found working.
        """
        roots = self._roots.others
        if only is None:
            self._not_searched = {}
        else:
            roots = tuple(root for root in roots if f"{root.name}/" in only)
        main, others = await asyncio.gather(
            look_up(self._main),
            asyncio.gather(*(self._or_left_out(root, look_up) for root in roots)),
        )
        found: dict[str, Found] = {"": main}
        for each in others:
            found.update(each)
        return found

    async def _or_left_out(
        self, root: Root, look_up: Callable[[ProjectIndex], Awaitable[Found]]
    ) -> dict[str, Found]:
        try:
            await self._check(root)
            async with asyncio.timeout(SECONDS_FOR_A_ROOT):
                return {f"{root.name}/": await look_up(self._others[root.name])}
        except TimeoutError:
            told = _hangs(root)
        except (OracleError, OSError) as problem:
            # What follows the semicolon is for those who asked for this root alone.
            told = str(problem).partition(";")[0]
        log.debug("%s", told)
        self._not_searched[root.name] = told
        return {}


def _hangs(root: Root) -> str:
    return f"the root {root.name!r} was not searched: it does not respond, or is still indexed"


def project_index(
    root: Path,
    roots: tuple[Root, ...] = (),
    progress: ProgressListener | None = None,
    *,
    kept: tuple[str, ...] = KEPT_FOLDERS,
    secrets: SecretFiles = OURS,
    on_disk: bool = True,
) -> ProjectIndex | RootedIndex:
    """The index of a project, with those of its further roots if it has some."""
    main = ProjectIndex(root, progress, kept=kept, secrets=secrets, on_disk=on_disk)
    return RootedIndex(Roots(main=root, others=roots), progress, main=main) if roots else main


def _on_map(name: str, file: FileOnMap) -> FileOnMap:
    """The text of a file on the map begins with its path."""
    if not name:
        return file
    return replace(file, path=f"{name}/{file.path}", text=f"{name}/{file.text}")
