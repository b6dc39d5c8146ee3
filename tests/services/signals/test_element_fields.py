"""Rules 2 and 3 of docs/signals.md, as tables: how an element is read."""

from datetime import UTC, datetime

from oracle.models.signals import Signal, SignalType
from oracle.services.signals.parser import SignalStreamParser, parse_signal, strip_signal
from tests.signal_texts import TURN
from tests.tables import each_row


def read(text: str) -> SignalStreamParser:
    parser = SignalStreamParser()
    parser.feed(text)
    parser.close()
    return parser


def signal_of(text: str) -> Signal:
    signal = parse_signal(text)
    assert signal is not None, read(text).warnings
    return signal


# rule 2: what a signal looks like


def test_a_signal_has_type_confidence_fields_source_and_time() -> None:
    noon = datetime(2026, 1, 8, 12, 0, tzinfo=UTC)
    assert parse_signal(f"Done.\n\n{TURN}\n", now=lambda: noon) == Signal(
        type=SignalType.NEED_TURN,
        confidence=0.5,
        fields={"reason": "more"},
        raw_xml=TURN,
        timestamp=noon,
    )


def test_the_time_has_a_zone_without_a_clock_from_the_caller() -> None:
    assert signal_of(TURN).timestamp.tzinfo is UTC


@each_row(
    "opening",
    [
        '<signal type="need_turn">',
        "<signal type='need_turn'>",
        '<signal type="NEED_TURN">',
        '<signal  type = "Need_Turn" >',
        '<signal\n  type="need_turn"\n>',
        '<SIGNAL TYPE="need_turn">',
        '<signal type=" need_turn ">',
        "<signal type=need_turn>",
        '<signal id="a > b" type="need_turn">',
    ],
)
def test_the_opening_tag_may_be_written_in_many_ways(opening: str) -> None:
    text = f"{opening}<reason>r</reason><confidence>1</confidence></signal>"
    assert signal_of(text).type is SignalType.NEED_TURN
    assert strip_signal(text) == ""


@each_row("closing", ["</signal>", "</SIGNAL>", "</signal >", "</signal\t>", "</signal\r\n>"])
def test_the_closing_tag_may_hold_spaces(closing: str) -> None:
    text = f'<signal type="need_turn" confidence="1"><reason>r</reason>{closing}'
    assert signal_of(text).raw_xml == text


@each_row(
    ("written", "value"),
    [
        ("0.8", 0.8),
        (" 0.8\n", 0.8),
        (".8", 0.8),
        ("1.", 1.0),
        ("1", 1.0),
        ("0", 0.0),
        ("-0", 0.0),
        ("+0.5", 0.5),
        ("1e-1", 0.1),
        ("<![CDATA[0.8]]>", 0.8),
        ("0&#46;8", 0.8),
        *(
            (bad, None)
            for bad in ("80%", "0,8", "nan", "inf", "1.01", "-0.1", "1_0", "high", "", "٠.٨")
        ),
    ],
)
def test_confidence_is_a_number_from_0_to_1(written: str, value: float | None) -> None:
    as_element = (
        f'<signal type="need_turn"><reason>r</reason><confidence>{written}</confidence></signal>'
    )
    signal = parse_signal(as_element)
    assert (signal.confidence if signal else None) == value
    if "<" not in written:
        as_attribute = (
            f'<signal type="need_turn" confidence="{written}"><reason>r</reason></signal>'
        )
        signal = parse_signal(as_attribute)
        assert (signal.confidence if signal else None) == value


@each_row(
    ("written", "items"),
    [
        ('["search_code", "read, then guess"]', ["search_code", "read, then guess"]),
        ('[ "a" , 2 , null, " b " ]', ["a", "2", "b"]),
        ("['a', b]", ["a", "b"]),
        ("[&quot;a&quot;]", ["a"]),
        ('<![CDATA[["a"]]]>', ["a"]),
        ("<item>a, b</item>\n<item> c </item><item/>", ["a, b", "c"]),
        ("<item><![CDATA[<b>]]></item>", ["<b>"]),
        ("a, b ,, c,", ["a", "b", "c"]),
        ("one", ["one"]),
        ("&lt;item&gt;a&lt;/item&gt;", ["<item>a</item>"]),
        ("", None),
        (" , ", None),
        ("[]", None),
        ("<item></item>", None),
        ("[" * 2000, ["[" * 2000]),
        ("[" * 1900 + "]" * 1900, ["[" * 1899 + "]" * 1899]),
        ("[a] first, [b] second", ["[a] first", "[b] second"]),
        ("[a] first, second [b]", ["[a] first", "second [b]"]),
        ('["read a, b", "grep",]', ["read a, b", "grep"]),
        ("['read a, b', 'it's', grep a[0]]", ["read a, b", "it's", "grep a[0]"]),
        ('["two\nlines", "b]"]', ["two\nlines", "b]"]),
        (r'["\d+, \\w", "b\n", ]', [r"\d+, \\w", "b"]),
        ("a&#44;b, c", ["a,b", "c"]),
        ("[true, 1.5]", ["true", "1.5"]),
    ],
)
def test_a_list_is_a_json_array_or_items_or_separated_by_commas(
    written: str, items: list[str] | None
) -> None:
    text = (
        '<signal type="stuck" confidence="1">'
        f"<blocker>b</blocker><attempted>{written}</attempted></signal>"
    )
    signal = parse_signal(text)
    assert (signal.fields["attempted"] if signal else None) == items


@each_row(
    ("written", "number"),
    [
        ("3", 3),
        (" 0 ", 0),
        ("12,500", 12500),
        ("3.0", 3),
        *((bad, None) for bad in ("", "three", "-1", "3.5", "1_0", "9" * 400)),
    ],
)
def test_a_number_becomes_a_number(written: str, number: int | None) -> None:
    text = (
        '<signal type="context_sufficient" confidence="1">'
        f"<sources_found>{written}</sources_found></signal>"
    )
    signal = parse_signal(text)
    assert (signal.fields["sources_found"] if signal else None) == number


@each_row(
    ("written", "value"),
    [
        ("a &lt; b &amp;&amp; c &gt; d &quot;e&quot; &apos;f&apos;", "a < b && c > d \"e\" 'f'"),
        ("&#65;&#x42;&#X43;", "ABC"),
        ("&amp;lt;", "&lt;"),
        ("&#0; &#xD800; &#1114112; &nbsp; &amp", "&#0; &#xD800; &#1114112; &nbsp; &amp"),
        ("R&D, a & b", "R&D, a & b"),
        ("if a < b and c <d", "if a < b and c <d"),
        ("use <code>x</code> or <br/>", "use <code>x</code> or <br/>"),
        ("<![CDATA[a </reason> & <b> &lt;]]> z", "a </reason> & <b> &lt; z"),
        ("<![CDATA[</signal>]]>", "</signal>"),
        ("a<!-- <b> </signal> -->b", "ab"),
        ("an open <![CDATA[ or <!-- is text", "an open <![CDATA[ or <!-- is text"),
        ("the <signal> tag", "the <signal> tag"),
        ("  inner\n lines ", "inner\n lines"),
        ("naïve 日本 👍 \u200b.", "naïve 日本 👍 \u200b."),
    ],
)
def test_text_is_decoded_and_a_bare_ampersand_or_angle_spoils_nothing(
    written: str, value: str
) -> None:
    text = f'<signal type="need_turn" confidence="1"><reason>{written}</reason></signal>'
    assert signal_of(text).fields == {"reason": value}
    assert strip_signal(text + " after") == " after"


# rule 3: what is malformed


@each_row(
    "element",
    [
        "<signal></signal>",
        "<signal/>",
        '<signal type="stuck"/>',
        '<signal type="bored" confidence="1"><reason>r</reason></signal>',
        '<signal type="" confidence="1"><reason>r</reason></signal>',
        '<signal kind="need_turn" confidence="1"><reason>r</reason></signal>',
        '<signal confidence="1"><type>need_turn</type><reason>r</reason></signal>',
        '<signal type="need_turn"><reason>r</reason></signal>',
        '<signal type="need_turn" confidence="1"></signal>',
        '<signal type="need_turn" confidence="1"><reason></reason></signal>',
        '<signal type="need_turn" confidence="1"><reason> \n </reason></signal>',
        '<signal type="need_turn" confidence="1"><reason>\u200b\x00</reason></signal>',
        '<signal type="need_turn" confidence="1"><reason/></signal>',
        '<signal type="need_turn" confidence="1"><reason>r</signal>',
        '<signal type="need_turn" confidence="1" reason="r"/>',
        '<signal type="stuck" confidence="1"><blocker>b</blocker></signal>',
    ],
)
def test_a_malformed_element_is_not_a_signal_and_is_not_shown(element: str) -> None:
    parser = read(f"a {element} b")
    assert (parser.signal, parser.malformed) == (None, True)
    assert any("malformed" in warning for warning in parser.warnings)
    assert strip_signal(f"a {element} b") == "a  b"


@each_row(
    ("extra", "warning"),
    [
        ("<expected_turns>soon</expected_turns>", "expected_turns"),
        ("<expected_turns/>", "expected_turns"),
        ("<mood>fine</mood>", "mood"),
        ("<blocker>of another type</blocker>", "blocker"),
        ("<reason>second</reason>", "twice"),
        ("<confidence>0.1</confidence>", "twice"),
    ],
)
def test_a_field_that_cannot_be_used_is_dropped_with_a_warning(extra: str, warning: str) -> None:
    parser = read(f'<signal type="need_turn" confidence="1"><reason>r</reason>{extra}</signal>')
    assert parser.signal is not None
    assert (parser.signal.fields, parser.signal.confidence) == ({"reason": "r"}, 1.0)
    assert not parser.malformed
    assert warning in parser.warnings[0]
