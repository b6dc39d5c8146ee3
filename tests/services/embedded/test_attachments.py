import pytest

from oracle.services.embedded.attachments import facts_of, places_in

DIFF = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@
-old
+new
--- not a header
diff --git a/tests/test_a.py b/tests/test_a.py
new file mode 100644
--- /dev/null
+++ b/tests/test_a.py
@@ -0,0 +1,1 @@
+def test_a(): ...
"""
PLAIN = "--- a.py\t2026\n+++ a.py\t2026\n@@ -1 +1 @@\n-x\n+y\n--- b.py\n+++ b.py\n@@ -1 +1 @@\n-x\n"


def test_a_diff_is_counted_file_by_file():
    facts = facts_of(DIFF, [])
    assert "touches 2 files: 2 lines added, 2 removed" in facts
    assert "- `a.py` (changed): +1 −2" in facts
    assert "- `tests/test_a.py` (new): +1 −0" in facts
    assert "1 of them are tests" in facts


def test_a_log_is_quoted_at_its_first_error():
    facts = facts_of("ok\n0 errors\nwarning: slow\nERROR: disk full\nmore", [])
    assert "5 lines; 1 of them mention an error, 1 a warning" in facts
    assert "The first, line 4:" in facts
    assert "ERROR: disk full" in facts


def test_a_text_is_quoted_where_it_has_words_of_the_question():
    assert "two b" in facts_of("one a\ntwo b", ["b"])
    assert "It begins:" in facts_of("one\ntwo", ["absent"])


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('  File "src/a.py", line 5, in f\nKeyError', [("src/a.py", 5)]),
        ('  File "/usr/lib/x.py", line 5, in f', []),
        ("src/a.py:12: error: no", [("src/a.py", 12)]),
        (DIFF, []),
    ],
)
def test_an_error_names_places_of_the_project(text, places):
    assert places_in(text) == places


@pytest.mark.parametrize(
    "text", ["new file\n@@ -1", "@@ -1 +1 @@\n+a", "diff --git ", "+++ \n@@ -1"]
)
def test_a_diff_in_pieces_is_counted_as_far_as_it_goes(text):
    assert "The attached diff touches" in facts_of(text, [])
