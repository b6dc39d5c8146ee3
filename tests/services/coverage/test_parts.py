"""How parts that were not read are named."""

import pytest

from oracle.services.citations.finding import find_citations
from oracle.services.coverage.parts import left_out
from tests.services.coverage import a_part


def part(name, state="open", lines=None):
    return {**a_part.part(name, state=state), "lines": lines}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([part("a.py", "whole")], ""),
        ([part("a.py"), part("b.py", "nothing"), part("a.py", "failed")], "a.py"),
        ([part("src/a.py", "left", [10, 90])], "src/a.py from line 10 to 90"),
    ],
)
def test_what_was_not_read_is_named_once_and_never_cited(parts, text):
    assert left_out(parts) == text
    assert find_citations(left_out(parts)) == []


def test_a_long_list_is_cut():
    assert left_out([part(f"{n}.py") for n in range(13)]).endswith("9.py and 3 more")
