"""The order of parts along their uses."""

from oracle.services.coverage.order import uses_as_text, uses_between
from tests.services.coverage.a_part import part


def test_a_name_that_two_ranges_of_a_file_use_is_told_once():
    parts = [
        part("app.py", "def one():", "    return Response(1)"),
        part("app.py", "def two():", "    return Response(2)", start=300),
        part("wrappers.py", "class Response:", "    pass"),
    ]
    assert uses_as_text(uses_between(parts)) == "app.py -> wrappers.py (Response)"
