"""Citations and places as links, on a terminal that can follow them (OSC 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote

_CLOSING: Final = "\x1b]8;;\x1b\\"
_FIRST_VTE: Final = 5000
_LOOK_AHEAD: Final = 20
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


def link(text: str, target: str) -> str:
    """`text` must be printable; a target of `target_of` is."""
    return f"\x1b]8;;{target}\x1b\\{text}{_CLOSING}" if target else text


class Links:
    """Texts with their targets, in the order in which they stand in what is shown piece by piece.

    One that has no target is passed over in its place, so that an equal one further on is not taken
    for it. One that is not found, because markdown has changed it, has no link.
    """

    def __init__(self, targets: Iterable[tuple[str, str]] = ()) -> None:
        self._waiting = [(text, target) for text, target in targets if text]

    def places(self, piece: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and target of each link in the next piece."""
        at = 0
        while self._waiting:
            found = self._next(piece, at)
            if found is None:
                return
            place, number = found
            text, target = self._waiting[number]
            del self._waiting[: number + 1]
            at = place + len(text)
            if target:
                yield place, at, target

    def _next(self, piece: str, at: int) -> tuple[int, int] | None:
        for number, (text, _) in enumerate(self._waiting[:_LOOK_AHEAD]):
            if (place := piece.find(text, at)) >= 0:
                return place, number
        return None


def citation_links(citations: Iterable[Mapping[str, Any]] | None, *, root: Path) -> Links:
    """For the citations of the `sources` chunk; only those that hold lead anywhere."""
    return Links(
        (each["text"], target_of(each, root=root) if each["status"] == "resolved" else "")
        for each in citations or ()
    )


def target_of(place: Mapping[str, Any], *, root: Path) -> str:
    """Where a place leads: to its page, or to the line of its file below `root`.

    Empty for one that leads nowhere, or out of the project.
    """
    if url := place.get("url"):
        is_web = str(url).startswith(("https://", "http://"))
        return quote(url, safe="%/:=&?~#+!$,;'@()*[]", errors="replace") if is_web else ""
    path = PurePosixPath(str(place.get("path") or ""))
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in str(path):
        return ""
    start = place.get("start")
    line = f"#{start}" if isinstance(start, int) and start else ""
    try:
        return (root.absolute() / path).as_uri() + line
    except UnicodeEncodeError:  # no file is called that
        return ""
