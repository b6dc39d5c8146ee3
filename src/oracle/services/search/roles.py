"""What a file is, by its path alone: its kind of source, and what it is for."""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.search.languages import NOTE_SUFFIXES, parts_of_name
from oracle.services.search.records import Kind, Role

# Not `testing`: in a package it holds what the package offers to the tests of others.
_TEST_FOLDERS_LISTED: Final = (
    "test tests spec specs __tests__ testdata test_data fixtures e2e conftest"
)
_TEST_FOLDERS: Final = frozenset(_TEST_FOLDERS_LISTED.split())
_TEST_NAME: Final = lazy_pattern(
    r"(?:test_.*|.*_tests?|.*_spec|.*\.(?:test|spec)|.*Tests?|conftest|tests?)", re.DOTALL
)
_DOCUMENT_FOLDERS_LISTED: Final = (
    "doc docs documentation examples example samples demo demos tutorial tutorials docs_src "
    "benchmarks benchmark bench changelog changelogs man"
)
_DOCUMENT_FOLDERS: Final = frozenset(_DOCUMENT_FOLDERS_LISTED.split())
# With templates, which are filled in by the source that the question is about.
_SETTINGS_SUFFIXES_LISTED: Final = (
    ".json .yaml .yml .toml .ini .cfg .conf .xml .csv .tsv .properties .html .htm .css .scss "
    ".less .editorconfig .in .plist .tmpl .tpl .j2 .jinja .jinja2 .hbs .ejs .erb .mustache .typed"
)
_SETTINGS_SUFFIXES: Final = frozenset(_SETTINGS_SUFFIXES_LISTED.split())
_VENDOR_FOLDERS: Final = frozenset(("vendor", "vendored", "_vendor", "third_party", "thirdparty"))


def role_of(path: str) -> Role:
    """What a file is for. The first rule that fits decides: a README in `tests/` is a test."""
    *above, name = path.split("/")
    folders = [part.lower() for part in above]
    stem, suffix = parts_of_name(name)
    if kind_of(path) == "threads":
        return Role.THREAD
    if any(folder in _TEST_FOLDERS for folder in folders) or (
        _TEST_NAME.fullmatch(stem) and suffix not in NOTE_SUFFIXES
    ):
        return Role.TEST
    if suffix in NOTE_SUFFIXES or any(folder in _DOCUMENT_FOLDERS for folder in folders):
        return Role.DOCUMENT
    if suffix in _SETTINGS_SUFFIXES or not suffix:
        return Role.SETTINGS
    if any(folder in _VENDOR_FOLDERS for folder in folders):
        return Role.VENDORED
    return Role.SOURCE


def kind_of(path: str) -> Kind:
    """`threads/*.md` are threads, other prose in any folder is the vault, all else is code.

    Index and tools both ask here, so that what a search finds can be read as the same kind.
    """
    *above, name = path.split("/")
    _, suffix = parts_of_name(name)
    if suffix not in NOTE_SUFFIXES:
        return "code"
    if above == [THREADS_FOLDER] and name.endswith(".md"):
        return "threads"
    return "vault"
