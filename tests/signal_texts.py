"""A few elements, and how to say what a text must show: ⟦…⟧ marks what must be hidden."""

import re

from oracle.services.signals.parser import SignalStreamParser, strip_signal

TURN = '<signal type="need_turn"><reason>more</reason><confidence>0.5</confidence></signal>'
STUCK = (
    '<signal type="stuck"><attempted>a</attempted><blocker>b</blocker>'
    "<confidence>0.9</confidence></signal>"
)
BAD = '<signal type="stuck"><blocker>b</blocker></signal>'


def check_hiding(marked: str, counted: str | None) -> None:
    """At once and by single characters: all outside ⟦ ⟧ is shown, `counted` is the signal."""
    text = re.sub("[⟦⟧]", "", marked)
    shown = re.sub("⟦.*?⟧", "", marked, flags=re.DOTALL)
    assert strip_signal(text) == shown
    parser = SignalStreamParser()
    assert "".join([parser.feed(character) for character in text]) + parser.close() == shown
    assert (parser.signal.raw_xml if parser.signal else None) == counted
