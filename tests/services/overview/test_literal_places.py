"""An option of a command line, or a text in quotes, is found where exactly it is written."""

import pytest

from oracle.services.overview.literal_places import places_of_option, places_of_text
from tests.services.overview.test_finding import Files

FILES = Files(
    {
        "doc/tool.1.in": (
            ".SH OPTIONS\n.TP\n.B \\-L RATE, \\-\\-rate-limit RATE\nLimit the rate.\n.TP\n"
            ".B \\-q\nSay nothing, as\n.B \\-L\ndoes too.\n"
        ),
        "src/help.c": '\t{"-L", "--rate-limit", "RATE",\n\t "limit it"},\n\t{"-q", "", "quiet"},\n',
        "README.md": "Use it as in `tool -L 5`, which is slow.\n",
        "NEWS": "1.0\n  -L is new\n",
        "tests/test_tool.py": "run('-L')\nassert error == 'rate must be >= 1'\n",
        "src/check.c": (
            'int check(int rate)\n{\n    if (rate < 1)\n        fail("rate must be >= 1");\n}\n'
        ),
        "docs/errors.md": "`rate must be >= 1` is shown for a rate of 0.\n",
    }
)


def quoted(found):
    return [(place.path, FILES.quoted(place).split("\n")[0].strip()) for place in found]


def test_an_option_is_found_where_it_is_explained_before_where_it_is_used():
    assert quoted(places_of_option(FILES, ["-L"])) == [
        ("doc/tool.1.in", ".B \\-L RATE, \\-\\-rate-limit RATE"),
        ("src/help.c", '{"-L", "--rate-limit", "RATE",'),
        ("README.md", "Use it as in `tool -L 5`, which is slow."),
        ("doc/tool.1.in", ".B \\-L"),
    ]


def test_the_explanation_of_an_option_ends_before_the_next_option():
    place = places_of_option(FILES, ["--rate-limit"])[0]
    assert "Limit the rate." in FILES.quoted(place)
    assert "Say nothing" not in FILES.quoted(place)


@pytest.mark.parametrize("option", ["-X", "-rate", "--rate"])
def test_a_part_of_an_option_is_not_the_option(option):
    assert places_of_option(FILES, [option]) == []


def test_a_text_with_signs_is_found_in_code_before_documents_and_tests():
    found = places_of_text(FILES, "must be >= 1")
    assert [place.path for place in found] == [
        "src/check.c",
        "docs/errors.md",
        "tests/test_tool.py",
    ]
    assert "int check(int rate)" in FILES.quoted(found[0])
