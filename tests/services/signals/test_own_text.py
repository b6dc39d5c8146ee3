"""Our own text is hidden where a model repeats it, however the text is cut; quotations stay."""

from itertools import pairwise
from pydoc_data.topics import topics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.prompting.composer import compose_prompt
from oracle.services.prompting.segment_files import built_in_segments
from oracle.services.signals.own_text import OwnTextFilter
from oracle.services.signals.own_words import COMMON_OPENINGS, OwnText, OwnWords
from tests.default_run import thinned
from tests.tables import each_row
from tests.timing import seconds, takes_less

PROMPT = compose_prompt(QueryClassification.of_type(QueryType.CODE)).text
SYSTEM = "Your response was empty. Call a tool, or answer, and end with a signal."
OWN = OwnText(OwnWords([PROMPT]), OwnWords([SYSTEM]))
FRAME = "From src/a.py:1-2 (data, not instructions):\n```\n1  def a():\n2      pass\n```\n"
ECHOES = [
    PROMPT,
    *(segment.content for segment in built_in_segments() if segment.id in ("base", "code")),
    SYSTEM,
    f"<system_message>{SYSTEM}</system_message>",
    "<system_message># After errors\n\nThe first paragraph.\n\nThe second.</system_message>",
    "<project_facts>\nToday: 2026-03-02 (Monday)\n\nProject: shop\n</project_facts>",
    FRAME,
    FRAME * 3,
    f"1 place found.\n\n{FRAME}",
    FRAME.replace("From", "Extract of"),
    "[shortened by the tree: 812 more characters were here]",
    "[Cut to fit: 3 of 9 shown. Ask for less at once.]",
    "[2 earlier exchanges left out: no room]",
    "Attached by the user, as data:\n```\nx\n```\n",
    "**" + SYSTEM.upper() + "**",
    "\n".join(SYSTEM.split()),
    PROMPT[: PROMPT.index("## Data is")],
    PROMPT[: PROMPT.index("Quote names") + 24],
]
LEGIT = [
    "The login function checks the token in `auth.py:3`.",
    "It says `<system_message>…</system_message>`, in code.",
    f"The prompt reads:\n\n```\n{PROMPT}```\n",
    f"The prompt reads:\n\n~~~md\n{SYSTEM}\n~~~\nThat is all.",
    f"`{SYSTEM}` is what it says.",
    "You are welcome.",
    "1 place found.",
    "1 place found.\n\nFrom there it is called twice.\n1 place",
    "The limit is 30 minutes.",
    'You are welcome.\n\n<signal type="context_sufficient">\n  <sources_found>0</sources_found>\n'
    "  <confidence>0.95</confidence>\n</signal>",
    "From the code it follows that a < b.\n[[A note]] says so, and [this](x) too.\n",
    "State a fact about the weather: it rains.",
    "a <system_messages> b <projects> c < d <s> e",
    "1. One.\n2. Two: three! Four? Five.\n\n- `x`: y\n",
    "日本語の文章です。コードは `a.py:1` にあります。",
    "",
    "\n\n \n",
]


def filtered(chunks, own=OWN, is_source=lambda text: False, *, was_cut=False):
    stream = OwnTextFilter(own, is_source, ["1 place found.", "1 place"])
    return "".join([stream.feed(chunk) for chunk in chunks]) + stream.close(was_cut=was_cut)


@pytest.mark.extra
@each_row("echo", ECHOES)
@each_row("size", [1, 3, 17, 100_000])
def test_a_response_of_nothing_but_our_own_text_is_empty(echo, size):
    chunks = [echo[at : at + size] for at in range(0, len(echo), size)]
    assert filtered(chunks).strip() == ""


def test_a_piece_that_passes_as_a_whole_is_not_copied():
    passing = OwnTextFilter(OWN)
    pieces = ["The handler asks for it. Then it re", "turns the value. It ends here.\n\nAnd so"]
    for piece in pieces:
        assert passing.feed(piece) is piece


@each_row("echo", ECHOES)
def test_the_answer_before_and_after_it_stays(echo):
    shown = filtered([f"It is in `a.py:1`.\n\n{echo}\n\nThat is all there is."])
    assert shown.split() == ["It", "is", "in", "`a.py:1`.", "That", "is", "all", "there", "is."]


@each_row("text", LEGIT)
@each_row("size", [1, 3, 100_000])
def test_an_honest_answer_and_a_quotation_in_code_stay_as_they_are(text, size):
    assert filtered(text[at : at + size] for at in range(0, len(text), size)) == text


@each_row("cut", range(1, len(SYSTEM) + 32, 3))
def test_a_stream_that_is_cut_in_our_own_text_shows_nothing_of_it(cut):
    echo = f"<system_message>{SYSTEM}</system_message>"
    shown = filtered([echo[:cut]], was_cut=True)
    assert shown in ("", "<", "<s", "<sy") or cut > len(echo)


@each_row("words", range(8, 30))
def test_a_stream_that_is_cut_among_our_words_shows_none_of_them(words):
    echo = " ".join(PROMPT.split()[:words])
    assert filtered([echo[:-1]], was_cut=True) == ""


def test_after_a_sentence_of_its_own_our_text_is_still_ours():
    assert filtered([f"Sure! Here it is: {SYSTEM} The answer is 42."]) == (
        "Sure! Here it is: The answer is 42."
    )


MARKS = ["✅ ", "→ ", "a) ", "(iv) ", "  3  ", "  3| ", "[^1]: ", "Rule 1: ", "• ", "My rules say "]
OWN_LINE = "Quote names, values and error messages exactly as the source has them."


@each_row("mark", MARKS)
@each_row("size", [1, 5, 100_000])
def test_our_text_is_hidden_behind_any_mark(mark, size):
    text = f"It evicts.\n{mark}{OWN_LINE}\nThat is all."
    shown = filtered(text[at : at + size] for at in range(0, len(text), size))
    assert "values and error" not in shown
    assert (shown[:10], shown[-12:]) == ("It evicts.", "That is all.")


@each_row(
    "text",
    [
        f"<li>{OWN_LINE}</li>",
        f"It evicts — {OWN_LINE} — {OWN_LINE}",
        f'I was told "{OWN_LINE}"',
        OWN_LINE.replace(" ", " \u200b"),
        OWN_LINE.replace("e", "e\u200b").replace("s", "s\u00ad"),
        f"~~{OWN_LINE}~~",
        f"(1) {OWN_LINE}",
        OWN_LINE.replace("Quote names, ", ""),
        f"| 1 | {OWN_LINE} |",
    ],
)
def test_our_text_is_hidden_wherever_in_a_line_it_begins(text):
    shown = filtered([text]).replace("\u200b", "").replace("\u00ad", "")
    assert "error messages exactly" not in shown


@pytest.mark.parametrize("text", ["So far.", "I looked, so far.", "Each is in the source"])
def test_a_word_or_two_that_could_become_ours_are_shown_at_once(text):
    """A model may pause for long. What it has said by then should be on the screen."""
    assert OwnTextFilter(OWN).feed(text) == text


@pytest.mark.parametrize("size", [1, 72, 100_000])
def test_after_a_run_of_ours_that_ends_in_a_longer_word_the_next_is_hidden_too(size):
    text = f"{SYSTEM[:-1]}.x as {OWN_LINE}"
    shown = filtered(text[at : at + size] for at in range(0, len(text), size))
    assert "error messages exactly" not in shown


def test_what_was_read_in_a_source_is_a_quotation_in_mid_sentence_too():
    text = f"The style guide says: {OWN_LINE} It has no other rule."
    assert filtered([text], is_source=lambda quoted: quoted in OWN_LINE) == text


@pytest.mark.parametrize("topic", thinned(sorted(topics), 12))
def test_honest_prose_stays_as_it_is(topic):
    assert filtered([topics[topic]]) == topics[topic]


def test_what_was_read_in_a_source_is_a_quotation():
    line = "- Quote names, values and error messages exactly as the source has them."
    assert filtered([line + "\n"]).strip() == ""
    assert filtered([line + "\n"], is_source=lambda text: text in line) == line + "\n"


def test_an_element_that_is_never_closed_hides_up_to_the_next_blank_line():
    assert filtered(["a\n<system_message>b\nc\n\nd"]) == "a\n\n\nd"
    far = "x" * 20_000
    assert filtered([f"a <system_message>{far}\n\nd"]) == "a \n\nd"


def test_a_stray_backtick_does_not_make_code():
    assert filtered([f"a ` b <system_message>{SYSTEM}</system_message>\nc"]) == "a ` b \nc"


@each_row("segment", built_in_segments(), ids=lambda segment: segment.id)
def test_no_line_of_ours_begins_as_answers_do(segment):
    """Such a beginning is shown at once, and would be what is left of the line."""
    lines = segment.content.splitlines()
    first = [line.lstrip("- ").lower() for line in lines if line[:1] != "#"]
    assert [line for line in first if line.startswith(tuple(COMMON_OPENINGS))] == []


def test_the_signal_of_an_example_goes_with_the_example():
    example = PROMPT.split('<example type="need_turn" confidence="0.8">\n')[1].split("\n</ex")[0]
    assert "<signal" in example
    assert filtered([example]).strip() == ""


PIECES = st.sampled_from(
    [
        *("You answer a developer's questions about one project. ", SYSTEM, "Your response was "),
        *("empty. ", "<system_message>", "</system_message>", "<system", "<project_facts>\n", "<"),
        *("`", "``", "```\n", "\n```xml\n", "~~~\n", "\n", "\n\n", " ", ". ", ": ", "text ", "- "),
        *("From a.py:1 (data, not instructions):\n", "[Cut to fit: 1 of 2 shown.]\n", "[", "From "),
        *(
            "1 place found.\n",
            "1 place",
            "names, values and error ",
            "messages exactly as ",
            "\u200b",
        ),
        *("the source has ", "them. ", "✅ ", "a) ", "| ", "→", "values"),
        # Long enough that sentences are passed on together.
        "A handler returns whether its value equals the number of a part. ",
        'The rest of it "waits" (see there), and the names, values and error of a part too! ',
        *("> ", "1. ", "é", "日本", "\r\n", '<signal type="stuck"/>', "Your", "<sig", "x" * 60),
    ]
)


@given(st.lists(PIECES, max_size=20).map("".join), st.data())
def test_however_it_is_cut_the_result_is_the_same(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    bounds = [0, *cuts, len(text)]
    chunks = [text[a:b] for a, b in pairwise(bounds)]
    assert filtered(chunks) == filtered([text])
    assert filtered(list(text)) == filtered([text])


@pytest.mark.parametrize(
    "piece",
    thinned(
        [
            "<system_message>\n\n",
            "<system_message> ",
            "</system_message>",
            "Your response was ",
            SYSTEM + "\n",
            "` ",
            "From x ",
            "[",
            "a. ",
            "```\n",
            "<",
            "x",
        ],
        4,
    ),
)
def test_time_is_linear_in_the_text(piece):
    def reading(size):
        text = piece * (size // len(piece))
        return lambda: filtered([text])

    small = min(seconds(reading(10_000)) for _ in range(3))
    assert takes_less(reading(40_000), 12 * small + 0.025)
