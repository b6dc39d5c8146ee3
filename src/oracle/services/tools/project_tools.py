"""The table of all tools of a project. A tool exists if it is listed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from oracle.errors import InputError, ToolProblem
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.project.roots import Root, Roots
from oracle.services.project.safe_open import inner_path
from oracle.services.project.secret_files import OURS, SecretFiles
from oracle.services.tools.executor import ToolBox
from oracle.services.tools.files import ProjectFiles
from oracle.services.tools.find_definition import find_definition
from oracle.services.tools.get_project_facts import get_project_facts
from oracle.services.tools.get_repo_map import get_repo_map
from oracle.services.tools.list_members import list_members
from oracle.services.tools.list_notes import list_notes
from oracle.services.tools.lookup import Lookup
from oracle.services.tools.push_thread import push_thread
from oracle.services.tools.read_file import read_file
from oracle.services.tools.read_note import read_note
from oracle.services.tools.read_thread import read_thread
from oracle.services.tools.registry import Tool
from oracle.services.tools.rooted_files import RootedFiles
from oracle.services.tools.rooted_index import project_index
from oracle.services.tools.search_code import search_code
from oracle.services.tools.search_threads import search_threads
from oracle.services.tools.search_vault import search_vault
from oracle.services.tools.threads import Threads, utc_now
from oracle.services.tools.vault import Vault
from oracle.services.tools.web_fetch import web_fetch
from oracle.services.tools.web_search import web_search
from oracle.services.tools.workspace import Workspace
from oracle.services.tools.write_note import write_note
from oracle.services.web.fetching import Fetcher
from oracle.services.web.searching import WebSearchAccess

TOOLS: Final[tuple[Callable[[Workspace], Tool[Any]], ...]] = (
    search_code,
    read_file,
    get_repo_map,
    find_definition,
    get_project_facts,
    list_members,
    search_vault,
    read_note,
    list_notes,
    write_note,
    search_threads,
    read_thread,
    push_thread,
    web_search,
    web_fetch,
)
NAMES: Final = frozenset(make.__name__ for make in TOOLS)
"""The names of the built-in tools, which no other tool may have."""


def project_tools(
    root: Path,
    *,
    notes_folder: str = "notes",
    secrets: SecretFiles = OURS,
    dry_run: bool = False,
    web: WebSearchAccess | None = None,
    index: Lookup | None = None,
    fetcher: Fetcher | None = None,
    now: Callable[[], datetime] = utc_now,
    own: Iterable[Tool[Any]] = (),
    roots: tuple[Root, ...] = (),
) -> ToolBox:
    """`now` gives the times of new entries in threads. `own` are tools in addition to these.

    Without an `index`, one is kept in memory and nothing is written for it. `roots` are further
    folders, which are read and never written.
    """
    folder = _folder_for_notes(notes_folder)
    kept = (folder, THREADS_FOLDER)
    files = ProjectFiles(root, kept=kept, secrets=secrets)
    if roots:
        files = RootedFiles(Roots(main=root, others=roots), kept=kept, secrets=secrets)
    if index is None:
        index = project_index(root, roots, kept=kept, secrets=secrets, on_disk=False)
    workspace = Workspace(
        files=files,
        lookup=index,
        vault=Vault(files),
        threads=Threads(files, now=now),
        fetcher=fetcher or Fetcher(),
        web=web or WebSearchAccess(),
        notes_folder=folder,
        dry_run=dry_run,
    )
    # A tool that can only fail would cost calls, and hide that the web is missing.
    can_work = (make for make in TOOLS if make is not web_search or workspace.web.provider)
    return ToolBox((*(make(workspace) for make in can_work), *own))


def _folder_for_notes(folder: str) -> str:
    try:
        inside = inner_path(folder)
    except ToolProblem:
        inside = ""
    if not inside or inside.split("/")[0] in (".git", ".oracle", THREADS_FOLDER):
        raise InputError(
            f"vault.notes {folder!r} is not a folder for notes; name one inside the project, such "
            "as 'notes'"
        )
    return inside
