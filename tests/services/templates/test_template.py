"""Named questions: front matter, placeholders and the files they come from."""

import os
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import InputError, NotFound, SourceFileError
from oracle.services.templates.template import parse_template
from oracle.services.templates.template_files import LARGEST, find_template, template_files
from tests.tables import each_row


def template(text, origin="user"):
    return parse_template(text, name="review", origin=origin, file="review.md")


def filled(text, more="", **values):
    return template(text).fill(values, more).question


@each_row(
    ("text", "values", "question"),
    [
        ("Review {path}.", {"path": "a.py"}, "Review a.py."),
        ("{a} {b} {a}", {"a": "1", "b": "2"}, "1 2 1"),
        ("Review `{path}`", {"path": "a.py"}, "Review `a.py`"),
        ("{a}", {"a": "{b} {{a}} {a}"}, "{b} {{a}} {a}"),
        ("{a}", {"a": ""}, ""),
        ("{{path}} is literal", {}, "{path} is literal"),
        ("${HOME} {} {0} { x } {a.b} {'k': 1} {x", {}, "${HOME} {} {0} { x } {a.b} {'k': 1} {x"),
        ("see\n```py\nf'{x}' {{y}}\n```\nend", {}, "see\n```py\nf'{x}' {{y}}\n```\nend"),
        ("{x}\n```\n{x} {y}\n```", {"x": "1"}, "1\n```\n1 {y}\n```"),
        ("```\n{x}\n```", {"x": "1"}, "```\n1\n```"),
        ("---\ndefaults:\n  x: 7\n---\n{x}", {}, "7"),
        ("---\ndefaults:\n  x: 7\n---\n{x}", {"x": "8"}, "8"),
        ("---\r\ndescription: d\r\n---\r\nq {x}\r\n", {"x": "1"}, "q 1"),
    ],
)
def test_placeholders_are_filled_and_other_braces_stay(text, values, question):
    assert filled(text, **values) == question


def test_more_words_are_a_paragraph_of_their_own():
    assert filled("Review {path}.", "Only errors.", path="a") == "Review a.\n\nOnly errors."


def test_all_missing_names_are_in_one_error():
    with pytest.raises(InputError, match=r"needs a, b; write: oracle ask -t review a=… b=…$"):
        filled("{a} {b}")


def test_the_advice_keeps_the_values_that_were_given():
    with pytest.raises(InputError) as problem:
        filled("{a} {c} {b}", c="it's here", b="x/y.py")
    assert str(problem.value).endswith(
        """needs a; write: oracle ask -t review c='it'"'"'s here' b=x/y.py a=…"""
    )


def test_a_name_that_it_does_not_have_is_an_error():
    with pytest.raises(InputError, match=r"no placeholder 'pth' \(did you mean 'path'"):
        filled("{path}", pth="1")


def test_the_front_matter_says_what_is_attached():
    found = template("---\nattach: diff main, src/{name}.py\n---\nReview").fill({"name": "a"})
    assert (found.files, found.diff) == (["src/a.py"], "main")
    assert template("---\nattach: diff\n---\nReview").fill({}).diff == ""
    assert template("Review").fill({}).diff is None


@each_row(
    ("text", "words"),
    [
        ("---\nyes: true\n---\nq", "review.md:2: unknown key 'yes'"),
        ("---\nmodel: gpt\n---\nq", "unknown key 'model'"),
        ("---\nnonsense\n---\nq", "review.md:2: 'nonsense' is not of the form"),
        ("---\ndescription: x\nq", "does not end"),
        ("---\ndescription: x\n---\n", "the question is empty"),
        ("", "the question is empty"),
    ],
)
def test_a_mistake_is_named_with_its_line(text, words):
    with pytest.raises(SourceFileError, match=re.escape(words)):
        template(text)


@given(st.text(alphabet="{}x`\n$- :", max_size=60))
def test_any_text_without_placeholders_that_miss_a_value_is_kept_or_refused(text):
    with suppress(InputError):
        filled(text, x="1") if "{x}" in text else filled(text)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for folder in ("project/.oracle/questions", "config/oracle/questions"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path / "project"


def test_a_projects_question_comes_before_the_users(root, tmp_path):
    (tmp_path / "config/oracle/questions/review.md").write_text("mine")
    assert find_template("review", root).body == "mine"
    assert find_template("review", None).origin == "user"
    (root / ".oracle/questions/review.md").write_text("the project's")
    assert find_template("review", root).body == "the project's"
    assert [file.origin for file in template_files(root)] == ["project", "user"]


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "", "a/b", ".hidden", "reveiw"])
def test_a_name_that_does_not_exist_is_an_error(root, name):
    (root / ".oracle/questions/review.md").write_text("x")
    with pytest.raises(NotFound, match="`oracle questions` lists them"):
        find_template(name, root)


def test_without_any_question_the_error_says_where_to_write_one(root):
    with pytest.raises(NotFound, match=r"write one in \.oracle/questions/review\.md"):
        find_template("review", root)


def hostile(kind, file):
    if kind == "huge":
        file.write_text("x" * (LARGEST + 1))
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "link":
        file.symlink_to("/etc/hostname")
    elif kind == "binary":
        file.write_bytes(b"a\0b")
    else:
        file.write_bytes(b"\xff\xfe\xfd")


@pytest.mark.parametrize("kind", ["huge", "pipe", "folder", "link", "binary", "encoding"])
def test_a_hostile_file_is_an_error_that_names_it(root, kind):
    hostile(kind, root / ".oracle/questions/review.md")
    with pytest.raises(SourceFileError, match=r"review\.md: "):
        find_template("review", root)


def test_a_folder_of_questions_that_is_a_link_is_refused(root, tmp_path):
    (root / ".oracle/questions").rmdir()
    (root / ".oracle/questions").symlink_to(tmp_path)
    with pytest.raises(InputError, match="symbolic link"):
        template_files(root)


def test_the_users_own_question_may_be_a_link(root, tmp_path):
    (tmp_path / "dotfile.md").write_text("mine")
    (tmp_path / "config/oracle/questions/a.md").symlink_to(tmp_path / "dotfile.md")
    assert find_template("a", root).body == "mine"
