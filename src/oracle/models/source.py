"""A place that a tool quotes, as data. It stays data from the tool to the answer's citations."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Listed(TypedDict):
    """A row of a map or a list: a file, or a folder with the `names` of its files.

    `lines` are those that the row shows of the file, `title` is a note's.
    """

    path: str
    names: NotRequired[list[str]]
    lines: NotRequired[list[int]]
    title: NotRequired[str]


class Source(TypedDict):
    """`where` names the place as an answer would cite it; `text` is exactly what was quoted.

    A file has `path`, `start` and `end` (lines, from 1); a note has its `title` besides; an entry
    of a thread has `entry`, its time; a page has its `url`. `digest` is of the content that was
    read. `score` says how well it matches, from 0 to 1. `whole` says that these are all the lines
    of the file. A map or a list has the rows that its text shows in `listed`, one for each line of
    the text that begins a row.
    """

    kind: str
    where: str
    text: str
    path: NotRequired[str]
    start: NotRequired[int]
    end: NotRequired[int]
    title: NotRequired[str]
    entry: NotRequired[str]
    url: NotRequired[str]
    digest: NotRequired[str]
    score: NotRequired[float]
    whole: NotRequired[bool]
    listed: NotRequired[list[Listed]]


class MoreUses(TypedDict):
    """How many uses of a name there are, where a result shows only some of them.

    `others` are files of which no line is shown; `more_files` counts those beyond that list.
    """

    name: str
    lines: int
    files: int
    shown: int
    others: list[str]
    more_files: int
