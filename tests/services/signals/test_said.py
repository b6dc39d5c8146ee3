"""A response that says nothing to its reader is empty."""

from oracle.services.signals.said import has_visible_text
from tests.tables import each_row

NOTHING = [
    *("", " \n", "\u200b\u2060", "\u2800", "\u3164", "<!-- x -->", "&nbsp;", "&#8203;", "."),
    *("```\n```", "```python\n```", "~~~\n~~~\n", "---", "***", ">", "> >", "#", "****", "..."),
    *('<tool_call>\n{"name": "write_note"}\n</tool_call>', '[TOOL_CALLS][{"name": "search"}]'),
    *("<function=search>{}</function>", '<|python_tag|>{"name": "search"}'),
    *("<br>", "<p></p>", "<br/>\n<hr>", "| |\n|-|\n| |", "- \n- ", "</signal>", "<span class='x'>"),
]
SOMETHING = [
    *(
        "42",
        "是",
        "Да.",
        "✅",
        "👍",
        "`x`",
        "<T>",
        "<Foo />",
        "- a",
        "```py\nx = 1\n```",
        "x = <br>",
    ),
    *("| a |\n|-|", "€5", "<p>No.</p>", "<tool_call>{}</tool_call> It is in a.py:1."),
]


@each_row("text", NOTHING)
def test_punctuation_and_empty_markup_say_nothing(text):
    assert not has_visible_text(text)


@each_row("text", SOMETHING)
def test_a_letter_a_number_or_a_symbol_says_something(text):
    assert has_visible_text(text)
