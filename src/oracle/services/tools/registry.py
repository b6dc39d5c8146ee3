"""What a tool is: its description for the model, its arguments, and the function that runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from oracle.errors import ToolProblem, did_you_mean, named
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.models.source_kind import kind_named
from oracle.models.tool_spec import Role, ToolSpec, role_by_name
from oracle.services.tools.answer import Answer, one_line
from oracle.services.tools.arguments import read_arguments
from oracle.services.tools.tickets import Mark


class Arguments(BaseModel):
    """The arguments that a model writes to call a tool. An undeclared name is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, kw_only=True)
class Writes(Generic[A]):
    """How a tool recognises its own write after a crash.

    `mark` is called before the write is recorded as intended. The mark is recorded with it, and
    `run` gets it. After a crash `was_done` gets it: it returns what was done, or None if certainly
    nothing was, and raises `InterruptedWrite` if it cannot know.
    """

    mark: Callable[[A], Awaitable[Mark]]
    run: Callable[[A, Mark | None], Awaitable[Answer]]
    was_done: Callable[[A, Mark], Awaitable[Answer | None]]


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[A]):
    """One tool. `run` returns an answer or raises `ToolProblem`. A tool that writes has the role
    `write`. Without `writes`, nothing is known about its writes after a crash, so they are reported
    and never done again.

    Without `query_types` the tool is offered for questions that need its kind of source; a tool
    that writes is offered for actions.
    """

    name: str
    description: str
    arguments: type[A]
    run: Callable[[A], Awaitable[Answer]]
    source: str | None
    role: Role | None = None
    query_types: frozenset[QueryType] | None = None
    writes: Writes[A] | None = None
    timeout: float = 20.0
    needs_yes: bool = False

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters=deepcopy(_schema_of(self.arguments)),
            query_types=self._types() if self.query_types is None else self.query_types,
            writes=self.is_writing,
            source=self.source,
            role=self.role,
            needs_yes=self.needs_yes,
        )

    @property
    def is_writing(self) -> bool:
        return self.writes is not None or (self.role or role_by_name(self.name)) == "write"

    def _types(self) -> frozenset[QueryType]:
        if self.is_writing:
            return frozenset({QueryType.ACTION})
        return kind_named(self.source).query_types if self.source else frozenset()

    def read(self, arguments: Mapping[str, object] | str) -> A:
        """Raises `ToolProblem`, which says what is wrong and what would be right."""
        try:
            return self.arguments.model_validate(read_arguments(arguments))
        except ToolProblem as problem:
            raise ToolProblem(f"{self.name} was not run: {problem}") from None
        except ValidationError as problem:
            known = self.arguments.model_fields
            details = problem.errors(include_url=False, include_context=False)
            faults = "; ".join(_fault(detail, list(known)) for detail in details[:5])
            raise ToolProblem(f"{self.name} was not run: {faults}. {self._usage()}") from None

    def _usage(self) -> str:
        taken = [
            f"{name} ({_type_of(schema)}{'' if name in self._required else ', optional'})"
            for name, schema in self.spec.parameters.get("properties", {}).items()
        ]
        return f"It takes {', '.join(taken) or 'no arguments'}."

    @property
    def _required(self) -> list[str]:
        return [name for name, field in self.arguments.model_fields.items() if field.is_required()]


def _fault(detail: ErrorDetails, known: list[str]) -> str:
    name = ".".join(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        return f"it has no argument {named(name)}{did_you_mean(name[:100], known)}"
    if detail["type"] == "missing":
        return f"the argument {name!r} is missing"
    return f"{name} is {named(detail['input'], 80)}: {one_line(detail['msg'])}"


def _type_of(schema: Mapping[str, Any]) -> str:
    kinds = [kind for option in schema.get("anyOf", [schema]) if (kind := option.get("type"))]
    return " or ".join(kind for kind in kinds if kind != "null") or "any"


# Made once for each class: a process has many agents, and pydantic takes 2 ms for a class.
@lru_cache(maxsize=256)
def _schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    return _without_titles(arguments.model_json_schema())


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Titles repeat the names, and `null` means the same as leaving out. Both only cost tokens.

    Where a value is required it cannot be left out, so `null` stays.
    """
    kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
    slim = _plain(kept)
    return {**slim, "properties": slim.get("properties", {})}


def _plain(part: dict[str, Any], *, is_required: bool = True) -> dict[str, Any]:
    """One schema and those inside of it, without titles, and without `null` if it is optional."""
    required = part.get("required", ())
    made = {key: _inner(key, value, required) for key, value in part.items() if key != "title"}
    if made.get("default", 0) is None:
        del made["default"]
    options = [
        option for option in made.pop("anyOf", []) if is_required or option.get("type") != "null"
    ]
    if len(options) == 1:
        return {**options[0], **made}
    return {**made, "anyOf": options} if options else made


def _inner(key: str, value: Any, required: Collection[str]) -> Any:
    """Schemas are by name, in a list, or alone. Values such as a default are no schemas."""
    if key == "properties":
        return {name: _plain(part, is_required=name in required) for name, part in value.items()}
    if key == "$defs":
        return {name: _plain(part) for name, part in value.items()}
    if key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        return [_plain(part) for part in value]
    is_schema = key in ("items", "additionalProperties") and value not in (True, False)
    return _plain(value) if is_schema else value
