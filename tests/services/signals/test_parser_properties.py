"""Properties of any text, however it is cut, compared with a slow model and with the clock."""

import gc
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from oracle.services.signals.parser import SignalStreamParser
from tests.default_run import thinned
from tests.signal_model import expect
from tests.timing import seconds, takes_less

VALID = '<signal type="need_turn"><reason>more</reason><confidence>0.5</confidence></signal>'
PIECES = (
    *(
        VALID,
        VALID.replace("more", "a\n\nb"),
        "<signal/>",
        "<signal></signal>",
        "<signal type='stuck'>",
    ),
    *(
        "<signal",
        "<signal ",
        "</signal>",
        "<signals>",
        "<sig",
        "<",
        "</",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
    ),
    *(
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "    ",
        "\n```\n",
        "\n```xml\n",
        "\n- ",
        "\n> ",
        "> ",
        "`</signal>`",
        "\n> ```\n> ",
        "x",
    ),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=30).map("".join)


@st.composite
def cut_texts(draw: st.DrawFn) -> list[str]:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=40)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def stream(chunks: list[str]) -> tuple[str, SignalStreamParser]:
    parser = SignalStreamParser()
    return "".join([parser.feed(chunk) for chunk in chunks]) + parser.close(), parser


@given(cut_texts())
@example(["` <signal/> `` <signal/> ``", "\n"])
@example(["<signal>" * 600, "<signal x></signal>"])
def test_streaming_gives_the_same_as_the_whole_text(chunks: list[str]) -> None:
    shown, parser = stream(chunks)
    whole, once = stream(["".join(chunks)])
    assert shown == whole
    assert (parser.malformed, parser.warnings) == (once.malformed, once.warnings)
    assert (parser.signal and parser.signal.raw_xml) == (once.signal and once.signal.raw_xml)


@given(cut_texts())
def test_elements_outside_code_are_hidden_and_nothing_else(chunks: list[str]) -> None:
    shown, parser = stream(chunks)
    expected = expect("".join(chunks))
    assert shown == expected.shown
    if parser.signal:
        assert parser.signal.raw_xml in expected.elements
    assert bool(parser.signal or parser.malformed) == bool(
        expected.elements or expected.never_closed
    )


@given(st.lists(st.sampled_from([*"<signal/> \nxé", "<signal", "<signals"]), max_size=60))
def test_plain_text_is_held_back_by_at_most_eight_characters(chunks: list[str]) -> None:
    expected = expect("".join(chunks))
    assume(not expected.elements and not expected.never_closed)
    parser = SignalStreamParser()
    held = 0
    for chunk in chunks:
        held += len(chunk) - len(parser.feed(chunk))
        assert held <= 8
    assert held == len(parser.close())


HOSTILE = (
    *(
        "<signal ",
        "<signal>",
        "<signal>\n\n",
        "<signal \n\n",
        "</signal>",
        "<",
        "`",
        "` `` ",
        "~",
        " ",
        "\n",
    ),
    *(
        "```\n",
        "```\n<signal>\n",
        "` <signal/> ",
        "` <signal/>\n",
        "<signal><![CDATA[</signal>",
        "- ",
        "&",
    ),
    *(
        "<signal><!--\n\n",
        "<signal a><signal a></signal>",
        '<signal "\n\n',
        f"{VALID}",
        f"```\n{VALID}\n```\n",
    ),
)


def in_chunks(text: str, chunk: int) -> Callable[[], object]:
    chunks = [text[at : at + chunk] for at in range(0, len(text), chunk)]
    return lambda: stream(chunks)


@pytest.mark.extra
@pytest.mark.parametrize("chunk", [1, 1_000_000])
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_is_linear_in_the_text(piece: str, chunk: int) -> None:
    short, long = (in_chunks(piece * (size // len(piece)), chunk) for size in (5_000, 40_000))
    assert takes_less(long, 8 * 2 * min(seconds(short) for _ in range(3)) + 0.02)


@pytest.mark.parametrize(
    "text",
    thinned(
        [
            "<signal a>" + ("\n" + " " * 4000 + "a") * 4,
            "> ```\n" + ("<signal a>" + ("\n" + ">" * 60) * 66) * 4,
            "> ```\n" + ("> " + " " * 4000 + "\n") * 4,
            "```\n" + ("```" + " " * 4000 + "x\n") * 4,
            ("```" + "a" * 4000 + "`\n") * 4,
            "```\n" + ("<signal>" * 20 + "\nx" * 100) * 40,
            ("<signal>" * 250 + "\n\n```\n" + "x\n" * 1000) * 4,
            "<signal>\n\n```\n" * 1200,
            ("<signal>" * 200 + "`</signal>`" * 200) * 4,
            ("<signal>" * 200 + "`</signal>`" + "\n" * 2000) * 4,
            ("<signal>" * 256 + "\n" + " " * 2040) * 4,
            ("<signal>" * 490 + "\n\n\n" + ">" * 60 + "``") * 4,
        ],
        4,
    ),
)
def test_no_text_costs_much_more_than_prose_in_single_characters(text: str) -> None:
    prose = "some words of prose, and more\n" * 400
    of_prose = min(seconds(in_chunks(prose, 1)) for _ in range(3)) / len(prose)
    assert takes_less(in_chunks(text, 1), 100 * of_prose * len(text))


@pytest.mark.parametrize("value", ["1" * 3900 + "x", "1." * 1900, "&#1" * 1300, '"a" b,' * 600])
def test_one_signal_is_read_in_no_time(value: str) -> None:
    fields = f"<attempted>{value}</attempted><confidence>{value}</confidence>"
    text = f'<signal type="stuck">{fields[:4000]}</confidence></signal>'
    assert takes_less(in_chunks(text, 8192), 0.02)


@pytest.mark.extra
@pytest.mark.parametrize(
    "piece",
    thinned(["some words\n", "`code` and ", "```\ncode\n", "<signal> hidden ", "x < y "], 2),
)
def test_text_that_can_be_shown_is_not_kept(piece: str) -> None:
    parser = SignalStreamParser()
    parser.feed(piece * 1000)
    tracemalloc.start()
    for _ in range(150):
        parser.feed(piece * 30)
    gc.collect()
    # Only what comes from here and from the parser: other threads of the process allocate too.
    places = [tracemalloc.Filter(True, place) for place in (__file__, "*/oracle/services/*")]
    found = tracemalloc.take_snapshot().filter_traces(places).statistics("filename")
    tracemalloc.stop()
    assert sum(each.size for each in found) < 20_000
