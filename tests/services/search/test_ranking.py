"""The order in which files are found."""

import pytest

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
