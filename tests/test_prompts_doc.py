"""docs/prompts.md shows what the code does."""

import re
from pathlib import Path

import pytest

from oracle.models.prompt_segment import CONDITIONS
from oracle.services.prompting.segment_files import built_in_segments, load_segments
from tests.tables import each_row

PAGE = (Path(__file__).parents[1] / "docs/prompts.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.S | re.M)


def test_its_python_runs() -> None:
    assert _blocks("python")
    exec(compile("\n".join(_blocks("python")), "docs/prompts.md", "exec"), {})


@pytest.mark.parametrize("text", _blocks("markdown"))
def test_its_segments_can_be_loaded(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.md").write_text(text, encoding="utf-8")
    (segment,) = set(load_segments(tmp_path)) - set(built_in_segments())
    assert text.strip().endswith(segment.content)


def test_its_table_is_the_registry() -> None:
    rows = re.findall(r"^\| ([\w-]+) \| [\w-]+\.md \| (\d+) \| (.*?) \|$", PAGE, re.M)
    assert rows == [
        (segment.id, str(segment.priority), ", ".join(segment.conditions))
        for segment in built_in_segments()
    ]


@each_row("condition", CONDITIONS)
def test_it_explains_every_condition(condition: str) -> None:
    assert condition in PAGE or f"`{condition.partition('=')[2]}`" in PAGE
