"""Which files a user names, with -f and with @ in a question."""

import os
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import InputError, NotFound
from oracle.services.attachments.references import Reach, others_in, reference, references_in

FILES = ["a.py", "src/b.py", "my file.py", "odd:12", "x:3-4.py", "it's.md", "decorator"]


@pytest.fixture
def reach(tmp_path):
    for name in FILES:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("1\n2\n3\n")
    (tmp_path / "oracle.toml").touch()
    return Reach(folder=tmp_path, root=tmp_path)


@pytest.mark.parametrize(
    ("text", "path", "lines"),
    [
        ("a.py", "a.py", (None, None)),
        ("a.py:2", "a.py", (2, 2)),
        ("a.py:2-3", "a.py", (2, 3)),
        ("a.py:2-", "a.py", (2, None)),
        ("a.py:2:7", "a.py", (2, 2)),
        ("src/b.py:1-2", "src/b.py", (1, 2)),
        ("./src/../a.py:1", "a.py", (1, 1)),
        ("my file.py:1", "my file.py", (1, 1)),
        ("odd:12", "odd:12", (None, None)),
        ("odd:12:2", "odd:12", (2, 2)),
        ("x:3-4.py:1-2", "x:3-4.py", (1, 2)),
    ],
)
def test_a_path_may_have_lines_and_colons(reach, text, path, lines):
    found = reference(text, reach)
    assert found.path.resolve() == reach.root / path
    assert (found.first, found.last) == lines


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a.py:3-1", "reversed; write a.py:1-3"),
        ("a.py:0", "the first line is 1"),
        ("a.py:0-2", "the first line is 1"),
        ("a.py:x-y", "are not lines"),
        ("a.py:", "are not lines"),
        ("a.py:-5", "are not lines"),
    ],
)
def test_lines_that_make_no_sense_are_named(reach, text, words):
    with pytest.raises(InputError, match=re.escape(words)):
        reference(text, reach)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("missing.py", "check the path"),
        ("*.py", "a pattern is replaced by the shell"),
        ("b.py", "there is no file 'b.py'; did you mean 'src/b.py'?"),
        ("b.py:1-2", "there is no file 'b.py'; did you mean 'src/b.py'?"),
        ("src/bb.py", "did you mean 'src/b.py'"),
        ("", "''"),
    ],
)
def test_a_file_that_does_not_exist_is_named(reach, text, words):
    with pytest.raises(NotFound, match=re.escape(words)):
        reference(text, reach)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("explain @a.py", ["a.py"]),
        ("explain @a.py, please", ["a.py"]),
        ("what is in @a.py?", ["a.py"]),
        ("(see @src/b.py:1-2).", ["src/b.py:1-2"]),
        ("@a.py and @src/b.py", ["a.py", "src/b.py"]),
        ("@src/b.py#L2-L3, please", ["src/b.py#L2-L3"]),
        ("@a.py:L2", ["a.py:L2"]),
        ("@a.py、@src/b.py（見て）", ["a.py", "src/b.py"]),
        ("@a.py:2を見て", ["a.py:2"]),
        ("`@a.py`", ["a.py"]),
        ('@"my file.py" here', ["my file.py"]),
        ("@'my file.py':2 here", ["my file.py:2"]),
        (r"@my\ file.py here", ["my file.py"]),
        (r"@it\'s.md", ["it's.md"]),
        ("@decorator", ["decorator"]),
        ("@property and @app.route", []),
        ("mail a@a.py or me@src/b.py", []),
        ("git@a.py", []),
        ("@src", []),
        ("@src/", []),
        ("@", []),
        ("a @ b", []),
        ("@@a.py", []),
        ("@angular/core", []),
        ("@a.py" + " @a.py" * 39, ["a.py"] * 40),
    ],
)
def test_an_at_sign_names_a_file_only_if_there_is_one(reach, question, found):
    files, unknown = references_in(question, reach)
    assert [file.text for file in files] == found
    assert unknown == []


def test_what_looks_like_a_file_and_is_none_is_reported(reach):
    assert references_in("see @src/typo.py:3 and @b.py.", reach)[1] == ["src/typo.py:3", "b.py"]
    assert references_in("@typo.py#L2-L3 @b.py（見て）", reach)[1] == ["typo.py#L2-L3", "b.py"]


def test_lines_can_be_written_as_github_writes_them(reach):
    for text in ("a.py#L2-L3", "a.py:L2-L3", "a.py:2-3", "a.py#L2-3"):
        found = reference(text, reach)
        assert (found.path.name, found.first, found.last) == ("a.py", 2, 3), text


def test_what_is_neither_a_file_nor_a_folder_is_named(reach):
    os.mkfifo(reach.root / "src/pipe")
    assert others_in("see @src/pipe, @a.py and @src/", reach) == {"src/pipe": "a pipe"}


def test_a_path_is_looked_up_in_the_folder_and_then_in_the_root(reach, tmp_path):
    below = Reach(folder=tmp_path / "src", root=tmp_path)
    assert reference("b.py", below).path == tmp_path / "src/b.py"
    assert reference("src/b.py", below).path == tmp_path / "src/b.py"


@given(st.text(alphabet="@a.py:\"'\\ /-1~\0\n", max_size=40))
def test_any_text_gives_files_or_an_input_error(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp()
    reach = Reach(folder=folder, root=folder)
    for read in (references_in, reference):
        with suppress(InputError):
            read(text, reach)


def test_very_many_at_signs_are_read_quickly(reach):
    files, _ = references_in("@a.py " * 100_000, reach)
    assert len(files) == 200
