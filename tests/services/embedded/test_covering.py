"""The answer to a broad question, out of the parts that stand before the reader."""

import pytest

from oracle.services.embedded.covering import listed


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a.py", "b.py"], "`a.py`, `b.py`"),
        (["a.py", "b.py and 3 more"], "`a.py`, `b.py` and 3 more"),
        (["Terms and conditions.md"], "`Terms and conditions.md`"),
        (["Terms and conditions.md and 3 more"], "`Terms and conditions.md` and 3 more"),
    ],
)
def test_a_name_with_an_and_in_it_stays_whole(names, told):
    assert listed(names) == told
