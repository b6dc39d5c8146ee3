"""Random texts made of what the contract is about, against the slow model."""

import os
import random

import pytest

from oracle.services.signals.parser import SignalStreamParser
from oracle.services.signals.said import with_signals
from tests.signal_model import expect

SEED = int(os.environ.get("ORACLE_FUZZ_SEED", "1"))
TEXTS = int(os.environ.get("ORACLE_FUZZ_TEXTS", "4000"))

WHOLE = (
    '<signal type="need_turn"><reason>more</reason><confidence>0.5</confidence></signal>',
    "<signal type='STUCK' confidence='.9'>\n<attempted>a, b</attempted>\n\n"
    "<blocker>`</blocker></signal>",
    '<signal type="partial_answer"><missing><![CDATA[</signal>]]></missing>'
    "<confidence>1</confidence></signal >",
    '<signal type="stuck"/>',
    "<SIGNAL></SIGNAL>",
)
FRAGMENTS = (
    *WHOLE,
    *WHOLE,
    *(
        "<signal",
        "<signal ",
        "<signal>",
        "<signal/>",
        "<signal/",
        '<signal type="stuck">',
        "</signal>",
    ),
    *(
        "<signals>",
        "<signal-light>",
        "<sig",
        "<",
        ">",
        "</signal",
        "</signal x>",
        "</signal\n>",
        "/>",
        '"',
        "'",
    ),
    *("<![CDATA[", "]]>", "<!--", "-->", "<reason>", "</reason>", "&lt;", "&"),
    *("`", "``", "```", "````", "~~~", "~~~~", "`code`", "``a ` b``"),
    *("\n", "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "\n \t\n", " ", "   ", "    ", "\t"),
    *("- ", "* ", "1. ", "12) ", "> ", "text", "a <b", "é", "\u200b", "\x00", "ſ", "İ"),
    *(
        "\n```\n",
        "\n```xml\n",
        "\n~~~\n",
        "\n  ```\n",
        "\n    ```\n",
        "\n````\n",
        "\n> ```\n",
        "\n- ```\n",
        "\n> ",
        "\n  ",
        "\n\n```\n",
        "\n> ```\n> ",
        "`</signal>`",
        "`<signal a>`",
        "``</signal>",
    ),
)
LONG = ("x" * 4080, " " * 4090, "\n" + " " * 4096 + "\n", "`" * 4100, "<signal>" * 600, "y " * 2040)


def text_of(chance: random.Random) -> str:
    parts = chance.choices(FRAGMENTS, k=chance.randrange(1, 25))
    if chance.random() < 0.05:
        parts.insert(chance.randrange(len(parts) + 1), chance.choice(LONG))
    text = "".join(parts)
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice("<>`~\n/ \"'x-!") + text[at + chance.randrange(2) :]
    return text


def chunks_of(text: str, chance: random.Random) -> list[str]:
    longest = chance.choice((1, 2, 5, 20, 5000))
    chunks: list[str] = []
    while text:
        size = chance.randint(1, longest)
        chunks.append(text[:size])
        text = text[size:]
    return chunks


def said_by(parser: SignalStreamParser, chunks: list[str]) -> tuple[str, str]:
    """What is shown, and what the model said: the same with its signals."""
    shown, signals = "", []
    for chunk in [*chunks, None]:
        visible = parser.close() if chunk is None else parser.feed(chunk)
        signals += [(len(shown) + new.at, new) for new in parser.found[len(signals) :]]
        shown += visible
    # Read at the end: what an element hides that is never closed may grow.
    raw = [{"at": at, "raw_xml": found.raw_xml} for at, found in signals]
    return shown, with_signals(shown, raw)


def check(text: str, chunks: list[str]) -> None:
    parser = SignalStreamParser()
    shown, said = said_by(parser, chunks)
    expected = expect(text)
    assert shown == expected.shown, (text, chunks)
    whole = SignalStreamParser()
    assert said_by(whole, [text]) == (shown, said), (text, chunks)
    elements = [found.raw_xml for found in whole.found if found.is_closed]
    assert elements == expected.elements[: len(elements)], text
    assert whole.warnings == parser.warnings, (text, chunks)
    assert whole.malformed == parser.malformed, text
    assert (whole.signal and whole.signal.raw_xml) == (parser.signal and parser.signal.raw_xml), (
        text
    )
    if parser.signal is not None:
        assert parser.signal.raw_xml in expected.elements, text
    if len(expected.elements) + expected.never_closed == 0:
        assert not parser.malformed, text


@pytest.mark.extra
def test_many_random_texts_find_nothing() -> None:
    chance = random.Random(SEED)
    for _ in range(TEXTS):
        text = text_of(chance)
        check(text, chunks_of(text, chance))
