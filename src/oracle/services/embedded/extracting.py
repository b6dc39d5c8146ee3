"""One part of a broad question, read alone: its lines that say most about the question."""

from __future__ import annotations

from oracle.services.coverage.wording import ASKED, NOTHING
from oracle.services.llm.protocol import ModelRequest
from oracle.services.reading.places import quoted_lines


def is_about_one_part(request: ModelRequest) -> bool:
    """Whether a part stands alone in the request, with the question."""
    roles = [message["role"] for message in request.messages]
    is_alone = roles == ["system", "user"] and not request.tools
    return is_alone and ASKED in request.messages[-1]["content"]


def extract(request: ModelRequest) -> str:
    question, _, part = request.messages[-1]["content"].partition(ASKED)
    return quoted_lines(question, part) or NOTHING
