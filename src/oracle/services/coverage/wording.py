"""What is said about parts in words that somebody else looks for again."""

from __future__ import annotations

from typing import Final

COVERED: Final = "This question is broad, so its parts were looked up and read for you"
LEFT_OUT: Final = "Left out: "
USED: Final = "Who uses whom among them, read off their names:"
SILENT: Final = "Read, with nothing that bears on it: "
ASKED: Final = "\n\nOne part of the project, as data, to extract from:\n\n"
"""Stands between the question and the part in a request of its own."""

NOTHING: Final = "Nothing."
"""What the model is asked to say of a part that does not bear on the question."""

EXTRACT: Final = "Extract of"
