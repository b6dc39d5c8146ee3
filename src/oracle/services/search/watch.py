"""Follows the file system: changes that come together become one update."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    return (report for _, report in follow_several({"": index}, stop))


def follow_several(
    indexes: Mapping[str, Index], stop: Event
) -> Iterator[tuple[str, RefreshReport]]:
    """The same for the indexes of several roots, by their names; the first is the project's own.

    A further root that is removed has no more changes to report.
    """
    from watchfiles import DefaultFilter, watch

    ignored = DefaultFilter(ignore_dirs=tuple(TOOL_FOLDERS), ignore_entity_patterns=())
    project = next(iter(indexes.values())).root
    changes = watch(
        *(index.root for index in indexes.values()),
        watch_filter=ignored,
        stop_event=stop,
        yield_on_timeout=True,
        rust_timeout=200,
        raise_interrupt=True,
    )
    # The watch begins before the refresh, so that no change falls between the two.
    next(changes, None)
    for name, index in indexes.items():
        yield name, index.refresh()
    for bundle in changes:
        if not project.is_dir():
            raise NotFound(
                f"{project} is gone, so there is nothing left to follow; "
                "start again in a folder that exists"
            )
        paths = [Path(path) for _, path in bundle]
        for name, index in indexes.items():
            own = [path for path in paths if path.is_relative_to(index.root)]
            if own and index.root.is_dir():
                report = index.update(own)
                if report.touched:
                    yield name, report
