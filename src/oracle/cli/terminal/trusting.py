"""Asks the person at the terminal whether to trust a project's own code, and loads it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from threading import Event
from typing import TYPE_CHECKING, Final

from oracle.cli.terminal.approval import YES, can_ask_a_person, reply_to
from oracle.cli.terminal.output import say
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.streams import keep_stdout
from oracle.errors import StoreError

if TYPE_CHECKING:
    from oracle.cli.terminal.progress import Volume
    from oracle.services.own_code.collecting import OwnCode
    from oracle.services.own_code.files import CodeFile, CodeFiles
    from oracle.settings import Settings

NO: Final = ("n", "no")
NOT_NOW: Final = "not used now; you will be asked again. `oracle tools trust` trusts it"
_shown: Final[set[str]] = set()


async def own_code(settings: Settings, *, volume: Volume = "normal") -> OwnCode:
    """The tools that the user brings along. Files that are new or changed are asked about."""
    from oracle.services.background import in_thread
    from oracle.services.own_code.collecting import load_tools

    if settings.root is not None and can_ask_a_person():
        # In a thread, so that Ctrl-C ends the wait for an answer.
        is_over = Event()
        try:
            await in_thread(_settle_trust, settings, is_over)
        finally:
            is_over.set()
    guard_stdout(settings)
    own = await in_thread(load_tools, settings.root)
    if volume != "quiet":
        say_problems(own.problems)
    if own.refused and volume in ("verbose", "everything"):
        names = ", ".join(own.refused)
        say_problems([f"not used, because you said no: {names}; `oracle tools trust` changes that"])
    return own


def guard_stdout(settings: Settings) -> None:
    """To be called before own code is run, and before anything is drawn on stdout."""
    from oracle.services.own_code.collecting import brings_code

    if brings_code(settings.root):
        from oracle.services.own_code.prints import keep_for_our_threads

        keep_stdout()
        keep_for_our_threads()


def say_problems(problems: Iterable[str]) -> None:
    """Each line once in a process: a chat loads the code before each question."""
    for problem in problems:
        if problem not in _shown:
            _shown.add(problem)
            say(printable(problem))


def _settle_trust(settings: Settings, is_over: Event) -> None:
    from oracle.services.own_code.files import find_code
    from oracle.services.own_code.trust import remember_trust, trust_in

    assert settings.root is not None
    code = find_code(settings.root)
    trust = trust_in(code, os.environ)
    unknown = [file for file in code.files if trust[file.name] == "unknown"]
    if unknown:
        say(trust_notice(code, unknown))
        reply = reply_to("Trust it?", is_over)
        if is_over.is_set():
            return
        if reply in (*YES, *NO):
            keep_trust(code, unknown, agrees=reply in YES)
        else:
            # Enter or Ctrl-D is easily pressed by mistake, so it decides nothing for good.
            remember_trust(code, "refused", [file.name for file in unknown], only_here=True)
            say_problems([NOT_NOW])


def trust_notice(code: CodeFiles, files: Sequence[CodeFile]) -> str:
    """What the question is about: each file with its size and the beginning of its digest."""
    rows = [f"- {file.name}: {_size(file)}, sha256 {file.digest[:12]}" for file in files]
    head = f"{code.root} has code of its own that would run on this machine, as you:"
    return "\n".join(map(printable, [head, *rows]))


def _size(file: CodeFile) -> str:
    lines = file.content.count(b"\n")
    return f"{lines} {'line' if lines == 1 else 'lines'}, {len(file.content):,} bytes"


def keep_trust(code: CodeFiles, files: Sequence[CodeFile], *, agrees: bool) -> None:
    from oracle.services.own_code.trust import remember_trust

    try:
        remember_trust(code, "trusted" if agrees else "refused", [file.name for file in files])
    except StoreError as problem:
        say_problems([f"this counts only for now: {problem}"])
    if not agrees:
        say_problems(["not trusted, so it is not used; `oracle tools trust` changes that"])
