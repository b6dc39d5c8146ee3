"""The process that runs grammars: requests come in on stdin, results go out on stdout.

A grammar is C code that is run on files of unknown origin. A bug in it can crash or hang the
process that it runs in, and it holds the interpreter's lock meanwhile. Here that harms nobody:
`grammar_pool` starts another process and goes on without the result.
"""

from __future__ import annotations

import marshal
import os
import resource
import signal
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from oracle.services.search.grammar_outline import PARSE_SECONDS, grammar_outline
from oracle.services.search.mentions import reference_lines

READY: Final = b"oracle-grammars\n"
LENGTH: Final = struct.Struct("!I")
_KILLED_AFTER: Final = 2 * PARSE_SECONDS
"""In seconds of CPU time. What can stop at its own deadline has stopped by then."""
_MOST_MEMORY: Final = 2 * 1024**3

Plain = Any
"""What `marshal` can write: numbers, texts, bytes, tuples and lists of them."""


def outline(source: bytes, language: str) -> Plain:
    found = grammar_outline(source, language)
    if found is None:
        return None
    symbols = [(each.name, each.kind, each.start, each.end, each.parent) for each in found.symbols]
    return symbols, list(found.remarks)


TASKS: Final[Mapping[str, Callable[..., Plain]]] = {
    "outline": outline,
    "references": reference_lines,
}


def serve() -> None:
    """Answer requests until stdin ends, which it does when the parent is gone."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Past the limit the grammar's allocator ends the process, before the whole machine suffers.
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most > _MOST_MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    os.write(1, READY)
    with os.fdopen(0, "rb") as requests, os.fdopen(1, "wb") as results:
        while length := requests.read(LENGTH.size):
            task, *arguments = marshal.loads(requests.read(*LENGTH.unpack(length)))
            # The signal's default action ends the process even inside of C code.
            signal.setitimer(signal.ITIMER_PROF, _KILLED_AFTER)
            result = marshal.dumps(TASKS[task](*arguments))
            signal.setitimer(signal.ITIMER_PROF, 0)
            results.write(LENGTH.pack(len(result)) + result)
            results.flush()
