"""`/save`: a conversation as a markdown file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.cli.terminal.safe_text import printable, safe_text
from oracle.errors import InputError, StoreError, unless_full
from oracle.regular_file import check_regular

if TYPE_CHECKING:
    from oracle.models.session import Exchange, Session
    from oracle.settings import Settings


FOLDER: Final = "saved"
"""Where conversations are saved by default: in `.oracle`, or in the user's folder."""


def saved_conversation(session: Session, exchanges: Sequence[Exchange]) -> str:
    """The exchanges as markdown, without characters that would steer a terminal."""
    from oracle.services.storage.export import as_markdown

    return safe_text(as_markdown(session, exchanges))


def file_to_save(typed: str, session: Session, settings: Settings) -> Path:
    """The file that was typed, else one named after the session.

    That is not in the working directory: the next question would find it there, and cite what this
    conversation says as a source.
    """
    from oracle.services.project.root import user_folder

    try:
        if typed:
            return Path(typed).expanduser()
        folder = user_folder() if settings.root is None else settings.root / ".oracle"
        return folder / FOLDER / f"oracle-{session.id[:8]}.md"
    except RuntimeError:  # ~someone who does not exist
        raise InputError(
            f"{printable(typed)!r}: there is no such user; give another file"
        ) from None


def save(file: Path, text: str, *, overwrite: bool) -> bool:
    """Write the file. False if it exists and must not be overwritten."""
    name = printable(str(file))
    try:
        if overwrite:
            check_regular(file)
        if file.parent.name == FOLDER:
            file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w" if overwrite else "x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        if file.is_dir():
            raise InputError(f"{name!r} is a folder; add the name of a file") from None
        return False
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        step = unless_full(problem, "give another file")
        raise StoreError(f"{name!r} cannot be written: {reason}; {step}") from None
    return True
