"""What a file becomes in the index."""

import pytest

from oracle.services.project.walk import Walk
from oracle.services.search.intake import bare_lines_of, read, take_in
from oracle.services.search.terms import terms_of_text

SOURCE = """\
/* apple */ int one; /* berry */
// cherry
int two;
/* date
   elder */ int three; // fig
int four;
"""


def test_each_comment_counts_in_the_text_and_once_more_as_a_remark(project):
    project.write("fruit.c", SOURCE)
    (found,) = Walk(root=project.root).files_to_index()
    passage = take_in(read(project.root, found), 1).passages[0]
    assert passage.body.split() == terms_of_text(SOURCE).split()
    # By lines: a line with two comments counts for each of them.
    lines = SOURCE.split("\n")
    remarks = [lines[0], lines[0], lines[1], lines[3], lines[4], lines[4]]
    assert passage.remarks.split() == terms_of_text("\n".join(remarks)).split()


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\nb", "a\nb\n", "\n\n", "a\n\n", "a\fb\nc"])
def test_the_first_lines_are_those_of_the_whole(text):
    lines = bare_lines_of(text)
    for most in range(1, 5):
        assert bare_lines_of(text, most=most) == lines[:most]


def test_a_file_that_begins_well_and_goes_on_in_one_line_is_generated(project):
    project.write("bundle.js", "// a line\n" * 900 + "x" * 900_000)
    (found,) = Walk(root=project.root).files_to_index()
    assert "too long to be read" in read(project.root, found)
