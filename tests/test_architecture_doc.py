"""The page about the architecture: its pictures name real files, and no chunk is left out."""

import re
from pathlib import Path

import pytest

import oracle
from oracle.models.stream_chunk import CHUNKS, ChunkType

SOURCE = Path(oracle.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURES = re.findall(r"^```mermaid\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
BOXES = sorted(set(re.findall(r'"([^"]+)<br>([^"]+)"', "".join(PICTURES))))
ROWS = re.findall(r"^\| (`.*?) \| (.*) \|$", PAGE[PAGE.index("| chunk |") :], re.MULTILINE)


def test_five_paths_are_drawn():
    assert len(PICTURES) == 5


@pytest.mark.parametrize(("says", "file"), BOXES)
def test_a_box_names_a_file_and_what_is_in_it(says, file):
    text = (SOURCE / file).read_text(encoding="utf-8")
    named = says.partition(":")[0]
    for name in re.findall(r"\b[A-Z]\w+\.\w+|\b\w+_\w+\b|\b[A-Z]\w*[a-z][A-Z]\w+\b", named):
        assert all(part in text for part in name.split(".")), name


@pytest.mark.parametrize("type_", ChunkType)
def test_each_chunk_is_in_the_table_with_its_fields(type_):
    (fields,) = [fields for types, fields in ROWS if f"`{type_}`" in types]
    for field in CHUNKS[type_]:
        assert f"`{field}`" in fields
