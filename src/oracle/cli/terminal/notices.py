"""Notices that a user should read, but not with every answer: each at most once a day."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.services.notices import is_due
from oracle.services.project.root import here
from oracle.services.settings.sections import EMBEDDED

if TYPE_CHECKING:
    from oracle.settings import Settings

NO_MODEL: Final = (
    "no language model is configured, so answers only quote what was found; `oracle models` lists "
    "models, `oracle models use NAME` selects one"
)
NOTHING_PIPED_IN: Final = (
    "nothing was piped in, so the question is asked alone; check the command before the pipe"
)
WIDE: Final = (
    "is not a project, so all files below it are read, which can take long; go to the folder that "
    "you ask about"
)


def notice_about_model(settings: Settings) -> str | None:
    """None if a model was chosen, `embedded` included, or if the user was told today."""
    is_default = settings.origins["model.name"].source == "default"
    if settings.model.name != EMBEDDED or not is_default or not is_due("no model"):
        return None
    return NO_MODEL


def is_wide(root: Path | None) -> bool:
    """Whether everything of a user or of the machine is below this folder, without a project."""
    folder = here().resolve()
    return root is None and (folder == Path(folder.anchor) or folder == Path.home().resolve())
