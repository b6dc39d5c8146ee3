"""Blocks of declarations are found by their names, or by the comment above them."""

import pytest

from oracle.services.overview.blocks import blocks
from oracle.services.overview.members import wanted
from tests.services.overview.test_finding import Files

TEXTS = {
    "yaml.h": (
        "/** Kinds of failure. */\ntypedef enum yaml_error_type_e {\n    /** None. */\n"
        "    YAML_NO_ERROR,\n\n    YAML_MEMORY_ERROR\n} yaml_error_type_t;\n\n"
        "typedef struct mark_s {\n    int line;\n    int column;\n} mark_t;\n"
    ),
    "main.go": (
        "// Exit codes\nconst (\n\texitOK = iota\n\texitFail\n)\n\nvar (\n\ta = 1\n\tb = 2\n)\n\n"
        "const (\n\tnameSort sortMethod = iota\n\tsizeSort\n)\n\nvar gOpts struct {\n"
        "\ttabstop int\n\twrap    bool\n}\n"
    ),
    "kind.rs": "pub enum FileKind {\n    File,\n    Folder,\n}\n\nenum One {\n    Only,\n}\n",
}


def held(of):
    files = Files(TEXTS)
    return {
        group.what: files.quoted(group.places[0]).split("\n")[-2].strip(" \t,")
        for group in blocks(files, dict.fromkeys(TEXTS, ()), wanted(of))
    }


@pytest.mark.parametrize(
    ("of", "what", "last"),
    [
        ("error types", "what `yaml_error_type_e` holds", "YAML_MEMORY_ERROR"),
        ("exit codes", "what `Exit codes` holds", "exitFail"),
        ("sort methods", "what `sortMethod` holds", "sizeSort"),
        ("options", "what `gOpts` holds", "wrap    bool"),
        ("file kinds", "what `FileKind` holds", "Folder"),
    ],
)
def test_a_block_is_found_by_what_it_is_called(of, what, last):
    assert held(of) == {what: last}


@pytest.mark.parametrize("of", ["variables", "ones", "hooks"])
def test_a_block_without_a_name_or_with_one_member_lists_nothing(of):
    assert held(of) == {}
