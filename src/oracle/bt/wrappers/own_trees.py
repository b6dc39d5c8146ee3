"""A project's own trees: its files, and the built-in ones that they leave as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from oracle.bt.core.leaves import LEAVES
from oracle.bt.lua.declarations import TreeDeclaration, declared_trees
from oracle.bt.lua.library import TreeLibrary, read_trees, subtree_names
from oracle.bt.wrappers.recipe import TREE, built_in_trees, import_our_leaves
from oracle.bt.wrappers.recorded_tree import forget_definitions
from oracle.errors import InputError
from oracle.services.own_code.collecting import load_leaves
from oracle.settings import Settings

_OURS: Final = "built-in/"


def trees_in_use(settings: Settings) -> tuple[Mapping[str, str], list[str]]:
    """The sources by file name, checked together, and what is missing of the project's own leaves.

    An own tree replaces the built-in one of the same name. So a project with one tree of its own
    need not copy the others.
    """
    if settings.trees.folder is None:
        return built_in_trees(), []
    import_our_leaves()
    problems = [*register_leaves(settings)]
    forget_definitions()
    try:
        sources = with_built_in(read_trees([settings.path("trees.folder")]))
        return TreeLibrary(sources=sources).sources, problems
    except InputError as problem:
        unsaid = [line for line in problems if line not in str(problem)]
        if not unsaid:
            raise
        # A leaf that is not known is most often one that could not be loaded.
        raise InputError(f"{problem} ({'; '.join(unsaid)})") from problem


def register_leaves(settings: Settings) -> Sequence[str]:
    """Register the leaves of the project and of packages. Returns lines about what is missing.

    The leaves of a file that failed, or that is not trusted any more, are removed.
    """
    own = load_leaves(settings.root)
    for module in own.gone:
        LEAVES.forget(module)
    LEAVES.missing.clear()
    LEAVES.missing.update(own.missing)
    return own.problems


def with_built_in(own: Mapping[str, str]) -> dict[str, str]:
    """Add the built-in files whose trees are used and not in `own`."""
    return with_files_of(built_in_trees(), own, root=TREE, prefix=_OURS)


def with_files_of(
    base: Mapping[str, str], own: Mapping[str, str], *, root: str, prefix: str
) -> dict[str, str]:
    """Add the files of `base` whose trees are used and not in `own`."""
    ours = {
        tree.name: file for file, source in base.items() for tree in declared_trees(source, file)
    }
    sources = dict(own)
    known: set[str] = set()
    used = {root}
    for file, source in own.items():
        trees = declared_trees(source, file)
        known |= {tree.name for tree in trees}
        used |= subtree_names(trees)
    while missing := sorted((used - known) & ours.keys()):
        file = ours[missing[0]]
        source = base[file]
        trees = declared_trees(source, file)
        known |= {tree.name for tree in trees}
        used |= subtree_names(trees)
        sources[f"{prefix}{file.removeprefix(prefix)}"] = source
    return sources


def reached_from(root: str, trees: Mapping[str, TreeDeclaration]) -> set[str]:
    """The trees that a run of `root` can come to, as far as they are known."""
    reached: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in trees and name not in reached:
            reached.add(name)
            waiting.extend(subtree_names([trees[name]]))
    return reached
