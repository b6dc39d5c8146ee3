"""Reading foreign text takes time in proportion to its length, whatever the text is.

Each pair is tried at a size and at eight times that size. Linear time makes the second eight times
as long, quadratic time sixty-four times. The bound lies between, so the machine's speed does not
matter.
"""

import contextlib
import time

import pytest

from oracle.errors import OracleError
from oracle.services.citations.answer_quotes import find_cited
from oracle.services.citations.claims import value_in
from oracle.services.citations.finding import find_citations
from oracle.services.classification.classifier import classify_query
from oracle.services.control.shown import sources_in
from oracle.services.control.topic import asks_for_something_new, is_topic_shift
from oracle.services.embedded.attachments import facts_of, places_in
from oracle.services.embedded.write_requests import request_in
from oracle.services.llm.messages import as_system_message
from oracle.services.project.redaction import _redacted
from oracle.services.prompting.front_matter import read_front_matter
from oracle.services.questions.search_words import search_words
from oracle.services.search.notes import read_note
from oracle.services.search.question import read_question
from oracle.services.search.terms import terms_of_text
from oracle.services.tools.answer import fence, one_line
from oracle.services.tools.arguments import checked_call
from oracle.services.tools.threads import as_body, entries_of
from oracle.services.web.readable import readable
from tests.default_run import thinned

SMALL, TIMES, BOUND = 4_000, 8, 28
# Below this the noise of the clock is larger than what is measured.
QUICK = 0.02
PAGE = "http://x.y/"

UNITS = (
    *"<>[]()`\"' \t\n9&#-*_./:,{}a|~=\\@\0é",
    *("<a ", '<a "', "<a '", "<td>", "<table><tr><td>", "<li>", "<p>", "<pre>", "<b>", "<!--"),
    *("<!", "<script>", "</script", "<a href=", "<title>", "&#9", "&lt;", "&amp", "<h1>"),
    *(
        "[[",
        "](",
        "` ",
        "```\n",
        "~~~\n",
        " x",
        " \n",
        "9.",
        "9-",
        "# \n",
        "---\n",
        "a_",
        "a.",
        "a/",
    ),
    *("a:1 ", "()", "Aa", "word ", "http://a.b/", "http://", "thread:", "===\n", "> ", "- a\n"),
    *("a-", "aB", "a.py:1, ", 'File "a.py", line 1\n', "+++ b/a\n", "@@ -1 +1 @@\n", "title: "),
)

READERS = {
    "readable": lambda text: readable(text, PAGE),
    "readable in a paragraph": lambda text: readable(f"<p>{text}", PAGE),
    "readable in pre": lambda text: readable(f"<pre>{text}", PAGE),
    "readable in a title": lambda text: readable(f"<title>{text}", PAGE),
    "readable in a tag": lambda text: readable(f"<a {text}>", PAGE),
    "front matter": lambda text: _quietly(read_front_matter, f"---\n{text}\n---\nx"),
    "a note": lambda text: read_note(text, "a.md"),
    "a note with front matter": lambda text: read_note(f"---\n{text}\n---\n# x", "a.md"),
    "a heading": lambda text: read_note(f"# {text}", "a.md"),
    "terms": terms_of_text,
    "a fence": fence,
    "one line": one_line,
    "a thread": lambda text: entries_of("t", text.split("\n")),
    "an entry": as_body,
    "citations": find_citations,
    "quotations": find_cited,
    "a value": value_in,
    "a topic": lambda text: is_topic_shift(text, [{"question": "q", "answer": text}]),
    "a follow-up": lambda text: asks_for_something_new(text, [{"question": "q", "answer": text}]),
    "a cut source": lambda text: sources_in(
        [{"where": "a:1", "start": 1, "end": 9, "text": text}], text, text[: len(text) // 2]
    ),
    "search words": search_words,
    "a question": read_question,
    "the class of a question": classify_query,
    "an attachment": lambda text: facts_of(text, ["x"]),
    "places in an attachment": places_in,
    "a request to write": lambda text: request_in(f"Add a note: {text}"),
    "a system message": as_system_message,
    "arguments": lambda text: checked_call({"arguments": text}),
    # Below the cache, which would answer the second time.
    "secrets": _redacted,
}


def _quietly(read, text):
    with contextlib.suppress(OracleError):
        read(text, file="x")


def seconds(read, text):
    began = time.process_time()
    read(text)
    return time.process_time() - began


def of_length(unit, length):
    return (unit * (length // len(unit) + 1))[:length]


def growth(read, unit, small=SMALL):
    """How much longer it takes for a text that is `TIMES` as long; 0 if it is quick anyway."""
    large = of_length(unit, small * TIMES)
    if (longest := seconds(read, large)) < QUICK:
        return 0
    shortest = seconds(read, of_length(unit, small))
    if longest > BOUND * shortest:
        # Measured again before it counts: something else may have taken the time.
        longest = min(longest, *(seconds(read, large) for _ in range(2)))
        shortest = min(shortest, *(seconds(read, of_length(unit, small)) for _ in range(2)))
    return longest / max(shortest, QUICK / TIMES / 4)


@pytest.mark.extra
@pytest.mark.parametrize("name", READERS)
def test_no_repeated_text_takes_more_than_linear_time(name):
    slow = {unit: round(ratio) for unit in UNITS if (ratio := growth(READERS[name], unit)) > BOUND}
    assert slow == {}


# What was quadratic once, and the nestings of tags, which nobody can list.
KNOWN = (
    ("readable", "<table><tr><td>"),
    ("readable", "<td>"),
    ("readable", "<li><h1></h1></li></h1>"),
    ("readable", "</td></li><td></pre><code>"),
    ("a note", "`"),
    ("a note", "~"),
    ("a note", "```\n~~~\n"),
    ("secrets", "token:"),
    ("secrets", "token=token:"),
    ("secrets", "user,password\n"),
)


@pytest.mark.parametrize(("name", "unit"), thinned(KNOWN, 3))
def test_what_was_slow_once_is_linear(name, unit):
    assert growth(READERS[name], unit, small=4_000) <= BOUND


def test_no_tag_makes_the_scanner_look_back(monkeypatch):
    """Counted, not timed: each step looks at one piece of the text so far."""
    from oracle.services.web import readable as module

    looked = []

    class Counted(list):
        def __getitem__(self, place):
            looked.append(place)
            return super().__getitem__(place)

        def __reversed__(self):
            raise AssertionError("the whole text so far is looked at")

    names = ("a", "b", "td", "th", "tr", "table", "li", "ul", "h1", "pre", "code", "p", "br")
    for name in (*names, "div", "title", "nosuch"):
        for tag in (f"<{name}>", f"</{name}>", f"<{name}/>"):
            page = module._Page(PAGE)
            page._pieces = Counted()
            html = tag * 200
            place = looked.clear() or 0
            while place < len(html):
                place = page.markup(html, place)
            assert len(looked) <= 3 * 200, tag


@pytest.mark.parametrize("text", ["&#" + "9" * 5_000 + ";", "&#x" + "f" * 5_000 + ";", "&#" * 99])
def test_numbers_of_characters_that_do_not_exist_are_read_as_unknown(text):
    assert readable(f"<p>a {text} b", PAGE).text.startswith("a ")


def test_code_blocks_are_left_out_of_headings_as_before():
    text = "# A\n```\n# no\n```\n# B\n~~~~\n# no\n~~~\n# no\n~~~~\n# C\n````\n# D\n```\n# E\n"
    note = read_note(text, "a.md")
    assert [(symbol.name, symbol.start) for symbol in note.headings] == [
        ("A", 1),
        ("B", 5),
        ("C", 11),
        ("D", 13),
        ("E", 15),
    ]
