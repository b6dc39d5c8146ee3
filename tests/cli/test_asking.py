"""The question with its template and its attachments, before it is asked."""

import subprocess

import pytest

from oracle.cli.asking import Request, prepared
from oracle.cli.optional_values import with_values
from oracle.errors import InputError
from oracle.settings import load_settings
from tests.tables import each_row


@each_row(
    ("arguments", "expected"),
    [
        (["--diff", "is this safe?"], ["--diff=", "is this safe?"]),
        (["--diff", "is", "this", "safe"], ["--diff=", "is", "this", "safe"]),
        (["--diff", "main", "safe?"], ["--diff=main", "safe?"]),
        (["safe?", "--diff"], ["safe?", "--diff="]),
        (["safe?", "--diff", "main"], ["safe?", "--diff=main"]),
        (["--diff", "-v", "safe?"], ["--diff=", "-v", "safe?"]),
        (["--diff=main", "safe?"], ["--diff=main", "safe?"]),
        (["--", "--diff", "main"], ["--", "--diff", "main"]),
        (["-t"], ["--template="]),
        (["-t", "--json"], ["--template=", "--json"]),
        (["-t", "review", "path=x"], ["-t", "review", "path=x"]),
    ],
    ids=" ".join,
)
def test_a_value_that_was_left_out_does_not_take_the_question(arguments, expected):
    assert with_values(arguments, {"main"}.__contains__) == expected


@each_row(
    "arguments",
    [
        ["--diff", "mian", "is this safe?"],
        ["--diff", "mian", "is this safe?", "-v"],
        ["is this safe?", "--diff", "mian"],
        ["-v", "is this safe?", "--diff", "mian", "-q"],
    ],
    ids=" ".join,
)
def test_a_misspelt_revision_does_not_become_a_part_of_the_question(arguments):
    with pytest.raises(InputError, match="git knows no revision 'mian'; check it, or if it"):
        with_values(arguments, {"main"}.__contains__)


@each_row(
    "arguments",
    [["-f", "my file.py", "--diff", "explain"], ["--diff", "explain", "-f", "my file.py"]],
    ids=" ".join,
)
def test_one_word_next_to_a_path_with_blanks_is_the_question(arguments):
    assert "explain" in with_values(arguments, {"main"}.__contains__)


def test_a_dash_alone_takes_the_question_from_stdin():
    request = Request.typed(["-"])
    assert request.reads_stdin
    assert request.with_question("where is it?\n").words == ("where is it?\n",)
    with pytest.raises(InputError, match="stdin has no question"):
        request.with_question(" \n")


@pytest.fixture
def settings(tmp_path, monkeypatch):
    root = tmp_path / "project"
    (root / ".oracle/questions").mkdir(parents=True)
    (root / "oracle.toml").touch()
    (root / "a.py").write_text("a = 1\n")
    (tmp_path / "notes.txt").write_text("private\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return load_settings()


def write(text, folder=".oracle/questions"):
    with open(f"{folder}/review.md", "w") as file:
        file.write(text)


def test_words_files_and_mentions_make_a_question(settings):
    asked = prepared(Request(words=["what", "is", "@a.py"], files=["../notes.txt"]), settings)
    assert asked.question == "what is @a.py"
    assert [name.rpartition("/")[2] for name in asked.attachments.names] == [
        "notes.txt:1",
        "a.py:1",
    ]


def test_a_value_that_is_given_twice_is_refused(settings):
    write("Review {path} for {what}.")
    request = Request(template="review", words=["path=a.py", "path=b.py"], values=["what=x"])
    with pytest.raises(InputError, match=r"path is given twice, as 'a\.py' and 'b\.py'; keep one"):
        prepared(request, settings)


def test_a_template_is_filled_and_attaches_files_of_the_project(settings):
    write("---\nattach: {path}\n---\nReview @{path} for {what}.")
    request = Request(
        template="review", words=["path=a.py", "be", "brief"], values=["what=errors and more"]
    )
    asked = prepared(request, settings)
    assert asked.question == "Review @a.py for errors and more.\n\nbe brief"
    assert asked.attachments.names == ["a.py:1"]
    assert asked.template.startswith("review (project: ")


@pytest.mark.parametrize("text", ["---\nattach: ../notes.txt\n---\nx", "see @../notes.txt"])
def test_a_projects_template_attaches_nothing_from_outside(settings, text):
    write(text)
    with pytest.raises(InputError, match="outside the project"):
        prepared(Request(template="review"), settings)
    # What the user attaches is another matter.
    write("x")
    request = Request(template="review", files=["../notes.txt"], words=["see", "@../notes.txt"])
    assert len(prepared(request, settings).attachments.names) == 1


def test_the_users_own_template_may(settings, tmp_path):
    (tmp_path / "config/oracle/questions").mkdir(parents=True)
    write("see @../notes.txt", tmp_path / "config/oracle/questions")
    assert len(prepared(Request(template="review"), settings).attachments.names) == 1


def test_a_template_may_ask_for_the_diff_and_the_user_for_another(settings):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "a.py"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    write("---\nattach: diff\n---\nReview.")
    with pytest.raises(InputError, match=r"nothing has changed|only untracked"):
        prepared(Request(template="review"), settings)
    with open("a.py", "a") as file:
        file.write("b = 2\n")
    names = prepared(Request(template="review"), settings).attachments.names
    assert names == ["git diff HEAD"]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(words=["x"], values=["a=1"]), "--set needs a template"),
        (Request(template="review", values=["a"]), "not of the form name=value"),
        (Request(template="none"), "there is no question 'none'"),
    ],
)
def test_a_request_that_cannot_be_used_is_an_error(settings, request_, words):
    write("x")
    with pytest.raises(InputError, match=words):
        prepared(request_, settings)


def test_piped_text_counts_for_the_limit(settings):
    with pytest.raises(InputError, match="together may have"):
        prepared(Request(words=["x"], files=["a.py"]), settings, piped_bytes=499_998)
