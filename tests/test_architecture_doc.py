"""The page about the architecture names real files, quotes the trees, and leaves no chunk out."""

import re
from pathlib import Path

import pytest

import oracle
from oracle.models.stream_chunk import CHUNKS, ChunkType
from tests.tables import each_row

SOURCE = Path(oracle.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURES = re.findall(r"^```mermaid\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
BOXES = sorted(set(re.findall(r'"([^"]+)<br>([^"]+)"', "".join(PICTURES))))
EXCERPTS = re.findall(r"^ *```lua\n(.*?)^ *```", PAGE, re.MULTILINE | re.DOTALL)
ROWS = re.findall(r"^\| (`.*?) \| (.*) \|$", PAGE[PAGE.index("| chunk |") :], re.MULTILINE)


def test_five_paths_are_drawn():
    assert len(PICTURES) == 5


@each_row(("says", "file"), BOXES)
def test_a_box_names_a_file_and_what_is_in_it(says, file):
    text = (SOURCE / file).read_text(encoding="utf-8")
    named = says.partition(":")[0]
    for name in re.findall(r"\b[A-Z]\w+\.\w+|\b\w+_\w+\b|\b[A-Z]\w*[a-z][A-Z]\w+\b", named):
        assert all(part in text for part in name.split(".")), name


@each_row("type_", ChunkType)
def test_each_chunk_is_in_the_table_with_its_fields(type_):
    (fields,) = [fields for types, fields in ROWS if f"`{type_}`" in types]
    for field in CHUNKS[type_]:
        assert f"`{field}`" in fields


@pytest.mark.parametrize("excerpt", EXCERPTS)
def test_an_excerpt_of_a_tree_is_in_a_tree(excerpt):
    trees = [file.read_text(encoding="utf-8") for file in SOURCE.glob("bt/trees/*.lua")]
    assert any(_unindented(excerpt) in _unindented(text) for text in trees)


def _unindented(text):
    return "".join(f"{line.strip()}\n" for line in text.splitlines())
