"""The order in which files are found."""

import pytest

from oracle.services.search.passages import Match
from oracle.services.search.ranking import _window_scores
from oracle.services.search.weights import Weights

RAISES = 'def load(place):\n    raise ValueError(f"cannot read the tide table of {place} today")\n'
TALKS = '''def tide_table(place):
    """The tide table. A table of tides, read today."""
    return read(place, table="tide", today=True)


def read_tide_table(place):
    return tide_table(place)
'''


def paths(hits):
    return [hit.path for hit in hits]


@pytest.mark.parametrize(
    "question",
    [
        "ValueError: cannot read the tide table of Brest today",
        'why do I get "cannot read the tide table of Brest today"?',
    ],
)
def test_the_text_of_an_error_finds_the_file_that_says_it(project, question):
    project.write("src/loading.py", RAISES)
    project.write("src/tide_table.py", TALKS)
    assert paths(project.indexed().search(question))[0] == "src/loading.py"
    assert paths(project.indexed().search("tide table"))[0] == "src/tide_table.py"


def test_words_in_the_order_of_the_question_count_more(project):
    filler = "".join(f"value_{number} = {number}\n" for number in range(6))
    project.write("a.py", f"# a lock that is shared among readers\n{filler}")
    project.write("b.py", f"# readers have a lock; it is shared\n{filler}")
    assert paths(project.indexed().search("shared among readers")) == ["a.py", "b.py"]


def test_a_very_long_question_is_answered(project):
    project.write("a.py", TALKS)
    assert paths(project.indexed().search("tide table " + "so many words " * 5_000)) == ["a.py"]


def test_what_was_decided_comes_before_what_speaks_of_it(project):
    adr = "# {0}\n\n## Status\n\n{1}\n\n## Context\n\nCaching.\n\n## Decision\n\n{2}\n"
    project.write("docs/adr/1.md", adr.format("Files", "Superseded by 2", "On caching: files."))
    project.write("docs/adr/2.md", adr.format("Redis", "Accepted", "We keep pages in Redis."))
    project.write("notes/Caching howto.md", "# Caching howto\n\nHow caching is set up: caching.\n")
    found = project.indexed().search("what did we decide about caching?", kind="vault")
    assert paths(found)[0] == "docs/adr/2.md"


@pytest.mark.parametrize("question", ["tides: Load a place", "fix(tides): load a place"])
def test_what_stands_before_a_colon_is_taken_for_a_path(project, question):
    project.write("lib/tides/loading.py", "def load(place):\n    return place\n")
    project.write("lib/loading.py", "def load(place, tides):\n    return place, tides, tides\n")
    assert paths(project.indexed().search(question))[0] == "lib/tides/loading.py"


def test_a_file_that_defines_a_name_of_the_question_comes_first(project):
    project.write("lib/low.py", "def low_water(place):\n    return place\n")
    uses = "".join(f"print(low_water({at}), 'low water at the harbour')\n" for at in range(9))
    project.write("lib/harbour.py", f"# the low water of a harbour\n{uses}")
    question = "the harbour prints low_water at low water, why is the harbour late"
    assert paths(project.indexed().search(question))[0] == "lib/low.py"


def test_vendored_code_and_tests_come_after_our_own(project):
    text = "def client(cookies):\n    return cookies\n"
    for path in ("tests/web/client.py", "vendor/web/client.py", "web/client.py"):
        project.write(path, text)
    found = paths(project.indexed().search("the client keeps cookies"))
    assert found == ["web/client.py", "vendor/web/client.py", "tests/web/client.py"]


def test_words_in_two_neighbouring_passages_count_together():
    matches = [
        Match(file=1, start=1, end=40, score=2.0),
        Match(file=2, start=1, end=40, score=1.5),
        Match(file=2, start=41, end=80, score=1.0),
        Match(file=2, start=90, end=99, score=1.0),
    ]
    scores = _window_scores(matches, Weights(fields={}, kin_fields={}, neighbour=0.8))
    assert scores == {1: 2.0, 2: pytest.approx(2.3)}


def test_a_version_is_not_found_by_its_digits(project):
    project.write("old.md", "# Changes\n\n## 0.1.14\n\nTide tables.\n")
    project.write("new.md", "# Changes\n\n## 14.0.0\n\nTide tables.\n")
    assert paths(project.indexed().search("what changed in 14.0.0", kind="vault"))[0] == "new.md"


def test_the_file_with_all_words_in_one_place_comes_first(project):
    project.write("lib/harbour.py", "harbour = 1\n" * 30)
    project.write("lib/pilot.py", "# pilot pilot pilot\n" * 10)
    project.write("lib/plan.py", "x = 1\n" * 20 + "# the pilot leaves the harbour at noon\n")
    assert paths(project.indexed().search("pilot at noon in the harbour"))[0] == "lib/plan.py"
