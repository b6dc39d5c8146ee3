"""What goes wrong on the web; the text says what to do instead."""

from __future__ import annotations

from oracle.errors import Failure


class WebProblem(Failure):
    pass
