"""Which of a project's own files the user trusts, remembered by their content.

Anybody can put a file into a project that the user only wants to look at. A file that was changed
after the user has seen it is another file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from oracle.services.own_code.files import CodeFile, CodeFiles
from oracle.services.settings.trust import VARIABLE, is_trusted
from oracle.services.user_files import recall, remember

Trust = Literal["trusted", "refused", "unknown"]
_TOPIC: Final = "own_code"
# What was said in this process. It counts even if the user's folder cannot be written.
_said_here: Final[dict[str, dict[str, Any]]] = {}


def trust_in(code: CodeFiles, environment: Mapping[str, str]) -> dict[str, Trust]:
    """What the user has said about each file, by its name."""
    if not code.files:
        return {}
    if is_trusted(code.root, code.digest, environment.get(VARIABLE, "")):
        return {file.name: "trusted" for file in code.files}
    said = _said(code)
    return {file.name: _trust(file, said) for file in code.files}


def trusted_files(code: CodeFiles, environment: Mapping[str, str]) -> list[CodeFile]:
    known = trust_in(code, environment)
    return [file for file in code.files if known[file.name] == "trusted"]


def remember_trust(
    code: CodeFiles, trust: Trust, names: Collection[str], *, only_here: bool = False
) -> None:
    """Keep what the user said about these files; `only_here` for this process alone.

    `StoreError` if it cannot be kept.
    """
    digests = {file.name: file.digest for file in code.files}
    new = {name: [trust, digests[name]] for name in names}
    # Files that are gone are forgotten: one that comes back is asked about again.
    kept = {name: value for name, value in _said(code).items() if name in digests}
    _said_here.setdefault(str(code.root), {}).update(new)
    if only_here:
        return
    remember(_TOPIC, str(code.root), {**kept, **new})


def how_to_trust(code: CodeFiles, names: Collection[str]) -> str:
    """One line about files that are not used, for users who cannot be asked."""
    shown = ", ".join(names)
    return (
        f"not used, because you have not trusted this code: {shown}; look at it, then run `oracle "
        f"tools trust`, or set {VARIABLE}={code.root}@{code.digest}"
    )


def _said(code: CodeFiles) -> Mapping[str, Any]:
    said: Any = recall(_TOPIC).get(str(code.root))
    kept: dict[str, Any] = said if isinstance(said, dict) else {}  # pyright: ignore[reportUnknownVariableType]
    return {**kept, **_said_here.get(str(code.root), {})}


def _trust(file: CodeFile, said: Mapping[str, Any]) -> Trust:
    for trust in ("trusted", "refused"):
        if said.get(file.name) == [trust, file.digest]:
            return trust
    return "unknown"
