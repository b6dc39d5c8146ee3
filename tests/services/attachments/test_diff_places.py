"""The places that a diff shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.attachments.diff_places import places_in_diff
from oracle.services.project.diffs import without_secret_files

DIFF = """\
diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@ def f():
 one
--- looks like a name
+++ b/also.py
+new
 three
@@ -10 +11 @@
-ten
+TEN
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/my file.py b/my file.py
--- /dev/null
+++ b/my file.py\t
@@ -0,0 +1,2 @@
+1
+2
"""


def test_hunks_are_places_of_the_new_file_and_removed_lines_of_the_old_one():
    found = [(source["where"], source["text"]) for source in places_in_diff(DIFF)]
    assert found == [
        ("src/a.py:1-4", "one\n++ b/also.py\nnew\nthree"),
        ("src/a.py:11", "TEN"),
        ("my file.py:1-2", "1\n2"),
        ("src/a.py:2", "-- looks like a name"),
        ("src/a.py:10", "ten"),
        ("gone.py:1", "x"),
    ]


def test_what_was_left_out_is_not_a_place():
    secret = "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-A=1\n+A=2\n"
    shown = without_secret_files(secret + DIFF)
    assert "A=" not in shown
    assert {source["path"] for source in places_in_diff(shown)} == {
        "src/a.py",
        "my file.py",
        "gone.py",
    }


@pytest.mark.parametrize("text", ["", "no diff", "@@ -1 +1 @@\n+x", "+++ b/a.py\n+x"])
def test_other_text_has_none(text):
    assert places_in_diff(text) == []


@given(st.text(alphabet="@-+1, \nab/", max_size=200))
def test_any_text_is_read(text):
    places_in_diff(text)
    places_in_diff("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n" + text)
