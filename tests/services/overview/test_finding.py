"""What a project says about itself is found where projects usually say it."""

from dataclasses import dataclass

import pytest

from oracle.services.overview.finding import name_of, places_for
from oracle.services.overview.places import sections_of


@dataclass
class Files:
    texts: dict[str, str]

    @property
    def paths(self):
        return sorted(self.texts)

    def read(self, path):
        return self.texts[path].split("\n")

    def quoted(self, place):
        return "\n".join(self.read(place.path)[place.start - 1 : place.end])


README = """\
# Basket

[![build](https://x/y.svg)](https://x)

> *Shopping made small*

Basket is a library that keeps what a customer is about to buy.

## Installation

```sh
pip install basket
```

## Requirements

Basket needs Redis >= 5 and Python 3.9+.

## License

See the file.
"""
PYPROJECT = """\
[project]
name = "basket"
version = "2.1.0"
description = "Keeps baskets."
license = "MIT"
dependencies = [
    "redis>=3",
]

[tool.hatch.envs.test.scripts]
unit = "python -m unittest discover"

[tool.other]
description = "not the project"
"""
CHANGES = """\
# Changes

## 2.1.0 (2026-01-01)

* Added coupons.

## 2.0.1

* Fixed the tax.

## 2.0.0

* Added baskets of groups.
"""
FILES = Files(
    {
        "README.md": README,
        "pyproject.toml": PYPROJECT,
        "CHANGES.md": CHANGES,
        "LICENSE": "MIT License\n\nCopyright (c) A",
        "SECURITY.md": "# Security\n\nWe care.\n\n## Reporting\n\nWrite to security@example.com.",
        "src/basket/core.py": "class Basket:\n    pass\n",
        "Makefile": "lint:\n\truff check\n\ntest:\n\tpytest -q\n",
    }
)


@pytest.mark.parametrize(
    ("topic", "path", "text"),
    [
        ("about", "README.md", "Basket is a library"),
        ("install", "README.md", "pip install basket"),
        ("requirements", "pyproject.toml", "redis>=3"),
        ("licence", "LICENSE", "MIT License"),
        ("version", "pyproject.toml", '"2.1.0"'),
        ("security", "SECURITY.md", "security@example.com"),
        ("changes", "CHANGES.md", "Added coupons"),
    ],
)
def test_a_topic_is_answered_by_the_usual_place(topic, path, text):
    best = places_for(FILES, topic)[0]
    assert best.path == path
    assert text in FILES.quoted(best)


def test_a_test_command_is_found_in_the_manifest_and_the_makefile():
    found = {place.path: FILES.quoted(place) for place in places_for(FILES, "test")}
    assert "unittest discover" in found["pyproject.toml"]
    assert found["Makefile"] == "test:\n\tpytest -q"


def test_a_slogan_is_not_what_the_project_is():
    assert "slogan" not in FILES.quoted(places_for(FILES, "about")[0]).lower()
    assert "Shopping made small" not in FILES.quoted(places_for(FILES, "about")[0])


def test_tables_that_configure_tools_do_not_describe_the_project():
    quoted = [FILES.quoted(place) for place in places_for(FILES, "about")]
    assert not any("not the project" in text for text in quoted)


def test_words_narrow_requirements_to_the_lines_that_have_them():
    best = places_for(FILES, "requirements", words=["Redis"])[0]
    assert (best.path, FILES.quoted(best)) == (
        "README.md",
        "Basket needs Redis >= 5 and Python 3.9+.",
    )


@pytest.mark.parametrize(
    ("version", "text"), [("2.1.0", "coupons"), ("2.1", "coupons"), ("2.0.1", "tax")]
)
def test_a_version_has_its_part_of_the_changelog(version, text):
    (place,) = places_for(FILES, "changes", version=version)
    assert text in FILES.quoted(place)


def test_a_version_that_is_not_in_the_changelog_has_no_place():
    assert places_for(FILES, "changes", version="3.0") == []


def test_the_release_that_brought_something_is_named_by_its_heading():
    head, line = places_for(FILES, "changes", words=["groups"])
    assert FILES.quoted(head) == "## 2.0.0"
    assert FILES.quoted(line) == "* Added baskets of groups."


def test_a_project_without_documents_says_nothing():
    bare = Files({"main.py": "print()"})
    assert places_for(bare, "install") == []
    assert name_of(bare) == ""


def test_the_name_is_in_the_manifest_or_the_title():
    assert name_of(FILES) == "basket"
    assert name_of(Files({"README.md": "# Shop\n"})) == "Shop"


def test_a_hash_in_a_block_of_code_is_not_a_heading():
    lines = ["# A", "```sh", "# comment", "```", "B", "---", "text"]
    assert [section.title for section in sections_of(lines)] == ["A", "B"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "docs/versionhistory.rst",
            "Versions\n========\n\n**1.3**\n\n- Good.\n\n**1.2**\n\n- Old.\n",
        ),
        (
            "docs/changelog.rst",
            "Changes\n=======\n\n.. changelog::\n    :version: 1.3\n\n    - Good.\n\n"
            ".. changelog::\n    :version: 1.2\n\n    - Old.\n",
        ),
        ("docs/releases/1.3.txt", "Release\n\n- Good.\n"),
        (
            "CHANGES.rst",
            "Shop 1.4 (2026)\n---------------\n\nNew\n~~~\n\n- More.\n\n"
            "Shop 1.3 (2025)\n---------------\n\nNew\n~~~\n\n- Good.\n",
        ),
    ],
)
def test_a_version_is_found_in_each_form_of_changelog(path, text):
    files = Files({path: text})
    (place,) = places_for(files, "changes", version="1.3")
    shown = files.quoted(place)
    assert "Good." in shown
    assert "Old." not in shown
    assert "More." not in shown


def test_an_author_that_is_taken_from_elsewhere_comes_after_one_that_is_named():
    files = Files(
        {"setup.py": 'setup(\n    author=meta["author"],\n)\n', "PKG-INFO": "Author: Ada\n"}
    )
    first, *_ = places_for(files, "maintainers")
    assert files.quoted(first) == "Author: Ada"


def test_a_licence_is_found_in_prose_and_in_a_folder_for_documents():
    files = Files(
        {
            "README": (
                "Tool\n****\n\nIt is copyright 2021, and is distributed under\n"
                "the Artistic License.\n"
            ),
            "doc/COPYING": "Artistic License 2.0\n",
        }
    )
    assert [files.quoted(place) for place in places_for(files, "licence")] == [
        "Artistic License 2.0",
        "It is copyright 2021, and is distributed under\nthe Artistic License.",
    ]


def test_sections_of_a_manual_page_are_found():
    lines = ["An intro", ".SH NAME", "tool", '.SS "In short"', "text", ".SH EXIT STATUS", "1"]
    found = [(s.title, s.level, s.start, s.end) for s in sections_of(lines)]
    assert found == [("NAME", 1, 1, 5), ("In short", 2, 3, 5), ("EXIT STATUS", 1, 5, 7)]


def test_dependencies_on_lines_below_each_other_are_one_place():
    text = "Name: tool\nRequires-Python: >=3.8\nRequires-Dist: a\nRequires-Dist: b\nHome: x\n"
    files = Files({"PKG-INFO": text})
    found = [files.quoted(place) for place in places_for(files, "requirements")]
    assert found == ["Requires-Python: >=3.8\nRequires-Dist: a\nRequires-Dist: b"]
