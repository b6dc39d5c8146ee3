"""All trees of some files, checked together, and exchanged for new ones while the process runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.lua.builder import TreeBuilder
from oracle.bt.lua.declarations import TreeDeclaration, declared_trees
from oracle.bt.nodes.subtree import Subtree
from oracle.bt.render.difference import difference
from oracle.errors import InputError, MisplacedNodeError, NotFound, TreeFileError, did_you_mean
from oracle.logs import logger_of
from oracle.regular_file import read_regular

log = logger_of(__name__)

LARGEST_FILE: Final = 128 * 1024


class TreeLibrary:
    """Trees by name: `library["oracle-agent"]`.

    A path is a file, or a folder of `.lua` files. A tree that others use as a subtree may rely on
    their keys and loops; it is checked where it is used. `definitions` are those that work alone.
    `misplaced` are trees that do not work alone and that no other tree uses.
    """

    def __init__(
        self,
        paths: Iterable[Path] = (),
        *,
        sources: Mapping[str, str] | None = None,
        leaves: LeafRegistry = LEAVES,
    ) -> None:
        """Load files, or the `sources` that another library was made of, by file name."""
        self.paths = tuple(paths)
        self.sources = read_trees(self.paths) if sources is None else dict(sources)
        self._leaves = leaves
        self.misplaced: dict[str, MisplacedNodeError] = {}
        self._builder, self.definitions = self._load(self.sources)

    def __getitem__(self, name: str) -> TreeDefinition:
        if name not in self._builder.trees:
            known = list(self)
            hint = did_you_mean(name, known) or f"; there are: {', '.join(known)}"
            raise NotFound(f"no tree {name!r}{hint}")
        if name not in self.definitions:
            return self._builder.definition(name, stands_alone=False)
        return self.definitions[name]

    def as_it_stands(self, name: str) -> TreeDefinition:
        """The tree, to look at; one that only works inside another is taken from there."""
        for definition in self.definitions.values():
            for node in definition if name not in self.definitions else ():
                if isinstance(node, Subtree) and node.tree == name:
                    return definition.part(name, node.child)
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._builder.trees)

    def __len__(self) -> int:
        return len(self._builder.trees)

    def reload(self) -> list[str]:
        """Read the files again. Runs that have begun keep their tree; the next run gets the new
        one.

        Returns what changed, by node path. If a file is broken, that is reported and no tree
        changes.
        """
        before = self.definitions
        try:
            sources = read_trees(self.paths) if self.paths else self.sources
            self._builder, self.definitions = self._load(sources)
        except InputError as problem:
            log.error("trees not reloaded, the last good ones are kept: %s", problem)
            return []
        self.sources = sources
        changes = difference(before, self.definitions)
        for change in changes:
            log.info("reloaded: %s", change)
        return changes

    async def watch(self, stop: asyncio.Event | None = None) -> AsyncIterator[list[str]]:
        """Reload whenever one of the files changes and yield what changed, until `stop` is set."""
        from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]

        async for _ in awatch(*_folders(self.paths), stop_event=stop, watch_filter=_is_tree_file):
            yield self.reload()

    def _load(self, sources: Mapping[str, str]) -> tuple[TreeBuilder, dict[str, TreeDefinition]]:
        trees = all_declared(sources)
        builder = TreeBuilder(trees, self._leaves)
        roots = trees.keys() - subtree_names(trees.values())
        definitions: dict[str, TreeDefinition] = {}
        misplaced: dict[str, MisplacedNodeError] = {}
        for name in trees:
            if name in roots:
                try:
                    definitions[name] = builder.definition(name)
                except MisplacedNodeError as problem:
                    misplaced[name] = problem
        if misplaced and not definitions:
            raise next(iter(misplaced.values()))
        self.misplaced = misplaced
        for name in trees:
            if name not in roots:
                try:
                    definitions[name] = builder.definition(name)
                except TreeFileError:
                    if name not in builder.used_as_subtree:
                        raise  # only trees in a circle are reached from nowhere
        return builder, definitions


def all_declared(sources: Mapping[str, str]) -> dict[str, TreeDeclaration]:
    """What the files declare, by the names of the trees."""
    trees: dict[str, TreeDeclaration] = {}
    for file, source in sources.items():
        for tree in declared_trees(source, file):
            if tree.name in trees:
                twice = f"tree {tree.name!r} is in {trees[tree.name].file} too; rename one"
                raise TreeFileError(twice, file=tree.file, line=tree.line)
            trees[tree.name] = tree
    return trees


def read_trees(paths: Iterable[Path]) -> dict[str, str]:
    """The sources by file name, not checked yet."""
    return {_shown(file): _text_of(file) for file in _files(paths)}


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            files = sorted(file for file in path.glob("*.lua") if not file.name.startswith("."))
            if not files:
                raise InputError(f"{path}: no .lua file in this folder; name another folder")
            yield from files
        else:
            yield path


def _text_of(file: Path) -> str:
    try:
        data = read_regular(file, LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise TreeFileError(f"over {LARGEST_FILE >> 10} KiB; split it", file=_shown(file))
        return data.decode("utf-8-sig")
    except OSError as problem:
        raise TreeFileError(f"{problem.strerror}; check the path", file=_shown(file)) from None
    except UnicodeDecodeError:
        raise TreeFileError("is not UTF-8; save it as UTF-8", file=_shown(file)) from None


def _shown(file: Path) -> str:
    """Name a file as its user would: relative to the working directory, if it is below it."""
    try:
        return str(file.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(file)


def _folders(paths: Iterable[Path]) -> set[Path]:
    """Where to look for changes: a file that is replaced is only seen from its folder."""
    folders: set[Path] = set()
    for path in paths:
        for place in (path, path.resolve()):
            folders.add(place if place.is_dir() else place.parent)
    return folders


def _is_tree_file(_change: object, path: str) -> bool:
    return path.endswith(".lua")


def subtree_names(trees: Iterable[TreeDeclaration]) -> set[str]:
    """The names of all trees that these play as subtrees."""
    nodes = [branch for tree in trees for branch in (tree.root, tree.finish) if branch is not None]
    names: set[str] = set()
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children)
        if node.kind == "subtree":
            names.add(str(node.text or node.options.get("tree")))
    return names
