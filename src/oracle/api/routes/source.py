"""Lines of a file that an answer cites: as text for a client that follows the citation, and as data
for the page. Both are read in the same way.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from oracle.api.door import Door, TheDoor
from oracle.errors import InputError, NotFound, ToolProblem
from oracle.lazy_dataclass import dataclass
from oracle.services.background import in_thread
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.project.roots import Roots
from oracle.services.tools.files import FileText, ProjectFiles
from oracle.services.tools.rooted_files import RootedFiles
from oracle.services.tools.writing import file_name

router = APIRouter(prefix="/api")

MOST_LINES: Final = 2_000
"""As data, where each line is an object."""

AnyPath = Annotated[str, Query(min_length=1, max_length=1000, description="From the root")]
Line = Annotated[int | None, Query(ge=1, le=10**9)]


@router.get(
    "/source",
    responses={200: {"content": {"text/plain": {"example": "def login():"}}}},
    response_model=None,
    tags=["runs"],
)
async def source(
    door: TheDoor, path: AnyPath, start: Line = None, end: Line = None
) -> PlainTextResponse:
    """A file of the project, or some of its lines, as the tools read it: without secrets."""
    part = await _part_of(door, path, start, end)
    # Nobody shall take a file of the project for a page of this server.
    headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}
    return PlainTextResponse("\n".join(part.lines), headers=headers)


@router.get("/lines", tags=["page"])
async def lines(
    door: TheDoor,
    path: Annotated[str, Query(max_length=1000, description="From the root")] = "",
    note: Annotated[str, Query(max_length=200, description="Instead: the title of a note")] = "",
    thread: Annotated[str, Query(max_length=200, description="Instead: a thread's name")] = "",
    first: Line = None,
    last: Line = None,
    digest: Annotated[
        str, Query(max_length=64, description="Of the file as it was read, to see if it changed")
    ] = "",
) -> dict[str, Any]:
    """The same as data, at most 2,000 lines. A note and a thread are found as their tools do."""
    part = await _part_of(door, path or _written_at(door, note, thread), first, last)
    shown = part.lines[:MOST_LINES]
    return {
        "path": part.text.path,
        "lines": [{"n": number, "text": line} for number, line in enumerate(shown, part.first)],
        "first": part.first,
        "last": part.first + len(shown) - 1,
        "total": len(part.text.lines),
        "changed": not part.text.digest.startswith(digest) if digest else None,
    }


def _written_at(door: Door, note: str, thread: str) -> str:
    folder = door.settings.vault.notes if note else THREADS_FOLDER
    name = file_name(note or thread.removesuffix(".md"))
    if name is None:
        raise InputError("send the path of a file, the title of a note, or the name of a thread")
    return f"{folder}/{name}.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    text: FileText
    first: int
    lines: tuple[str, ...]


async def _part_of(door: Door, path: str, first: int | None, last: int | None) -> _Part:
    """Of a file that has become shorter since it was cited, the last line is shown."""
    if first is not None and last is not None and last < first:
        raise InputError(f"line {last} is before line {first}; send the smaller number first")
    text = await in_thread(lambda: _read(door, path))
    begin = min(first or 1, max(1, len(text.lines)))
    return _Part(text=text, first=begin, lines=tuple(text.lines[begin - 1 : last]))


def _read(door: Door, path: str) -> FileText:
    settings = door.settings
    kept, secrets = settings.vault.kept, settings.secrets.rules
    files = ProjectFiles(door.root, kept=kept, secrets=secrets)
    if settings.roots:
        roots = Roots(main=door.root, others=settings.roots)
        files = RootedFiles(roots, kept=kept, secrets=secrets)
    try:
        return files.read(path)
    except ToolProblem as problem:
        # Its next step is for a model. What may not be read is like what does not exist.
        raise NotFound(str(problem).partition(";")[0]) from None
