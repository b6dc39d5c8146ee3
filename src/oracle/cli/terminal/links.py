"""Citations and sources as hyperlinks, for terminals that support them (OSC 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from oracle.services.project.roots import Roots
    from oracle.settings import Settings

_FIRST_VTE: Final = 5000
_LOOK_AHEAD: Final = 20
_PROGRAMS: Final = frozenset({"ghostty", "Hyper", "iTerm.app", "rio", "Tabby", "vscode", "WezTerm"})
_SCHEMES: Final = ("https://", "http://", "file:///")
_TERMS: Final = ("alacritty", "contour", "foot", "ghostty", "kitty", "wezterm")
_VARIABLES: Final = ("DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WEZTERM_PANE", "WT_SESSION")


def can_link(environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Whether the terminal supports links.

    `FORCE_HYPERLINK` overrides the list of known terminals: `1` turns links on, `0` off.
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


def is_safe_target(target: str) -> bool:
    """Whether a link may lead there: to a web page or a file, written in plain letters."""
    return target.startswith(_SCHEMES) and target.isascii() and target.isprintable()


class Links:
    """Texts with their targets, in the order in which they appear in an answer shown in pieces.

    A text without a target is still matched at its place; otherwise it would get the target of an
    equal text further on. A text that is not found, because markdown changed it, gets no link.
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
        # Texts that markdown changed are never found. Looking ahead skips them; the bound keeps
        # a long list of them from making each piece slow.
        for number, (text, _) in enumerate(self._waiting[:_LOOK_AHEAD]):
            if (place := piece.find(text, at)) >= 0:
                return place, number
        return None


def citation_links(citations: Iterable[Mapping[str, Any]] | None, *, root: Path | Roots) -> Links:
    """Links for the citations of the `sources` chunk. Only resolved ones have a target."""
    return Links(
        (each["text"], target_of(each, root=root) if each["status"] == "resolved" else "")
        for each in citations or ()
    )


def linked_roots(settings: Settings) -> Path | Roots | None:
    """Where the files are that sources name; None outside of a project."""
    if settings.root is None or not settings.roots:
        return settings.root
    from oracle.services.project.roots import Roots

    return Roots(main=settings.root, others=settings.roots)


def target_of(place: Mapping[str, Any], *, root: Path | Roots) -> str:
    """The address of a web page, or of a line of a file below `root`, or one of the roots.

    Empty if there is none, or if the path leads out of the project.
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
        file = root / path if isinstance(root, Path) else root.place(path.as_posix())
        return file.absolute().as_uri() + line
    except UnicodeEncodeError:  # no file can have such a name
        return ""
