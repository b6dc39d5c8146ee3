"""Which lines that use a name are shown, and how the others are reported."""

import pytest

from oracle.services.tools.project_tools import project_tools
from oracle.services.tools.used_lines import MOST_SHOWN, more_uses, spread, summary_of_uses


def line(path, number, text="save(x)"):
    where = f"{path}:{number}"
    return {"kind": "code", "where": where, "path": path, "start": number, "text": text}


def where(sources):
    return [source["where"] for source in sources]


def test_a_line_or_two_of_each_file_come_before_a_third_of_any():
    many = [line("a.py", number) for number in range(1, 2 * MOST_SHOWN)]
    shown = spread([*many, line("b.py", 1), line("c.py", 1), line("c.py", 2), line("c.py", 3)])
    assert len(shown) == MOST_SHOWN
    assert where(shown)[-4:] == ["b.py:1", "c.py:1", "c.py:2", "c.py:3"]
    assert where(shown)[:3] == ["a.py:1", "a.py:2", "a.py:3"]


def test_an_import_is_the_last_to_be_chosen_of_its_file():
    found = [line(f"{n:03}.py", 1, "from x import save") for n in range(MOST_SHOWN)]
    found += [line(f"{n:03}.py", 9) for n in range(MOST_SHOWN)]
    assert all(source["text"] == "save(x)" for source in spread(found))


def test_what_is_shown_fits_a_result():
    found = [line("a.py", number, "save(" + "x" * 1_900) for number in range(50)]
    assert 0 < len(spread(found)) < 10
    assert spread(found, used=15_000) == []


def test_what_is_not_shown_is_told_in_words_and_as_data():
    found = [line(f"f{number:03}.py", 1) for number in range(130)]
    left = more_uses("save", found, found[:100])
    assert left is not None
    assert (left["lines"], left["files"], left["shown"]) == (130, 130, 100)
    assert (left["others"][0], len(left["others"]), left["more_files"]) == ("f100.py", 20, 10)
    assert summary_of_uses("save", found, left) == (
        "Lines that use 'save': 130 in 130 files, 100 shown, spread over the files; give a path "
        f"for others. Files not shown: {', '.join(left['others'])} and 10 more."
    )


def test_a_whole_list_leaves_nothing_out():
    found = [line("a.py", 1), line("a.py", 2)]
    assert more_uses("save", found, found) is None
    assert summary_of_uses("save", found, None) == "Lines that use 'save': 2 in 1 file."


@pytest.mark.extra
async def test_each_file_is_shown_and_all_uses_are_counted(tmp_path):
    (tmp_path / "oracle.toml").touch()
    for number in range(60):
        (tmp_path / f"m{number:02}.py").write_text("from lib import save\n" + "save(1)\n" * 5)
    found = await project_tools(tmp_path).run(
        "find_definition", {"name": "save", "references": True}
    )
    assert "Lines that use 'save': 360 in 60 files, 100 shown" in found["content"]
    assert found["more_uses"]["lines"] == 360
    assert "Cut to fit" not in found["content"]
    assert len({source["path"] for source in found["sources"]}) == 60
