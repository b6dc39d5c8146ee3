"""Citations as links, on a terminal that can follow them (OSC 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote

_CLOSING: Final = "\x1b]8;;\x1b\\"
_FIRST_VTE: Final = 5000
_PROGRAMS: Final = frozenset({"ghostty", "Hyper", "iTerm.app", "rio", "Tabby", "vscode", "WezTerm"})
_TERMS: Final = ("alacritty", "contour", "foot", "ghostty", "kitty", "wezterm")
_VARIABLES: Final = ("DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WEZTERM_PANE", "WT_SESSION")


def can_link(environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Whether escape codes for links may be written there.

    `FORCE_HYPERLINK` decides for a terminal that is not known here: `1` has links, `0` has none.
    """
    term = environment.get("TERM", "")
    if not is_terminal or environment.get("NO_COLOR") or term in ("", "dumb"):
        return False
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    vte = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in _PROGRAMS
        or any(name in term for name in _TERMS)
        or any(environment.get(name) for name in _VARIABLES)
        or (vte.isdecimal() and len(vte) < 10 and int(vte) >= _FIRST_VTE)
    )


def with_links(answer: str, citations: Sequence[Mapping[str, Any]] | None, *, root: Path) -> str:
    """The answer of `done` with a link on each citation that holds.

    `citations` are those of the `sources` chunk. A file is linked to its line, below `root`.
    """
    pieces: list[str] = []
    place = 0
    for citation in citations or ():
        start, end = citation["span"]
        target = target_of(citation, root=root)
        if target and place <= start and answer[start:end] == citation["text"]:
            pieces += [answer[place:start], f"\x1b]8;;{target}\x1b\\{answer[start:end]}{_CLOSING}"]
            place = end
    return "".join([*pieces, answer[place:]])


def target_of(citation: Mapping[str, Any], *, root: Path) -> str:
    """Where a citation leads; empty for one that leads nowhere."""
    if citation["status"] not in ("resolved", "moved"):
        return ""
    if citation["url"]:
        return quote(citation["url"], safe="%/:=&?~#+!$,;'@()*[]")
    path = PurePosixPath(citation["path"])
    if not citation["path"] or path.is_absolute() or ".." in path.parts:
        return ""
    line = f"#{citation['start']}" if citation["start"] else ""
    return (root / path).as_uri() + line
