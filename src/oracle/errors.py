"""Every error that oracle raises on purpose, split by who must act.

OracleError
├── InputError               the user gave something that cannot be used
│   ├── SourceFileError      … in a file, at a line
│   │   ├── TreeFileError
│   │   │   └── MisplacedNodeError  … a node that works only inside another tree
│   │   └── PromptFileError
│   ├── SettingsError        … in oracle.toml, in a variable or by a flag
│   └── NotFound             … the name of something that is not there
├── Failure                  the world said no; in a leaf it becomes FAILURE with this cause
│   ├── TimedOut
│   ├── BoundReached
│   ├── ModelError           the language model cannot be reached, or broke off
│   │   ├── ModelOverloaded  … for now: try again later
│   │   ├── ModelRefused     … with this key or name: change the settings
│   │   └── ContextTooLong   … with this much text: send less
│   ├── ToolProblem          a tool cannot do what was asked; the model reads why
│   │   └── AlreadyThere     … because the name is taken
│   ├── WebProblem           a page or a provider of the web cannot be read
│   ├── StoreError           the database cannot be reached, read or written
│   ├── LeaseHeld            another process is at work on the run
│   ├── InterruptedStream    the process died in the middle of it
│   └── InterruptedWrite     the process died, and nobody knows whether it was done
├── JournalError             what happens cannot be written down
│   └── ReplayDiverged       a replay needs what was never recorded
└── DeveloperError           our code or a leaf is wrong; it ends a run as `internal_error`
    ├── BlackboardError      a key that nobody declared, a value of the wrong type
    ├── LeafError            a leaf broke its contract or raised something unforeseen
    ├── StructureError       nodes that do not fit together
    └── RunawayError         a run that would never end
        ├── TickBudgetSpent
        └── NoProgress

A message names the value and what to do next. The classes carry what the doors need: `exit_code`
for the terminal, `status` for HTTP.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class OracleError(Exception):
    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500


class InputError(OracleError):
    exit_code = 2
    status = 400


class SourceFileError(InputError):
    """Reads `file:line: what is wrong`, the form that editors can jump to."""

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line


class TreeFileError(SourceFileError):
    pass


class MisplacedNodeError(TreeFileError):
    """An exit without its loop, or a task that nothing does: the tree relies on one around it."""


class PromptFileError(SourceFileError):
    pass


class SettingsError(InputError):
    """One line for each setting that cannot be used; each begins with the place where it stands."""

    exit_code = 78


class NotFound(InputError):  # noqa: N818 - the name is a sentence
    status = 404


class Failure(OracleError):  # noqa: N818 - it is not a bug in anybody's code
    pass


class TimedOut(Failure):
    status = 504


class BoundReached(Failure):
    pass


class ModelError(Failure):
    exit_code = 69
    status = 502


class ModelOverloaded(ModelError):  # noqa: N818 - the name is a sentence
    """`retry_after` are the seconds that the provider asks us to wait, where it says so."""

    status = 503

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRefused(ModelError):  # noqa: N818 - the name is a sentence
    exit_code = 78
    status = 424


class ContextTooLong(ModelError):  # noqa: N818 - the name is a sentence
    pass


class ToolProblem(Failure):
    """Says what is wrong with which value, and what to do instead."""


class AlreadyThere(ToolProblem):
    pass


class WebProblem(Failure):
    status = 502


class StoreError(Failure):
    exit_code = 74
    status = 503


class LeaseHeld(Failure):
    exit_code = 75
    status = 409

    def __init__(self, message: str, *, holder: str | None) -> None:
        super().__init__(message)
        self.holder = holder


class InterruptedStream(Failure):
    pass


class InterruptedWrite(Failure):
    pass


class JournalError(OracleError):
    exit_code = 74


class ReplayDiverged(JournalError):  # noqa: N818 - it is an outcome, not a bug
    exit_code = 4
    status = 409


class DeveloperError(OracleError):
    exit_code = 70


class BlackboardError(DeveloperError):
    pass


class LeafError(DeveloperError):
    pass


class StructureError(DeveloperError):
    pass


class RunawayError(DeveloperError):
    pass


class TickBudgetSpent(RunawayError):  # noqa: N818 - the name is a sentence
    pass


class NoProgress(RunawayError):  # noqa: N818 - the name is a sentence
    pass


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'sequence'?`, or nothing when no known word is near."""
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def named(value: object, longest: int = 120) -> str:
    """A value that a model or a user wrote, on one line and short enough for a message."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}…"
