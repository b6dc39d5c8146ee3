"""How a text is cut into units that can be quoted whole."""

import itertools
from textwrap import indent

from hypothesis import given
from hypothesis import strategies as st

from oracle.models.source_kind import kind_named
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.units import MOST_LINES, height, units_of


def units(text, path="a.py"):
    lines = text.split("\n")
    source = Quotation(where=path, path=path, first=1, lines=lines, kind=kind_named("code"))
    return units_of(source)


def spans(text, path="a.py"):
    return [(unit.start, unit.end) for unit in units(text, path)]


def function(name, lines=6):
    return "\n".join([f"def {name}():", *(f"    x = {n}" for n in range(lines - 1))])


def test_each_definition_is_a_unit_with_its_comment_and_decorator():
    text = f"# says what\n@cache\n{function('one')}\n\n\n{function('two', 9)}"
    assert spans(text) == [(0, 7), (10, 18)]


def test_a_long_definition_is_cut_and_its_parts_know_what_they_are_in():
    body = indent("\n\n".join(function(f"method_{n}", 9) for n in range(4)), "    ")
    head, *others = units(f'class Store:\n    """Keeps orders."""\n\n{body}')
    assert head.start == 0
    assert head.above == ()
    assert len(others) == 3
    assert {unit.above for unit in others} == {(0,)}


def test_a_docstring_stays_with_its_signature():
    said = "\n".join(f"    says {n}" for n in range(12))
    body = "\n".join(f"    x = {n}" for n in range(20))
    first, *_ = spans(f'def load(\n    path,\n):\n    """Loads.\n\n{said}\n    """\n{body}')
    assert first == (0, 17)


def test_a_short_section_is_a_unit_and_a_long_one_is_cut_at_paragraphs():
    long = "\n\n".join("\n".join(["word"] * 8) for _ in range(4))
    found = units(f"# A\n\nshort\n\n## B\n\n{long}", "a.md")
    assert [(unit.start, unit.end, unit.above) for unit in found[:2]] == [
        (0, 2, ()),
        (4, 13, (0, 4)),
    ]
    assert all(unit.above == (0, 4) for unit in found[1:])


def test_a_comment_in_a_block_of_code_is_no_heading():
    assert spans("# A\n\n```sh\n# run it\nmake\n```\n\nDone.", "a.md") == [(0, 7)]


def test_what_a_colon_announces_stays_with_it():
    items = "\n".join(f"- item {n}" for n in range(15))
    before = "\n".join(["word"] * 13)
    text = f"# A\n\n{before}\n\nThese:\n\n{items}"
    assert (16, 32) in spans(text, "a.md")


def test_long_lines_count_as_several():
    text = "\n".join(f"- {'word ' * 100}" for _ in range(12))
    assert all(
        sum(map(height, text.split("\n")[a : b + 1])) <= MOST_LINES for a, b in spans(text, "a.md")
    )


@given(
    st.lists(
        st.sampled_from(["", "x = 1", "    y", "def a():", "# b", "- c", "```", "class D:", "}"])
    ),
    st.sampled_from(["a.py", "a.md", "a.rs"]),
)
def test_units_are_in_order_and_lose_no_line(lines, path):
    found = spans("\n".join(lines), path)
    covered = {n for start, end in found for n in range(start, end + 1)}
    assert covered >= {n for n, line in enumerate(lines) if line.strip()}
    assert all(one[1] < other[0] for one, other in itertools.pairwise(found))
