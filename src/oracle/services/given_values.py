"""What a program passes to `Oracle`, checked where it comes in.

A value of a wrong type is named there. Further inside it would end a run as an internal error.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from oracle.errors import InputError, named


def check_type(
    name: str, value: object, kinds: type | tuple[type, ...], step: str, *, optional: bool = False
) -> None:
    """Raise `InputError` unless the value is one of the `kinds`, or None if it is optional."""
    if (value is None and optional) or isinstance(value, kinds):
        return
    raise InputError(f"{name} is {named(value)}; {step}")


def check_callable(name: str, value: object, step: str) -> None:
    if value is not None and not callable(value):
        raise InputError(f"{name} is {named(value)}; {step}")


def check_question(question: object, context_id: object, attachment: object) -> None:
    check_type("the question", question, str, "give text")
    step = "give the context_id of an earlier answer, or leave it out"
    check_type("context_id", context_id, str, step, optional=True)
    check_type("attachment", attachment, str, "give text; files are named in attachments")


def paths_in(files: object) -> list[str]:
    """A single path is easily given without a list, and a text is a sequence of letters."""
    step = "give a list of paths, such as ['src/a.py:10-40']"
    if files is None:
        return []
    if isinstance(files, str | Path):
        return [str(files)]
    if not isinstance(files, Iterable) or isinstance(files, bytes | bytearray):
        raise InputError(f"attachments is {named(files)}; {step}")
    paths: list[str] = []
    for each in files:  # pyright: ignore[reportUnknownVariableType]
        check_type("an attachment", each, (str, Path), step)  # pyright: ignore[reportUnknownArgumentType]
        paths.append(str(each))  # pyright: ignore[reportUnknownArgumentType]
    return paths
