"""`@oracle.tool`: a typed function becomes a tool that a model can call.

The docstring is the description, and the signature gives the arguments. The decorator hands the
function back unchanged: a tool is tested by calling it.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    NoReturn,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
    overload,
)

from pydantic import Field, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from oracle.errors import OwnCodeError, did_you_mean, with_article
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.models.source_kind import SOURCE_KINDS
from oracle.models.tool_spec import Role, ToolSpec, role_by_name, speaks_of_a_change
from oracle.services.own_code.docstrings import Described, described
from oracle.services.tools.model_arguments import Arguments, model_schema

_MARK: Final = "__oracle_tool__"
_SECONDS: Final = 20.0
_MOST_SECONDS: Final = 600.0
_MOST_ARGUMENTS: Final = 20
_CONVERSATIONAL: Final = QueryType.CONVERSATIONAL
_ANY_QUESTION: Final = frozenset(QueryType) - {_CONVERSATIONAL}
# Arguments that take words to look for. A tool whose only required argument is one of these is used
# wherever something is searched.
_SEARCHED: Final = frozenset({"query", "question", "words", "text", "term", "terms", "q"})

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnTool:
    """`query_types` are the questions that it is offered for. `file` and `line` are its place."""

    function: Callable[..., Any]
    name: str
    description: str
    arguments: type[Arguments]
    positional: tuple[str, ...]
    by_pydantic: frozenset[str]
    """Arguments whose default is a `Field(…)`: the function does not know the value."""
    role: Role
    query_types: frozenset[QueryType]
    timeout: float
    file: str
    line: int | None

    @property
    def writes(self) -> bool:
        return self.role == "write"

    def error(self, message: str) -> OwnCodeError:
        return OwnCodeError(f"tool {self.name!r}: {message}", file=self.file, line=self.line)


@overload
def tool(function: Function, /) -> Function: ...
@overload
def tool(
    *,
    name: str | None = None,
    for_: Iterable[str] | None = None,
    writes: bool = False,
    timeout: float = _SECONDS,
) -> Callable[[Function], Function]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    for_: Iterable[str] | None = None,
    writes: bool = False,
    timeout: float = _SECONDS,
) -> Function | Callable[[Function], Function]:
    """Make a function a tool: `@oracle.tool`, or `@oracle.tool(writes=True, for_=["code"])`.

    `for_` names the types of questions (code, documentation, research, action) or the kinds of
    source (code, vault, threads, web) that it is offered for; by default all. A tool that `writes`
    is offered for actions, and needs a clear request or a person's yes. After `timeout` seconds a
    call is given up.
    """
    # Names in annotations may be local to the place of the decorator.
    names = dict(sys._getframe(1).f_locals)  # pyright: ignore[reportPrivateUsage]

    def mark(fn: Function) -> Function:
        own = _own_tool(fn, names, name=name, for_=for_, writes=writes, timeout=timeout)
        setattr(fn, _MARK, own)
        return fn

    return mark if function is None else mark(function)


def own_tool_of(function: object) -> OwnTool:
    """The tool that a function is. One without the decorator gets its defaults."""
    return marked_tool(function) or _own_tool(cast("Callable[..., Any]", function), {})


def marked_tool(value: object) -> OwnTool | None:
    # A module may define `__getattr__`, so that it seems to have every attribute.
    found = getattr(value, _MARK, None) if inspect.isroutine(value) else None
    return found if isinstance(found, OwnTool) else None


def _own_tool(
    function: Callable[..., Any],
    names: Mapping[str, Any],
    *,
    name: str | None = None,
    for_: Iterable[str] | None = None,
    writes: bool = False,
    timeout: float = _SECONDS,
) -> OwnTool:
    draft = _Draft(function, name)
    signature = draft.signature()
    words = described(inspect.getdoc(function), signature.parameters)
    if not isinstance(writes, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        draft.fail(f"writes is {writes!r:.60}; give True or False")
    if not words.summary:
        draft.fail("it has no docstring; write one that says when to use it: the model reads it")
    for unknown in words.unknown:
        hint = did_you_mean(unknown, signature.parameters) or "; remove it, or rename it"
        draft.fail(f"the docstring describes {unknown!r}, but there is no such argument{hint}")
    types = draft.types_for(for_, writes=writes)
    arguments = draft.arguments(signature, words, names)
    own = OwnTool(
        function=function,
        name=draft.name,
        description=words.summary,
        arguments=arguments,
        positional=tuple(
            key for key, own in signature.parameters.items() if own.kind is own.POSITIONAL_ONLY
        ),
        by_pydantic=frozenset(
            key for key, own in signature.parameters.items() if isinstance(own.default, FieldInfo)
        ),
        role="write" if writes else _role(draft.name, arguments),
        query_types=types,
        timeout=draft.seconds(timeout),
        file=draft.file,
        line=draft.line,
    )
    draft.check_name(own)
    return own


def _role(name: str, arguments: type[Arguments]) -> Role:
    """Only `search` is taken from a name: the tree calls other roles with arguments of their own.

    One that searches takes words, and nothing else is required. A name that speaks of a change is
    left to the model, even without `writes`: the embedded model calls every tool that searches.
    """
    if speaks_of_a_change(name):
        return "other"
    required = [key for key, own in arguments.model_fields.items() if own.is_required()]
    if len(required) != 1 or arguments.model_fields[required[0]].annotation is not str:
        return "other"
    is_search = required[0] in _SEARCHED or role_by_name(name) == "search"
    return "search" if is_search else "other"


class _Draft:
    """A function on its way to a tool. Whatever is wrong with it names its file and line."""

    def __init__(self, function: Callable[..., Any], name: str | None) -> None:
        self._function = function
        code = getattr(inspect.unwrap(function), "__code__", None)
        self.file = _shown(code.co_filename) if code else "@oracle.tool"
        self.line: int | None = code.co_firstlineno if code else None
        own_name = getattr(function, "__name__", type(function).__name__)
        self.name: str = own_name if name is None else name
        if not inspect.isroutine(function) or code is None:
            self.fail(
                f"it is {with_article(str(type(function).__name__))}; make it a function with `def`"
            )
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            self.fail("it yields; return all of the text or a list instead")

    def fail(self, message: str) -> NoReturn:
        raise OwnCodeError(f"tool {self.name!r}: {message}", file=self.file, line=self.line)

    def check_name(self, own: OwnTool) -> None:
        try:
            ToolSpec(name=own.name, description=own.description, parameters={"type": "object"})
        except (ValueError, TypeError):
            self.fail('its name must be 1 to 64 of A-Z, a-z, 0-9, "_" and "-"; give name="…"')

    def signature(self) -> inspect.Signature:
        signature = inspect.signature(self._function)
        if len(signature.parameters) > _MOST_ARGUMENTS:
            self.fail(
                f"it has {len(signature.parameters)} arguments, which cost tokens in every "
                f"request; use at most {_MOST_ARGUMENTS}, or group them in a dataclass"
            )
        for key, own in signature.parameters.items():
            if own.kind in (own.VAR_POSITIONAL, own.VAR_KEYWORD):
                self.fail(f"a model cannot fill {own}; write each argument by name")
            if key.startswith("_") or key == "model_config":
                self.fail(f"the argument {key!r} has a name that pydantic keeps; rename it")
            if own.annotation is own.empty:
                hint = "pass the method of an object" if key == "self" else f"write `{key}: str`"
                self.fail(f"the argument {key!r} has no type; {hint}, for example")
        return signature

    def seconds(self, timeout: object) -> float:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float):
            self.fail(f"timeout is {timeout!r:.60}; give a number of seconds")
        if not (math.isfinite(timeout) and 0 < timeout <= _MOST_SECONDS):
            self.fail(f"timeout is {timeout!r}; give seconds up to {_MOST_SECONDS:g}")
        return float(timeout)

    def types_for(self, for_: Iterable[str] | None, *, writes: bool) -> frozenset[QueryType]:
        if for_ is None:
            return frozenset({QueryType.ACTION}) if writes else _ANY_QUESTION
        asked = [for_] if isinstance(for_, str) else list(for_)
        if not asked:
            self.fail('for_ is empty; leave it out, or write for_=["code"]')
        found = frozenset(kind for each in asked for kind in self._types_named(each))
        # Only an action can be granted a tool that writes.
        return found | {QueryType.ACTION} if writes else found

    def _types_named(self, name: object) -> frozenset[QueryType]:
        known = {kind.value: frozenset({kind}) for kind in QueryType if kind in _ANY_QUESTION}
        known |= {each: kind.query_types for each, kind in SOURCE_KINDS.items()} | known
        if name == _CONVERSATIONAL:
            self.fail("for_ has 'conversational', but such questions are offered no tools")
        if not isinstance(name, str) or name not in known:
            hint = did_you_mean(str(name), known) or f"; there are {', '.join(sorted(known))}"
            self.fail(f"for_ has {name!r:.60}{hint}")
        return known[name]

    def arguments(
        self, signature: inspect.Signature, words: Described, names: Mapping[str, Any]
    ) -> type[Arguments]:
        try:
            hints = get_type_hints(self._function, localns=dict(names), include_extras=True)
        except Exception as problem:  # an annotation can be any expression
            self.fail(f"its annotations cannot be read ({problem}); import the names they use")
        fields: dict[str, Any] = {
            key: (_field(_accepted(hints[key]), words.arguments.get(key)), _default(own))
            for key, own in signature.parameters.items()
        }
        try:
            # An argument may be called `copy` or `json`, as a method of the class is.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = create_model(self.name or "tool", __base__=Arguments, **fields)
                is_object = model_schema(made).get("type") == "object"
        except Exception as problem:
            why = str(problem).partition("\n")[0]
            self.fail(
                f"its arguments cannot be described as JSON ({why}); use str, int, float, bool, "
                "list, dict, Literal, a dataclass, a TypedDict or a pydantic model"
            )
        if not is_object:
            self.fail("an argument has the type of the tool's own arguments (Self); name a type")
        for key, own in signature.parameters.items():
            self._check_default(key, own.default, hints[key], made.model_fields[key])
        return made

    def _check_default(self, key: str, default: object, hint: Any, field: FieldInfo) -> None:
        if isinstance(default, FieldInfo):
            if field.is_required():
                return
            default = field.get_default(call_default_factory=True, validated_data={})
        if default is ...:
            self.fail(f"the default of {key!r} is `...`; leave it out if the argument is required")
        # `x: int = None` is common, and says what it means.
        if default is None or default is inspect.Parameter.empty:
            return
        try:
            TypeAdapter(hint).validate_python(default)
        except ValidationError:
            self.fail(f"the default of {key!r} is {default!r:.60}, which is not of its type")
        except Exception:
            return  # of a type that cannot be checked alone; the function knows its own default


def _default(own: inspect.Parameter) -> Any:
    if own.default is own.empty:
        return ...
    if isinstance(own.default, FieldInfo) or own.default is ...:
        return own.default
    try:
        to_jsonable_python(own.default)
    except (PydanticSerializationError, ValueError):
        # The function has its own default. The model only needs to know that there is one.
        return Field(default_factory=lambda: own.default)
    return own.default


def _accepted(hint: Any) -> Any:
    """Before Python 3.12 pydantic knows only the `TypedDict` of typing_extensions."""
    if sys.version_info >= (3, 12):
        return hint
    if is_typeddict(hint):
        from typing import NotRequired

        from typing_extensions import TypedDict

        fields = {
            key: _accepted(kind) if key in hint.__required_keys__ else NotRequired[_accepted(kind)]
            for key, kind in get_type_hints(hint, include_extras=True).items()
        }
        return TypedDict(hint.__name__, fields)  # pyright: ignore[reportGeneralTypeIssues, reportArgumentType]
    origin, given = get_origin(hint), get_args(hint)
    inner = tuple(_accepted(each) for each in given)
    if inner == given:
        return hint
    return (Union if origin is UnionType else origin)[inner]  # pyright: ignore[reportOptionalSubscript]


def _field(hint: Any, words: str | None) -> Any:
    """The type with its description: of `Annotated`, or else of the docstring."""
    notes = getattr(hint, "__metadata__", ())
    if any(isinstance(note, FieldInfo) and note.description for note in notes):
        return hint
    text = next((note for note in notes if isinstance(note, str)), words)
    return Annotated[hint, Field(description=text)] if text else hint


def _shown(file: str) -> str:
    """A path below the working directory is shown from there."""
    try:
        short = os.path.relpath(file)
    except (OSError, ValueError):
        return file
    return file if short.startswith("..") else short
