"""What a line is inside of."""

import pytest

from oracle.services.quoting.kinds_of_lines import enclosing_name


@pytest.mark.parametrize(
    ("line", "name"), [(2, "sell"), (1, "Till"), (0, ""), (5, ""), (8, "outer")]
)
def test_the_definition_around_a_line_is_named(line, name):
    lines = [
        "class Till:",
        "    def sell(self):",
        "        return 1",
        "",
        "",
        "RATE = 2",
        "function outer () {",
        "  const inner = {",
        "    a: 1",
    ]
    assert enclosing_name(lines, line) == name
