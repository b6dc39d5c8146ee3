import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.web.readable import readable
from tests.default_run import thinned
from tests.tables import each_row
from tests.timing import seconds, takes_less

URL = "https://tea.test/shop/index.html"


@each_row(
    ("html", "text"),
    [
        ("<p>One<p>Two", "One\n\nTwo"),
        ("<h2>Tea</h2>green", "## Tea\n\ngreen"),
        ("<ul><li>one<li>two</ul>", "- one\n- two"),
        ("a<br>b", "a\nb"),
        ("1 &lt; 2 &amp;&amp; 3", "1 < 2 && 3"),
        ("1 < 2 and <b>bold</b>", "1 < 2 and bold"),
        ("<script>if (a < b) alert('x')</script>after", "after"),
        ("<style>p { }</style><!-- not <p> this -->after", "after"),
        ("<SCRIPT>x</SCRIPT >after", "after"),
        ("<svg/>after", "after"),
        ("<!doctype html><?xml?>after", "after"),
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("use <code>tea</code>", "use `tea`"),
        ("<a href='more.html'>more</a>", "more (https://tea.test/shop/more.html)"),
        ('<a title=">" href="/x">x</a>', "x (https://tea.test/x)"),
        ("<a href='#top'>top</a> <a href='javascript:x()'>run</a>", "top run"),
        ("<a href='http://[bad'>bad</a>", "bad"),
        ("<table><tr><th>a</th><td>b</td></tr></table>", "a | b |"),
        ("many    spaces\n\n and lines", "many spaces and lines"),
        ("<p", "<p"),
        ("", ""),
    ],
)
def test_a_page_becomes_what_a_reader_would_note_down(html, text):
    assert readable(html, URL).text == text


@given(st.text(alphabet="<>!-/ap\"'= &;#\n", max_size=60))
def test_no_page_is_too_broken_to_be_read(html):
    assert isinstance(readable(html, URL).text, str)


@pytest.mark.extra
@pytest.mark.parametrize(
    "unit",
    thinned(
        [
            "<",
            "<a ",
            '<a "',
            "<!--",
            "<!",
            "<script>",
            "<pre>",
            "</",
            "&",
            "<a href='",
            "<p>",
            "\n",
            "<li ",
        ],
        4,
    ),
)
def test_time_is_linear_whatever_comes(unit):
    def reading(size):
        html = unit * (size // len(unit))
        return lambda: readable(html, URL)

    small = max(min(seconds(reading(20_000)) for _ in range(3)), 0.002)
    assert takes_less(reading(160_000), 24 * small)
