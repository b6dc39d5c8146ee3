"""What the tools of one project share: the workspace and the form of their answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from oracle.errors import ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.models.source_kind import kind_named
from oracle.services.background import in_thread
from oracle.services.project.safe_open import inner_path
from oracle.services.search.records import Hit, Kind
from oracle.services.tools.answer import Answer, place
from oracle.services.tools.files import FileText, ProjectFiles
from oracle.services.tools.lookup import Lookup, with_left_out
from oracle.services.tools.threads import Threads
from oracle.services.tools.vault import Vault, title_of
from oracle.services.web.fetching import Fetcher
from oracle.services.web.searching import WebSearchAccess


@dataclass(frozen=True, kw_only=True)
class Workspace:
    files: ProjectFiles
    lookup: Lookup
    vault: Vault
    threads: Threads
    fetcher: Fetcher
    web: WebSearchAccess
    notes_folder: str = "notes"
    dry_run: bool = False


def place_to_look(work: Workspace, path: str | None) -> str:
    """The folder or file to search in. If it is missing, that is a problem, not an empty result."""
    inside = inner_path(path or "")
    if inside and not work.files.exists(inside):
        raise ToolProblem(
            f"there is no folder or file {named(path)} to search in; leave path out, or name "
            "a folder that you have seen"
        )
    return inside


def lines_of(text: FileText, start: int, end: int, kind: str) -> Source:
    """Lines `start` to `end` as a source; fewer if the file is shorter."""
    quoted = text.lines[start - 1 : end]
    last = start + max(len(quoted), 1) - 1
    source = Source(
        kind=kind,
        where=place(text.path, start, last),
        text="\n".join(quoted),
        path=text.path,
        start=start,
        end=last,
        digest=text.digest,
    )
    if start == 1 and last == len(text.lines) and not text.is_partial:
        source["whole"] = True
    if kind_named(kind).citation == "note":
        source["title"] = title_of(text)
    return source


async def search_files(
    work: Workspace, kind: Kind, query: str, limit: int, path: str | None, *, of: str
) -> Answer:
    """The answer of a tool that searches files of one kind. `of` names what it finds."""
    under = place_to_look(work, path)
    hits = await work.lookup.search(query, kind, limit, under=under)
    sources = await in_thread(quoted_hits, work.files, hits, kind)
    answer = found_places(query, sources, of=of, otherwise=ADVICE_IF_EMPTY)
    return with_left_out(answer, work.lookup)


def quoted_hits(files: ProjectFiles, hits: Iterable[Hit], kind: str) -> list[Source]:
    """The lines as they are now. A file that is gone or has become too short is left out."""
    sources: list[Source] = []
    for hit in hits:
        try:
            text = files.read(hit.path)
        except ToolProblem:
            continue
        if hit.start <= max(1, len(text.lines)):
            source = lines_of(text, hit.start, hit.end, kind)
            source["score"] = hit.score
            sources.append(source)
    return sources


def found_places(query: str, sources: Sequence[Source], *, of: str, otherwise: str) -> Answer:
    """The answer of a search: `of` says what was found, `otherwise` what to do if nothing was."""
    if not sources:
        return Answer(summary=f"No {of} match {named(query)}. {otherwise}", empty=True)
    return Answer(
        summary=f"Found {of} for {named(query)}: {len(sources)}, best first.",
        findings=sources,
        rest=lambda shown, lines: "Narrow the query or the path, or ask for fewer with limit.",
    )


ADVICE_IF_EMPTY: Final = (
    "Try one other word from the source itself (an identifier, a part of a name), or another "
    "source; then say that it was not found."
)
"""What the model should do if a search finds nothing. No tool is named: it may not be granted."""
