"""All errors that oracle raises on purpose, grouped by who must act.

OracleError
├── InputError               the user must change the input
│   ├── SourceFileError      … in a file, at a line
│   │   ├── TreeFileError
│   │   │   └── MisplacedNodeError  … a node that works only inside another tree
│   │   ├── PromptFileError
│   │   └── OwnCodeError     … in a tool or a leaf that the user wrote
│   ├── SettingsError        … in oracle.toml, in a variable or in a flag
│   ├── NotFound             … a name that does not exist
│   └── Forbidden            … or the token, which does not allow it
├── Failure                  something outside failed; a leaf returns FAILURE with this cause
│   ├── TimedOut
│   ├── BoundReached
│   ├── ModelError           the model cannot be reached, or its response broke off
│   │   ├── ModelUnreachable … there is no connection, so nothing was sent
│   │   ├── ModelOverloaded  … try again later
│   │   ├── ModelBrokeOff    … the connection ended before the response did
│   │   ├── ModelRefused     … change the key or the model's name in the settings
│   │   └── ContextTooLong   … send less text
│   ├── ToolProblem          a tool cannot do what was asked; the model reads why
│   │   ├── AlreadyThere     … because the name is taken
│   │   └── BadArguments     … with these arguments
│   ├── WebProblem           a web page or a search provider cannot be read
│   ├── StoreError           the database cannot be reached, read or written
│   │   └── StoreRuleError   … because one of its rules does not allow the change
│   ├── LeaseHeld            another process is working on the run
│   ├── TooManyRuns          a server works on as many runs as it may
│   ├── SpendLimitReached    a budget of a day or a month is used up
│   │   └── SpendHeld        … until runs under way have ended, which hold the rest of it
│   ├── RunHandedOver        the server stops, and the next one goes on with the run
│   ├── InterruptedStream    the process died in the middle of a response
│   └── InterruptedWrite     a crash or a limit of time; the write may or may not have happened
├── JournalError             the run cannot be recorded
│   └── ReplayDiverged       a replay needs something that was never recorded
└── DeveloperError           our code or a leaf is wrong; the run ends as `internal_error`
    ├── BlackboardError      an undeclared key, or a value of the wrong type
    ├── LeafError            a leaf broke its contract or raised an unexpected error
    ├── StructureError       nodes that do not fit together
    └── RunawayError         a run that would never end
        ├── TickBudgetSpent
        └── NoProgress

A message names the value and the next step. The classes carry what the callers at the edges need:
`exit_code` for the terminal, `status` for HTTP.
"""

from __future__ import annotations

import errno
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
    """The message starts with `file:line:`, a form that editors can jump to."""

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line


class TreeFileError(SourceFileError):
    pass


class MisplacedNodeError(TreeFileError):
    """An exit without its loop, or a task that no node does: the tree needs one around it."""


class PromptFileError(SourceFileError):
    pass


class OwnCodeError(SourceFileError):
    pass


class SettingsError(InputError):
    """One line for each mistake; each line starts with its file and line, variable or flag."""

    exit_code = 78


class NotFound(InputError):  # noqa: N818 - the name is a sentence
    status = 404


class Forbidden(InputError):  # noqa: N818 - the name is a sentence
    """`scope` is what the token lacks."""

    status = 403

    def __init__(self, message: str, *, scope: str) -> None:
        super().__init__(message)
        self.scope = scope


class Failure(OracleError):  # noqa: N818 - it is not a bug
    pass


class TimedOut(Failure):
    status = 504


class BoundReached(Failure):
    pass


class ModelError(Failure):
    exit_code = 69
    status = 502


class ModelUnreachable(ModelError):  # noqa: N818 - the name is a sentence
    pass


class ModelOverloaded(ModelError):  # noqa: N818 - the name is a sentence
    """`retry_after` is the time in seconds that the provider asks for, if it does."""

    status = 503

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelBrokeOff(ModelError):  # noqa: N818 - the name is a sentence
    pass


class ModelRefused(ModelError):  # noqa: N818 - the name is a sentence
    exit_code = 78
    status = 424


class ContextTooLong(ModelError):  # noqa: N818 - the name is a sentence
    pass


class ToolProblem(Failure):
    """The message says which value is wrong, and what to do instead."""


class AlreadyThere(ToolProblem):
    pass


class BadArguments(ToolProblem):
    """Of a call: one is missing, unknown, or not what the tool takes."""


class WebProblem(Failure):
    status = 502


class StoreError(Failure):
    exit_code = 74
    status = 503


class StoreRuleError(StoreError):
    """To try again would not help."""


class LeaseHeld(Failure):
    exit_code = 75
    status = 409

    def __init__(self, message: str, *, holder: str | None) -> None:
        super().__init__(message)
        self.holder = holder


class TooManyRuns(Failure):
    """`retry_after` is in seconds."""

    exit_code = 75
    status = 429

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SpendLimitReached(Failure):
    """`left` is what is left of the budget, in money or tokens (`unit`). `renews_at` is when it
    renews, in seconds since 1970. `retry_after` is in seconds.
    """

    exit_code = 75
    status = 429

    def __init__(
        self,
        message: str,
        *,
        left: float,
        unit: str,
        renews_at: float,
        retry_after: float,
    ) -> None:
        super().__init__(message)
        self.left = left
        self.unit = unit
        self.renews_at = renews_at
        self.retry_after = retry_after


class SpendHeld(SpendLimitReached):
    pass


class RunHandedOver(Failure):
    status = 503


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


def did_you_mean(word: str, known: Iterable[str], *, step: str = "") -> str:
    """`; did you mean 'sequence'?`, or an empty text if no known word is similar.

    With a `step`, which is said in both cases: ` (did you mean 'sequence'?); the step`.
    """
    close = get_close_matches(word, list(known), n=1)
    if not step:
        return f"; did you mean {close[0]!r}?" if close else ""
    return f" (did you mean {close[0]!r}?); {step}" if close else f"; {step}"


def named(value: object, longest: int = 120) -> str:
    """A value from a model or a user, on one line and short enough for a message."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}…"


def with_article(noun: str) -> str:
    """`an int`, `a dict`."""
    return f"{'an' if noun[:1].lower() in {*'aeio'} else 'a'} {noun}"


def unless_full(problem: Exception, step: str) -> str:
    """The step after a file that cannot be written. On a full disk it is another one."""
    if getattr(problem, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return "free some space, then try again"
    return step
