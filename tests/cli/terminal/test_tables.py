"""Tables fit a terminal of 40 columns or more, and are complete in a pipe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from oracle.cli.terminal.tables import Column, cut, table_lines, wrapped

COLUMNS = (
    Column("ID"),
    Column("WHEN", drop=2),
    Column("N", is_number=True, drop=1),
    Column("TEXT", cut_to=10),
)
ROW = ("0123456789", "3 min ago", "12", "why does the login of the second user fail?")
ANY = st.text(alphabet=st.sampled_from("ab 漢🍵é\u0301\x1b\n\u202e/"), max_size=60)


def test_a_pipe_gets_everything_aligned():
    assert table_lines(COLUMNS, [ROW, ("9", "just now", "3", "x")]) == [
        "ID          WHEN        N  TEXT",
        "0123456789  3 min ago  12  why does the login of the second user fail?",
        "9           just now    3  x",
    ]


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (69, "0123456789  3 min ago  12  why does the login of the second user fail?"),
        (50, "0123456789  3 min ago  12  why does the login of…"),
        (36, "0123456789  3 min ago  why does the…"),
        (30, "0123456789  why does the login…"),
    ],
)
def test_texts_are_cut_and_columns_dropped_and_ids_are_whole(width, line):
    _, shown = table_lines(COLUMNS, [ROW], width=max(width, len(line)))
    assert shown == line


def test_what_cannot_be_cut_is_shown_in_blocks_with_headings():
    columns = (Column("SETTING"), Column("VALUE"), Column("FROM"))
    row = ("limits.uses_of_a_tool", "a" * 30, "default")
    assert table_lines(columns, [row], width=40) == [
        "SETTING",
        "limits.uses_of_a_tool",
        f"    value {'a' * 30}",
        "    from default",
    ]


def test_on_a_terminal_a_column_without_a_value_is_left_out():
    heading, _ = table_lines(COLUMNS, [("1", "now", "", "x")], width=80)
    assert heading.split() == ["ID", "WHEN", "TEXT"]


@given(rows=st.lists(st.tuples(st.just("0a1b2c3d"), ANY, ANY, ANY)), width=st.integers(40, 120))
def test_no_line_is_wider_than_the_terminal_and_no_id_is_cut(rows, width):
    lines = table_lines(COLUMNS, rows, width=width)
    assert all(cell_len(line) <= width for line in lines)
    assert sum("0a1b2c3d" in line for line in lines) >= len(rows)


@given(text=ANY, width=st.integers(10, 60))
def test_wrapped_lines_fit_and_lose_nothing(text, width):
    text = "".join(char for char in text if char.isprintable())
    lines = wrapped(text, width, first="- ", rest="  ")
    # A word that is too long has a line of its own, which the terminal folds.
    assert all(cell_len(line) <= width or len(line.split()) <= 2 for line in lines)
    assert "".join("".join(lines).split()).removeprefix("-") == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "see /home/me/a/long/path/to/a/file.py now",
            ["see", "  /home/me/a/long/path/to/a/file.py", "  now"],
        ),
        ("it is http://127.0.0.1:8765/v1 here", ["it is", "  http://127.0.0.1:8765/v1", "  here"]),
        ("`oracle models use sol` selects it", ["`oracle models use sol`", "  selects it"]),
        ("so run `oracle models use sol`.", ["so run", "  `oracle models use sol`."]),
        ("a ` b", ["a ` b"]),
    ],
)
def test_no_path_address_or_command_is_broken(text, lines):
    assert wrapped(text, 24, rest="  ") == lines


@given(text=ANY, width=st.integers(2, 20))
def test_a_cut_text_fits(text, width):
    assert cell_len(cut(text, width)) <= width


def test_a_path_that_fits_on_the_next_line_leaves_its_heading_alone():
    lines = wrapped("/home/me/a/project is ok", 24, first="ok  folder  ", rest="    ")
    assert lines == ["ok  folder", "    /home/me/a/project", "    is ok"]
