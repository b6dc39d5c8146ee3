"""Tables of cheap rows as one test each.

Around a test pytest and its workers use about 5 ms of CPU time. For thousands of rows that take
microseconds each, that is most of what a run costs.
"""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

PROBLEMS = (Exception, pytest.fail.Exception)
SHOWN = 20
"""So many failing rows are named; a change that breaks all rows needs no more."""


def each_row(
    names: str | Sequence[str],
    rows: Iterable,
    *,
    ids: Callable[[Any], Any] | Iterable[str] | None = None,
) -> Callable[[Callable], Callable]:
    """Like `pytest.mark.parametrize`, but one test for all rows, which names each that fails.

    For rows that are quick and leave nothing behind: all have the same home directory. Several
    tables above one test are combined, and each other argument is a fixture, the same for all rows.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = _table(names, rows, ids)
    assert table, "a table without rows tests nothing"

    def decorate(test: Callable) -> Callable:
        one_row = getattr(test, "one_row", test)
        combined = [
            ("-".join(filter(None, (label, above))), given | more)
            for (above, more), (label, given) in itertools.product(
                table, getattr(test, "table", [("", {})])
            )
        ]
        if inspect.iscoroutinefunction(one_row):

            async def all_rows(**fixtures):
                __tracebackhide__ = True
                failed = []
                for label, given in combined:
                    try:
                        await one_row(**given, **fixtures)
                    except PROBLEMS as problem:
                        failed.append((label, problem))
                _report(failed, len(combined))
        else:

            def all_rows(**fixtures):
                __tracebackhide__ = True
                failed = []
                for label, given in combined:
                    try:
                        one_row(**given, **fixtures)
                    except PROBLEMS as problem:
                        failed.append((label, problem))
                _report(failed, len(combined))

        functools.update_wrapper(all_rows, one_row)
        # pytest reads the signature: what is in a row is not a fixture.
        signature = inspect.signature(one_row)
        of_rows = combined[0][1]
        fixtures = [given for name, given in signature.parameters.items() if name not in of_rows]
        all_rows.__signature__ = signature.replace(parameters=fixtures)
        del all_rows.__wrapped__
        all_rows.one_row, all_rows.table = one_row, combined
        return all_rows

    return decorate


def _table(names: list[str], rows: Iterable, ids: Any) -> list[tuple[str, dict[str, Any]]]:
    table = []
    labels = iter(ids) if ids is not None and not callable(ids) else None
    for row in rows:
        values, label = _values(row, len(names))
        if label is None and labels is not None:
            label = next(labels)
        elif label is None:
            label = "-".join(_label(value, ids) for value in values)
        table.append((str(label), dict(zip(names, values, strict=True))))
    return table


def _values(row: Any, width: int) -> tuple[tuple, str | None]:
    if hasattr(row, "marks"):
        assert not row.marks, "a row with a mark needs a test of its own: use parametrize"
        return tuple(row.values), row.id
    return ((row,) if width == 1 else tuple(row)), None


def _label(value: Any, ids: Callable[[Any], Any] | None) -> str:
    named = ids(value) if ids is not None else None
    shown = repr(value) if named is None else str(named)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _report(failed: list[tuple[str, BaseException]], count: int) -> None:
    __tracebackhide__ = True
    if not failed:
        return
    lines = [f"{len(failed)} of {count} rows fail:"]
    lines += [f"[{label}] {type(problem).__name__}: {problem}" for label, problem in failed[:SHOWN]]
    if len(failed) > SHOWN:
        lines.append(f"and {len(failed) - SHOWN} more")
    # The first is the cause, so its traceback is shown, with the values of the assertion.
    raise AssertionError("\n".join(lines)) from failed[0][1]
