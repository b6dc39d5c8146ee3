import pytest

from oracle.services.embedded.attachments import asks_to_judge, facts_of, places_in
from tests.tables import each_row

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
    assert "1 of them is a test." in facts


def test_a_diff_of_one_file_is_not_counted_as_many():
    assert "It is not a test." in facts_of(DIFF[: DIFF.index("diff --git a/tests")], [])
    assert "It is a test." in facts_of(DIFF[DIFF.index("diff --git a/tests") :], [])


def test_a_log_is_quoted_at_its_first_error():
    facts = facts_of("ok\n0 errors\nwarning: slow\nERROR: disk full\nmore", [])
    assert "5 lines; 1 of them mentions an error, 1 a warning" in facts
    assert "The first, line 4:" in facts
    assert "ERROR: disk full" in facts


@pytest.mark.parametrize("text", ["one\ntwo\nthree\n", "one\ntwo\nthree"])
def test_a_line_end_at_the_end_is_not_a_line(text):
    assert facts_of(text, []) == (
        "The attached text has 3 lines. It begins:\n\n```text\none\ntwo\nthree\n```"
    )


@pytest.mark.parametrize("text", ["a\n\n\n", "error: x\n\nmore", "a\n\n\n\n\n\nb c\n"])
def test_a_quoted_block_does_not_end_with_an_empty_line(text):
    assert "\n\n```" not in facts_of(text, []).replace(":\n\n```", "")


@each_row("prefix", ["", "web-1  | "])
@each_row("name", ["TooManyRedirects", "app.Stop", "KeyboardInterrupt"])
def test_the_last_line_of_a_traceback_is_the_error_whatever_its_name(name, prefix):
    lines = [
        "started",
        "Traceback (most recent call last):",
        '  File "/lib/sessions.py", line 5, in send',
        "    raise it",
        f"{name}: Exceeded 30 redirects.",
        "stopped",
    ]
    facts = facts_of("".join(f"{prefix}{line}\n" for line in lines), [])
    assert "6 lines; 1 of them mentions an error, 0 a warning" in facts
    assert "The first, line 5:" in facts


def test_a_traceback_that_is_cut_is_quoted_from_its_head():
    cut = 'x\nTraceback (most recent call last):\n  File "/a.py", line 5, in send\n'
    facts = facts_of(cut, [])
    assert "0 of them mention an error" in facts
    assert "A traceback begins at line 2:" in facts


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


@pytest.mark.parametrize(
    ("question", "is_order"),
    [
        ("Review `a.py` in three sentences.", True),
        ("please check it", True),
        ("where is a review stored?", False),
        ("checkout: where does it begin?", False),
    ],
)
def test_an_order_to_judge_is_not_a_search(question, is_order):
    assert asks_to_judge(question) is is_order
