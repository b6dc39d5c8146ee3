"""A source that a tool quotes, as data. It stays data up to the citations of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NotRequired, TypedDict

from oracle.lazy_dataclass import dataclass


class Listed(TypedDict):
    """A row of a map or a list: a file, or a folder with the `names` of its files.

    `lines` are the lines of the file that the row shows. `title` is the title of a note.
    """

    path: str
    names: NotRequired[list[str]]
    lines: NotRequired[list[int]]
    title: NotRequired[str]


class Source(TypedDict):
    """`where` is the citation of the source; `text` is exactly what was quoted.

    A file has `path`, `start` and `end` (lines, from 1). A note also has its `title`. An entry of
    a thread has `entry`, its time. A web page has its `url`. `digest` is a hash of the content that
    was read. `score` is how well the source matches, from 0 to 1. `whole` means that these are all
    lines of the file. A map or a list has `listed`: one item for each row of its text, in order.
    `group` says what a list of members is made of. `symbol` is the definition around the lines.
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
    group: NotRequired[str]
    symbol: NotRequired[str]


class MoreUses(TypedDict):
    """The number of uses of a name, for a result that shows only some of them.

    `others` are files of which no line is shown. `more_files` counts further ones.
    """

    name: str
    lines: int
    files: int
    shown: int
    others: list[str]
    more_files: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What the user gives with a question.

    `text` has no name, such as piped input. `sources` are files and diffs. `is_pipe_empty` says
    that the user meant to give a text, but there was none. `seconds_waited` is how long the user
    has waited before the question reached the agent. It is part of the time that is shown and
    recorded, and counts for the time limit, up to half of it.
    """

    text: str = ""
    sources: Sequence[Source] = ()
    is_pipe_empty: bool = False
    seconds_waited: float = 0.0


NOTHING_GIVEN: Final = Given()
