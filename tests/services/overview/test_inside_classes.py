"""A class is asked for its methods, its fields or its heirs."""

import pytest

from oracle.services.overview.inside_classes import Body, inside_class
from tests.services.overview.test_finding import Files

PATH = "app/workers.py"
TEXT = """class Base(Exception):
    \"\"\"What all have.

    Note: this is no field.
    \"\"\"

    name: str
    \"\"\"How it is called.\"\"\"
    size = 3
    _hidden = 4

    def run(self):
        inner = 1

    def stop(self):
        pass


class Fast(Base):
    pass


class Fastest(Fast):
    pass
"""
FILES = Files({PATH: TEXT})
BASE = Body(name="Base", path=PATH, start=1, end=16)


@pytest.mark.parametrize(
    ("of", "found"),
    [
        ("methods", ["    def run(self):", "    def stop(self):"]),
        ("options", ["    name: str", "    size = 3"]),
        ("exceptions inherit", ["class Fast(Base):", "class Fastest(Fast):"]),
        ("signals", []),
    ],
)
def test_it_lists_what_is_asked_for(of, found):
    groups = inside_class(FILES, BASE, of, [PATH])
    assert [FILES.quoted(place) for group in groups for place in group.places] == found
