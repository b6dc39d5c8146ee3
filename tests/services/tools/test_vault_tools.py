"""The vault is found without settings, and a note is never lost or replaced by accident."""

import asyncio
import os

import pytest

from oracle.errors import InputError, InterruptedWrite
from oracle.services.tools.project_tools import project_tools
from oracle.services.tools.writing import file_name
from tests.tables import each_row


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


async def test_notes_documents_and_records_are_the_vault(tools):
    result = await tools.run("list_notes", {})
    assert result["sources"][0]["text"].splitlines() == [
        "README.md: Shop",
        "adr/0001-tea-only.txt: 0001-tea-only",
        "docs/storage.md: Where things are kept",
        "notes/supplier.md: The supplier",
    ]


async def test_a_list_can_be_of_one_folder_or_empty(tools):
    result = await tools.run("list_notes", {"folder": "docs"})
    assert result["sources"][0]["text"] == "docs/storage.md: Where things are kept"
    assert (await tools.run("list_notes", {"folder": "src"}))["empty"]


@pytest.mark.parametrize("path", ["ferry.txt", "plans/ferry.rst", "threads/ferry.markdown"])
async def test_what_a_search_of_the_vault_finds_is_listed_and_read_as_a_note(tools, root, path):
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text("The ferry brings the tea.\n")
    found = await tools.run("search_vault", {"query": "ferry"})
    assert found["sources"][0]["path"] == path
    assert path in (await tools.run("list_notes", {}))["content"]
    assert (await tools.run("read_note", {"note": path}))["sources"][0]["path"] == path
    assert (await tools.run("read_file", {"path": path}))["sources"][0]["kind"] == "vault"


async def test_a_search_of_the_vault_names_the_note(tools):
    result = await tools.run("search_vault", {"query": "orders kept in SQLite"})
    source = result["sources"][0]
    assert (source["path"], source["title"]) == ("docs/storage.md", "Where things are kept")
    assert source["kind"] == "vault"


@pytest.mark.parametrize(
    "name",
    [
        "notes/supplier.md",
        "notes/supplier",
        "The supplier",
        "the SUPPLIER",
        "supplier",
        "Supplier!",
    ],
)
async def test_a_note_is_read_by_its_path_its_title_or_its_name(tools, name):
    result = await tools.run("read_note", {"note": name})
    assert result["sources"][0]["where"] == "notes/supplier.md:1-5"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("The suplier", "did you mean 'The supplier'?"),
        ("zeppelin", "by words of its text"),
        ("../outside.md", "there is no note"),
        ("src/shop/basket.py", "there is no note"),
    ],
)
async def test_a_note_that_is_not_there_is_a_result(tools, name, says):
    result = await tools.run("read_note", {"note": name})
    assert not result["success"]
    assert says in result["content"]


async def test_a_name_that_two_notes_have_is_asked_back(root, tools):
    (root / "docs" / "supplier.md").write_text("# Another\n")
    result = await tools.run("read_note", {"note": "supplier"})
    assert "may be docs/supplier.md, notes/supplier.md" in result["content"]


async def test_a_note_is_written_whole_and_can_be_found_and_cited(root, tools):
    given = {"title": "Why tea?", "content": "Because coffee was taken.\r\n"}
    result = await tools.run("write_note", given)
    assert (root / "notes/why-tea.md").read_text() == "# Why tea?\n\nBecause coffee was taken.\n"
    assert result["sources"][0]["where"] == "notes/why-tea.md:1-3"
    assert files_below(root / "notes") == ["supplier.md", "why-tea.md"]
    assert (await tools.run("read_note", {"note": "Why tea?"}))["success"]


async def test_a_note_is_replaced_only_when_that_was_asked_for(root, tools):
    given = {"title": "Supplier", "content": "Tea comes on Mondays."}
    refused = await tools.run("write_note", given)
    assert not refused["success"]
    assert "overwrite true" in refused["content"]
    assert "Tuesdays" in (root / "notes/supplier.md").read_text()
    assert (await tools.run("write_note", {**given, "overwrite": True}))["success"]
    assert "Mondays" in (root / "notes/supplier.md").read_text()


async def test_a_dry_run_shows_and_writes_nothing(root, dry_tools):
    before = files_below(root)
    note = await dry_tools.run("write_note", {"title": "Plan", "content": "More tea."})
    entry = await dry_tools.run("push_thread", {"thread": "new", "entry": "More tea."})
    for result in (note, entry):
        assert result["success"]
        assert "nothing was written" in result["content"]
        assert "More tea." in result["content"]
        assert result["sources"] == []
    assert files_below(root) == before
    taken = await dry_tools.run("write_note", {"title": "Supplier", "content": "x"})
    assert not taken["success"]


@pytest.mark.parametrize(
    "title",
    [
        "../../evil",
        "/etc/passwd",
        "a/b/../../c",
        "..",
        "con",
        "x\ny",
        "⁄..⁄evil",
        "é" * 200,
        ".env",
    ],
)
async def test_a_hostile_title_cannot_leave_the_folder(root, tools, title):
    before = set(files_below(root.parent))
    result = await tools.run("write_note", {"title": title, "content": "x"})
    new = set(files_below(root.parent)) - before
    assert len(new) == result["success"]
    assert all(path.startswith("shop/notes/") and path.count("/") == 2 for path in new)


@pytest.mark.parametrize("title", ["..", "???", " "])
async def test_a_title_without_a_letter_is_refused(tools, title):
    result = await tools.run("write_note", {"title": title, "content": "x"})
    assert "no letter or digit" in result["content"]


async def test_a_folder_that_is_a_link_is_not_written_to(root, tools):
    outside = root.parent / "outside"
    outside.mkdir()
    for file in (root / "notes").iterdir():
        file.unlink()
    (root / "notes").rmdir()
    (root / "notes").symlink_to(outside)
    result = await tools.run("write_note", {"title": "Note", "content": "x"})
    assert "is a link or not a folder" in result["content"]
    assert files_below(outside) == []


async def test_a_link_at_the_notes_place_is_not_written_through(root, tools):
    outside = root.parent / "outside.md"
    outside.write_text("mine")
    (root / "notes/note.md").symlink_to(outside)
    assert not (await tools.run("write_note", {"title": "Note", "content": "x"}))["success"]
    given = {"title": "Note", "content": "x", "overwrite": True}
    assert (await tools.run("write_note", given))["success"]
    assert outside.read_text() == "mine"


async def test_of_many_writers_of_one_note_one_wins(root, tools):
    calls = [tools.run("write_note", {"title": "Race", "content": f"by {n}"}) for n in range(8)]
    results = await asyncio.gather(*calls)
    assert sum(result["success"] for result in results) == 1
    assert files_below(root / "notes") == ["race.md", "supplier.md"]


async def test_after_a_crash_it_is_known_whether_the_note_was_written(root, tools):
    given = {"title": "Why tea?", "content": "Because."}
    mark = await tools.mark("write_note", given)
    assert await tools.was_done("write_note", given, mark) is None
    written = await tools.run("write_note", given, mark)
    assert await tools.was_done("write_note", given, mark) == written
    with pytest.raises(InterruptedWrite, match=r"notes/why-tea\.md is not as it was to be written"):
        await tools.was_done("write_note", {**given, "content": "Other."}, mark)
    assert await tools.was_done("write_note", {"title": 3}) is None


@pytest.mark.parametrize("folder", ["", "/tmp", "../x", ".git/x", ".oracle", "threads"])
def test_a_folder_for_notes_lies_inside_the_project(root, folder):
    with pytest.raises(InputError, match="is not a folder for notes"):
        project_tools(root, notes_folder=folder)


async def test_new_notes_go_where_the_setting_says(root):
    tools = project_tools(root, notes_folder="docs/notes")
    await tools.run("write_note", {"title": "Here", "content": "x"})
    assert (root / "docs/notes/here.md").exists()


@each_row(
    ("title", "name"),
    [
        ("Why tea?", "why-tea"),
        ("  Straße_und Weg ", "strasse-und-weg"),
        ("日本語", "日本語"),
        ("NUL", "note-nul"),
        ("a" * 300, "a" * 80),
        ("--", None),
    ],
)
def test_a_title_becomes_a_plain_name(title, name):
    assert file_name(title) == name


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_may_not_be_written_to_is_a_result(root, tools):
    (root / "notes").chmod(0o500)
    result = await tools.run("write_note", {"title": "Note", "content": "x"})
    assert "nothing was written" in result["content"]
