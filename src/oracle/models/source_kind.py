"""The kinds of source, one row each: how it is read, how it is cited, and its names.

A new kind is a row here, its tools in `services/tools`, and a line for each tool in
`services/tools/project_tools.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import NEEDS, QueryType

if TYPE_CHECKING:
    from collections.abc import Mapping

Need = Literal["code", "vault", "web"]
CitationForm = Literal["file", "note", "entry", "page"]
"""How an answer cites a source.

| form | looks like |
| --- | --- |
| file | `src/auth.py:3-9` |
| note | `docs/auth.md:3-9` or `[[Title]]` |
| entry | `thread:storage@2026-01-08T12:00:00Z`: the prefix of the kind, a name and a time |
| page | an address |
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceKind:
    """`need` is the field of `Needs` that asks for this kind. `argument` is the parameter of its
    reading tool that names one source. `words` are names of the kind in a `need_capability` signal.
    `setup` tells the user how to have tools for it, if a project may have none.
    """

    name: str
    need: Need
    argument: str
    citation: CitationForm
    words: frozenset[str]
    prefix: str = ""
    is_local: bool = True
    setup: str = ""

    @property
    def has_lines(self) -> bool:
        """Whether its sources are files of the project, cited by lines."""
        return self.citation in ("file", "note")

    @property
    def is_prose(self) -> bool:
        return self.citation != "file"

    @property
    def query_types(self) -> frozenset[QueryType]:
        """The question types that are granted its reading tools from the start."""
        return frozenset(type_ for type_, needs in NEEDS.items() if getattr(needs, self.need))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ROWS: Final = (
    SourceKind(
        name="code",
        need="code",
        argument="path",
        citation="file",
        words=_words("code codebase source repository repo definition file files folder directory"),
    ),
    SourceKind(
        name="vault",
        need="vault",
        argument="note",
        citation="note",
        words=_words("vault note notes docs documentation adr markdown wiki"),
    ),
    SourceKind(
        name="threads",
        need="vault",
        argument="thread",
        citation="entry",
        prefix="thread",
        words=_words("thread threads decision decisions discussion discussions"),
    ),
    SourceKind(
        name="web",
        need="web",
        argument="url",
        citation="page",
        words=_words("web internet online url urls page pages browse browser website google http"),
        is_local=False,
        setup=(
            "`oracle config set web.provider NAME` configures a web search by searxng, tavily, "
            "brave or ddgs"
        ),
    ),
)
SOURCE_KINDS: Final[Mapping[str, SourceKind]] = {row.name: row for row in _ROWS}
PREFIXES: Final = tuple(row.prefix for row in _ROWS if row.prefix)
"""The prefixes of citations of entries, without the colon."""

# A tool of another server may name a kind that is not in the table. It gets no special treatment.
_UNKNOWN: Final = SourceKind(
    name="", need="code", argument="name", citation="file", words=frozenset(), is_local=False
)


def kind_with_prefix(prefix: str) -> SourceKind:
    """The kind whose entries are cited with this prefix."""
    return next((row for row in _ROWS if row.prefix == prefix), _UNKNOWN)


def kind_named(name: object) -> SourceKind:
    """The row of this name, or a neutral one for a name that is not in the table."""
    return SOURCE_KINDS.get(str(name), _UNKNOWN)
