from hypothesis import given
from hypothesis import strategies as st

from oracle.services.search.chunks import MOST_CHARACTERS, MOST_LINES, chunks_of
from oracle.services.search.symbols import Symbol


def symbol(name, start, end):
    return Symbol(name=name, kind="function", start=start, end=end)


def test_small_neighbours_share_a_chunk():
    lines = ["def a():\n", "    ...\n", "def b():\n", "    ...\n"]
    (chunk,) = chunks_of(lines, [symbol("a", 1, 2), symbol("b", 3, 4)])
    assert chunk.names == ("a", "b")
    assert chunk.text == "".join(lines)


def test_a_long_definition_is_cut_and_every_piece_knows_its_name():
    lines = ["def long():\n", *["    step()\n"] * 300]
    chunks = chunks_of(lines, [symbol("long", 1, 301)])
    assert len(chunks) > 3
    assert {chunk.names for chunk in chunks} == {("long",)}


@given(
    st.lists(st.text(max_size=200).map(lambda line: line.replace("\n", "") + "\n"), max_size=300),
    st.lists(st.tuples(st.integers(-3, 320), st.integers(0, 90)), max_size=40),
)
def test_every_line_is_in_exactly_one_chunk_and_none_is_too_large(lines, places):
    symbols = [symbol("x", start, start + size) for start, size in places]
    chunks = chunks_of(lines, symbols)
    assert "".join(chunk.text for chunk in chunks) == "".join(lines)
    for chunk in chunks:
        assert chunk.end - chunk.start < MOST_LINES
        assert len(chunk.text) <= MOST_CHARACTERS or chunk.start == chunk.end
