"""Which files of a folder are templates, and what is said about those that are not."""

import pytest

from oracle.cli.commands.questions import described
from oracle.services.templates.template_files import template_files


@pytest.mark.parametrize("name", ["has blank", "-x"])
def test_a_file_whose_name_cannot_be_used_is_listed_with_the_reason(name, tmp_path):
    folder = tmp_path / ".oracle/questions"
    folder.mkdir(parents=True)
    (folder / f"{name}.md").write_text("Is it safe?")
    (folder / ".hidden.md").write_text("the backup of an editor")
    [row] = described(template_files(tmp_path))
    assert row["name"] == name
    assert "has no blanks; rename the file" in row["problem"]
