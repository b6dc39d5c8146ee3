"""A fence opens a block of code; a row of marks below a title does not."""

import pytest

from oracle.services.project.code_blocks import fence_at


@pytest.mark.parametrize(
    ("above", "line", "marks"),
    [
        ("", "```python", "```"),
        ("", "~~~~", "~~~~"),
        ("Title", "~~~~~", ""),
        ("Title", "~~~~~~~", ""),
        ("A longer title", "~~~", "~~~"),
        ("    code", "~~~~~~~~~~", "~~~~~~~~~~"),
        ("text", "  ```", "```"),
        ("text", "text", ""),
    ],
)
def test_marks_are_a_fence_or_an_underline(above, line, marks):
    assert fence_at([above, line], 1) == marks
