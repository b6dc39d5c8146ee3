"""Follows the file system: changes that come together become one update."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

from oracle.errors import NotFound
from oracle.services.project.file_rules import TOOL_FOLDERS
from oracle.services.search.index import Index
from oracle.services.search.records import RefreshReport


def follow(index: Index, stop: Event) -> Iterator[RefreshReport]:
    """Yields a report of each update until `stop` is set. The first is a refresh.

    Raises `NotFound` if the project is removed.
    """
    from watchfiles import DefaultFilter, watch

    ignored = DefaultFilter(ignore_dirs=tuple(TOOL_FOLDERS), ignore_entity_patterns=())
    changes = watch(
        index.root,
        watch_filter=ignored,
        stop_event=stop,
        yield_on_timeout=True,
        rust_timeout=200,
        raise_interrupt=True,
    )
    # The watch begins before the refresh, so that no change falls between the two.
    next(changes, None)
    yield index.refresh()
    for bundle in changes:
        if not index.root.is_dir():
            raise NotFound(
                f"{index.root} is gone, so there is nothing left to follow; "
                "start again in a folder that exists"
            )
        if bundle:
            report = index.update(Path(path) for _, path in bundle)
            if report.touched:
                yield report
