"""Paths for @ in a question, while it is typed."""

import pytest

from oracle.services.attachments.completion import completions, fragment_in


@pytest.fixture
def root(tmp_path):
    for name in [
        "src/auth.py",
        "src/api.py",
        "docs/deep/one.md",
        "my\tfile.py",
        ".env",
        "x.png",
        ".git/config",
    ]:
        file = tmp_path / "project" / name.replace("\t", " ")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("explain @", ["@docs/", r"@my\ file.py", "@src/"]),
        ("explain @sr", ["@src/api.py", "@src/auth.py"]),
        ("explain @src/a", ["@src/api.py", "@src/auth.py"]),
        ("explain @src/au", ["@src/auth.py"]),
        ("@doc", ["@docs/deep/one.md"]),
        ('see @"my', ['@"my file.py"']),
        (r"see @my\ f", [r"@my\ file.py"]),
        ("see @.e", []),
        ("see @x", []),
        ("mail a@s", []),
        ("no sign", []),
        ("@src/auth.py and", []),
        ("@none/", []),
    ],
)
def test_files_that_can_be_attached_are_offered(root, text, found):
    assert completions(text, root) == found


def test_a_link_that_leads_out_of_the_project_is_not_offered(root):
    (root.parent / "outside").mkdir()
    (root / "linked").symlink_to(root.parent / "outside")
    (root / "linked_src").symlink_to("src")
    assert completions("@li", root) == ["@linked_src/api.py", "@linked_src/auth.py"]


def test_the_fragment_is_what_a_completion_replaces():
    assert fragment_in("see @src/a") == "@src/a"
    assert fragment_in("see @src/a now") == ""
