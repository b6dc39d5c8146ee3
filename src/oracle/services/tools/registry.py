"""What a tool is: its description for the model, its arguments, and the function that runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from oracle.errors import BadArguments, ToolProblem
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.models.source_kind import kind_named
from oracle.models.tool_spec import Role, ToolSpec, role_by_name
from oracle.services.tools.answer import Answer
from oracle.services.tools.arguments import read_arguments
from oracle.services.tools.plain_arguments import PlainArguments, plain_schema, plainly_read
from oracle.services.tools.tickets import Mark

A = TypeVar("A")
"""A class of arguments: of `PlainArguments`, or of `model_arguments.Arguments`."""


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
            given = read_arguments(arguments)
            cls: Any = self.arguments
            plain = plainly_read(cls, given) if issubclass(cls, PlainArguments) else None
            return _checked(self.arguments, given) if plain is None else cast("A", plain)
        except BadArguments as problem:
            raise ToolProblem(f"{self.name} was not run: {problem}. {self._usage()}") from None
        except ToolProblem as problem:
            raise ToolProblem(f"{self.name} was not run: {problem}") from None

    def _usage(self) -> str:
        schema = self.spec.parameters
        required = schema.get("required", ())
        taken = [
            f"{name} ({_type_of(part)}{'' if name in required else ', optional'})"
            for name, part in schema.get("properties", {}).items()
        ]
        return f"It takes {', '.join(taken) or 'no arguments'}."


def _checked(cls: type[A], given: Mapping[str, object]) -> A:
    # Imported here: it needs pydantic, and most calls are plainly right.
    from oracle.services.tools.model_arguments import checked

    return checked(cls, given)


def _type_of(schema: Mapping[str, Any]) -> str:
    options = schema.get("anyOf", [schema])
    kinds = ["object" if "$ref" in option else option.get("type") for option in options]
    return " or ".join(kind for kind in kinds if kind not in ("null", None)) or "any"


# Made once for each class: a process has many agents, and pydantic takes 2 ms for a class.
@lru_cache(maxsize=256)
def _schema_of(arguments: type[Any]) -> dict[str, Any]:
    if issubclass(arguments, PlainArguments):
        return plain_schema(arguments)
    from oracle.services.tools.model_arguments import model_schema

    return model_schema(arguments)
