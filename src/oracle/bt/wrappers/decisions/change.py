"""What is changed in a recorded run: trees, prompts, values of its board, the classifier."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from math import inf
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from oracle.bt.lua.library import all_declared, read_trees
from oracle.bt.wrappers.own_trees import reached_from, with_files_of
from oracle.bt.wrappers.recipe import Recipe, built_in_trees, segment_texts
from oracle.errors import InputError, did_you_mean, named
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.agent_services import AgentServices, QueryClassifier
from oracle.services.classification.classifier import classify_query
from oracle.services.prompting.segment_files import built_in_segments, load_segments

BUILT_IN: Final = "built-in"
"""In the place of a path: the trees or the prompts of this version of oracle."""

CHANGEABLE: Final = ("limits", "model", "can_ask")
"""What `--set` may change on the board that a run begins with."""

_CONSTANT: Final = re.compile(
    r"^local ([A-Z][A-Z0-9_]*) *= *(-?\d+(?:\.\d+)?)(?=\s|$)", re.MULTILINE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """`trees` are paths, and `sources` the texts of tree files by their names. `settings` are texts
    of the form key=value; see `_with_setting` for the keys.
    """

    trees: Sequence[str] = ()
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    prompts: str | None = None
    settings: Sequence[str] = ()
    classifier: QueryClassifier | None = None

    @property
    def is_nothing(self) -> bool:
        return self == NO_CHANGE

    def applied(self, recipe: Recipe) -> Recipe:
        if self.trees or self.sources:
            recipe = replace(recipe, sources=_with_trees(recipe, self.trees, self.sources))
        if self.prompts is not None:
            recipe = replace(recipe, prompts={**recipe.prompts, **_prompts_in(self.prompts)})
        for text in self.settings:
            recipe = _with_setting(recipe, text)
        return recipe

    def check_classifier(self) -> None:
        """Raise what the classifier got wrong in a run that was just played."""
        if isinstance(self.classifier, OwnClassifier) and self.classifier.problem is not None:
            raise self.classifier.problem

    def services(self, services: AgentServices) -> AgentServices:
        return replace(services, classify=self.classifier) if self.classifier else services


NO_CHANGE: Final = Change()


# -- trees and prompts -----------------------------------------------------------------------------


def _with_trees(
    recipe: Recipe, paths: Sequence[str], sources: Mapping[str, str]
) -> Mapping[str, str]:
    """The given trees replace recorded ones of the same name; the others stay as recorded."""
    own: dict[str, str] = dict(sources)
    given = {path: read_trees([Path(path)]) for path in paths if path != BUILT_IN}
    for path in paths:
        own |= given.get(path) or built_in_trees()
    changed = with_files_of(recipe.sources, own, root=recipe.tree, prefix="recorded/")
    for path, files in given.items():
        _check_trees_are_used(path, files, changed, recipe)
    return changed


def _check_trees_are_used(
    path: str, files: Mapping[str, str], changed: Mapping[str, str], recipe: Recipe
) -> None:
    """A tree with a misspelt name would replace nothing, and the report would say "no difference".

    A folder may hold trees of other runs, if they are trees that exist.
    """
    trees = all_declared(changed)
    used = reached_from(recipe.tree, trees)
    given = {name for name, tree in trees.items() if tree.file in files}
    known = {*all_declared(recipe.sources), *all_declared(built_in_trees())}
    strange = sorted(given - used - known)
    if strange or not given & used:
        names = ", ".join(strange or sorted(given))
        hint = did_you_mean(strange[0], used) if strange else ""
        raise InputError(
            f"--tree {path}: the run does not use {names}{hint}; it uses {', '.join(sorted(used))}"
        )


def _prompts_in(folder: str) -> Mapping[str, str]:
    if folder == BUILT_IN:
        return segment_texts(built_in_segments())
    if not Path(folder).is_dir():
        raise InputError(f"--prompts {folder}: there is no such folder; check the path")
    own = tuple(segment for segment in load_segments(Path(folder)) if segment.from_project)
    if not own:
        raise InputError(f"--prompts {folder}: no .md file in this folder; name another folder")
    return segment_texts(own)


# -- values ----------------------------------------------------------------------------------------


def _with_setting(recipe: Recipe, text: str) -> Recipe:
    """`limits.turns=5` changes the board, `decide.WEAK_SIGNAL=0.5` a constant of a tree file."""
    key, equals, typed = text.partition("=")
    if not equals or not key:
        raise InputError(f"--set {text}: write it as key=value, such as limits.turns=5")
    constants = _constants(recipe)
    if key in constants:
        return _with_constant(recipe, key, typed, constants[key])
    # A run without a person to ask has no `can_ask` on its board.
    board = {"can_ask": False, **recipe.board}
    values = _values({name: board[name] for name in CHANGEABLE if name in board})
    if key not in values:
        known = [*values, *constants]
        step = f"a value of this run is one of: {', '.join(known)}"
        raise InputError(
            f"--set {key}: there is no such value{did_you_mean(key, known, step=step)}"
        )
    value = _like(values[key], typed, key)
    return replace(recipe, board=_replaced(recipe.board, key.split("."), value))


def _values(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Each single value with its dotted key."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict):
            found |= _values(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def _like(value: Any, typed: str, key: str) -> Any:
    """What was typed, as a value of the same kind. `null` switches the limit of money off."""
    try:
        found: Any = json.loads(typed)
    except ValueError:
        found = typed
    if not _fits(found, value, may_be_off=key == "limits.money"):
        kind = "true or false" if type(value) is bool else "a text"
        is_number = type(value) not in (bool, str)
        step = "one of the same kind that is not negative" if is_number else kind
        raise InputError(
            f"--set {key}={typed}: the recorded value is {json.dumps(value)}; give {step}"
        )
    return found


def _fits(found: Any, value: Any, *, may_be_off: bool) -> bool:
    if found is None:
        return may_be_off or value is None
    if type(value) in (bool, str):
        return type(found) is type(value)
    is_number = type(found) is int or (type(found) is float and type(value) is not int)
    return is_number and 0 <= found < inf


def _replaced(data: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    inner = _replaced(data.get(first) or {}, rest, value) if rest else value
    return {**data, first: inner}


def _constants(recipe: Recipe) -> dict[str, tuple[str, re.Match[str]]]:
    """The numbers that a tree file of the run gives a name: `decide.WEAK_SIGNAL`."""
    trees = all_declared(recipe.sources)
    used = {trees[name].file for name in reached_from(recipe.tree, trees)}
    return {
        f"{Path(file).stem}.{found[1]}": (file, found)
        for file, source in recipe.sources.items()
        if file in used
        for found in _CONSTANT.finditer(source)
    }


def _with_constant(
    recipe: Recipe, key: str, typed: str, place: tuple[str, re.Match[str]]
) -> Recipe:
    file, found = place
    if not re.fullmatch(r"-?\d{1,12}(\.\d{1,12})?", typed):
        raise InputError(f"--set {key}={typed}: give a number; it is {found[2]} in {file}")
    source = recipe.sources[file]
    changed = f"{source[: found.start(2)]}{typed}{source[found.end(2) :]}"
    return replace(recipe, sources={**recipe.sources, file: changed})


# -- the classifier --------------------------------------------------------------------------------

Import: TypeAlias = Callable[[str], Callable[..., Any]]


def classifier_from(text: str, imported: Import) -> QueryClassifier:
    """`code` or `code:0.6` gives each question that type; `module:function` is asked for it."""
    first, colon, second = text.partition(":")
    if first in [*QueryType] and bool(colon) == bool(second):
        return _forced(QueryType(first), second)
    if second:
        return OwnClassifier(imported(text), text)
    known = [type_.value for type_ in QueryType]
    raise InputError(
        f"--classifier {text}: give a type ({', '.join(QueryType)}), a type with a confidence "
        f"such as code:0.6, or module:function{did_you_mean(first, known)}"
    )


def _forced(type_: QueryType, confidence: str) -> QueryClassifier:
    try:
        sure = float(confidence or 1)
    except ValueError:
        sure = -1.0
    if not 0 <= sure <= 1:
        raise InputError(
            f"--classifier {type_}:{confidence}: the confidence is a number from 0 to 1"
        )

    def classify(query: str, *rest: Any) -> QueryClassification:
        # The breadth stays: it decides about something else.
        breadth = classify_query(query, *rest).breadth
        return QueryClassification.of_type(type_, confidence=sure, breadth=breadth)

    return classify


class OwnClassifier:
    """A function of the user, checked.

    The run that asks it ends with an answer, whatever it raises. So `problem` keeps what was wrong:
    how that run went says nothing about the change.
    """

    problem: InputError | None = None

    def __init__(self, function: Callable[..., Any], text: str) -> None:
        self._function = function
        self._text = text

    def __call__(self, query: str, *rest: Any) -> QueryClassification:
        try:
            found = self._function(query, *rest)
        except Exception as problem:
            raise self._refused(f"raised {problem!r}; mend the function") from problem
        if isinstance(found, str) and found in [*QueryType]:
            return QueryClassification.of_type(QueryType(found))
        if not isinstance(found, QueryClassification):
            raise self._refused(
                f"returned {named(found, 60)}; return a QueryClassification or one of "
                f"{', '.join(QueryType)}"
            )
        return found

    def _refused(self, why: str) -> InputError:
        self.problem = InputError(f"--classifier {self._text} {why}")
        return self.problem
