"""A project with further roots: all tools read in all of them, and only one is written."""

import asyncio
import os
import shutil
import threading

import pytest

from oracle.services.project.roots import Root, root_from
from oracle.services.project.secret_files import SecretFiles
from oracle.services.tools import rooted_index
from oracle.services.tools.project_tools import project_tools
from tests.services.tools.conftest import at_noon
from tests.tables import each_row

KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7vKq9s" * 4 + "\n"
SHARED = {
    "README.md": "# Ledger\n\nBookings of all shops.\n\n## Testing\n\nRun `make check`.\n",
    "pyproject.toml": '[project]\nname = "ledger"\nversion = "2.4.0"\n',
    "src/shop/basket.py": (
        "class Basket:\n    def freeze_basket(self):\n        return tuple(self)\n"
    ),
    "src/ledger.py": (
        "from shop import Basket\n\n\ndef book_invoice(invoice):\n"
        '    """Write an invoice into the ledger."""\n    return Basket().freeze_basket()\n'
    ),
    "docs/bookings.md": "# How we book\n\nInvoices are booked at night.\n",
    "threads/ledger.md": "# ledger\n\n## 2026-01-05T10:00:00Z\n\nWe book in euros.\n",
    ".gitignore": "dist/\n",
    "dist/ledger.py": "def book_invoice(): ...\n",
    ".env": "LEDGER_PASSWORD=invoice-secret\n",
    "deploy/hosts.vars": "invoice password\n",
    "id_thing": KEY,
}


@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / "the-ledger"
    for path, text in SHARED.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def root_at(root, shared, secrets=None):
    return root_from(root, "books", os.path.relpath(shared, root), secrets or SecretFiles())


@pytest.fixture
def tools(root, shared):
    return project_tools(root, now=at_noon, roots=(root_at(root, shared),))


def paths(result):
    return {source["path"] for source in result["sources"]}


@each_row(
    ("tool", "arguments", "path"),
    [
        ("search_code", {"query": "book an invoice"}, "books/src/ledger.py"),
        ("search_code", {"query": "tax rates"}, "src/shop/rates.ts"),
        ("search_code", {"query": "basket", "path": "books/src"}, "books/src/shop/basket.py"),
        ("search_vault", {"query": "when are invoices booked"}, "books/docs/bookings.md"),
        ("search_threads", {"query": "euros"}, "books/threads/ledger.md"),
        ("read_thread", {"thread": "books/ledger"}, "books/threads/ledger.md"),
        ("read_file", {"path": "books/src/ledger.py"}, "books/src/ledger.py"),
        ("read_file", {"path": "src/shop/basket.py"}, "src/shop/basket.py"),
        (
            "read_file",
            {"path": "books/src/ledger.py", "symbol": "book_invoice"},
            "books/src/ledger.py",
        ),
        ("read_note", {"note": "How we book"}, "books/docs/bookings.md"),
        ("find_definition", {"name": "book_invoice"}, "books/src/ledger.py"),
        ("list_notes", {"folder": "books"}, "books"),
        ("get_repo_map", {"path": "books/src"}, "books/src"),
        ("get_project_facts", {"topic": "test", "name": "books"}, "books/README.md"),
    ],
)
async def test_a_tool_reads_in_the_root_that_a_path_names(tools, tool, arguments, path):
    result = await tools.run(tool, arguments)
    assert result["success"], result["content"]
    assert result["sources"][0]["path"] == path
    where = result["sources"][0]["where"]
    assert where.startswith((path, "thread:books/ledger@", "the list of notes below books"))


async def test_the_same_path_in_two_roots_is_two_files(tools):
    result = await tools.run("find_definition", {"name": "Basket", "references": True})
    assert {"src/shop/basket.py", "books/src/shop/basket.py", "books/src/ledger.py"} <= paths(
        result
    )
    mine = await tools.run("read_file", {"path": "src/shop/basket.py"})
    theirs = await tools.run("read_file", {"path": "books/src/shop/basket.py"})
    assert "total_price" in mine["content"]
    assert "freeze_basket" in theirs["content"]
    assert mine["sources"][0]["digest"] != theirs["sources"][0]["digest"]


async def test_a_map_shows_all_roots(tools):
    whole = await tools.run("get_repo_map", {})
    assert {"src/shop/basket.py", "books/src/ledger.py"} <= {
        row["path"] for row in whole["sources"][0]["listed"]
    }
    ranked = await tools.run("get_repo_map", {"question": "how is an invoice booked?"})
    assert ranked["sources"][0]["listed"][0]["path"] == "books/src/ledger.py"


async def test_facts_are_those_of_the_project_unless_a_root_is_named(tools):
    own = await tools.run("get_project_facts", {"topic": "purpose"})
    assert not any(path.startswith("books/") for path in paths(own))
    layout = await tools.run("get_project_facts", {"topic": "layout"})
    assert "books/ (" in layout["content"]


@each_row(
    "path",
    [
        "books/.env",
        "books/dist/ledger.py",
        "books/../books/.env",
        "books/id_thing",
        "books",
        "books/nowhere.py",
        "books/../../the-ledger/README.md",
    ],
)
async def test_what_a_root_keeps_back_is_not_read(tools, path):
    result = await tools.run("read_file", {"path": path})
    assert not result["success"]
    assert "invoice-secret" not in result["content"]


async def test_secrets_and_ignored_files_of_a_root_are_not_found(tools):
    result = await tools.run("search_code", {"query": "invoice password ledger", "limit": 30})
    assert not paths(result) & {"books/.env", "books/dist/ledger.py", "books/id_thing"}


@each_row(
    ("rules", "is_read"),
    [
        (SecretFiles(), True),
        (SecretFiles(added=("*.vars",)), False),
        (SecretFiles(added=("books/deploy/hosts.vars",)), False),
        (SecretFiles(added=("shop/deploy/hosts.vars",)), True),
        (SecretFiles(added=("*.vars",), allowed=("*.vars",)), False),
        (SecretFiles(added=("*.vars",), allowed=("deploy/hosts.vars",)), False),
        (SecretFiles(added=("*.vars",), allowed=("books/deploy/hosts.vars",)), True),
    ],
)
async def test_rules_for_secrets_count_in_each_root_and_exceptions_only_where_named(
    root, shared, rules, is_read
):
    tools = project_tools(root, secrets=rules, roots=(root_at(root, shared, rules),))
    result = await tools.run("read_file", {"path": "books/deploy/hosts.vars"})
    assert result["success"] is is_read


async def test_a_link_that_leaves_its_root_is_not_followed(root, shared, tools, tmp_path):
    (tmp_path / "outside.py").write_text("def outside_everything(): ...\n")
    (shared / "away.py").symlink_to(tmp_path / "outside.py")
    (shared / "mine.py").symlink_to(root / "src/shop/checkout.py")
    (root / "theirs.py").symlink_to(shared / "src/ledger.py")
    (shared / "near.py").symlink_to("src/ledger.py")
    for path in ("books/away.py", "books/mine.py", "theirs.py"):
        result = await tools.run("read_file", {"path": path})
        assert not result["success"]
        assert path in result["content"]
    assert (await tools.run("read_file", {"path": "books/near.py"}))["success"]
    found = await tools.run("search_code", {"query": "outside_everything"})
    assert found["sources"] == []


async def test_only_the_project_itself_is_written(tools, root, shared):
    before = sorted(shared.rglob("*"))
    await tools.run("write_note", {"title": "books/plan", "content": "Text"})
    pushed = await tools.run("push_thread", {"thread": "books/ledger", "entry": "No."})
    assert not pushed["success"]
    assert "only read" in pushed["content"]
    assert (root / "notes/books-plan.md").exists()
    assert sorted(shared.rglob("*")) == before


async def test_a_root_that_is_removed_between_two_calls_is_said_and_the_rest_is_searched(
    tools, shared
):
    assert (await tools.run("search_code", {"query": "invoice"}))["sources"]
    shutil.rmtree(shared)
    result = await tools.run("search_code", {"query": "basket"})
    assert "src/shop/basket.py" in paths(result)
    assert not any(path.startswith("books/") for path in paths(result))
    assert "The root 'books'" in result["content"]
    assert "is not there" in result["content"]
    read = await tools.run("read_file", {"path": "books/src/ledger.py"})
    assert not read["success"]
    assert "is not there" in read["content"]
    inside = await tools.run("search_code", {"query": "basket", "path": "books/src"})
    assert not inside["success"]
    shutil.copytree(shared.parent / "shop" / "src", shared / "src")
    again = await tools.run("search_code", {"query": "basket"})
    assert "books/src/shop/basket.py" in paths(again)


async def test_a_root_that_becomes_a_link_is_not_read(tools, root, shared, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "diary.py").write_text("def dear_diary(): ...\n")
    shutil.rmtree(shared)
    shared.symlink_to(elsewhere)
    result = await tools.run("search_code", {"query": "dear_diary"})
    assert result["sources"] == []
    assert "has become a link" in result["content"]
    assert not (await tools.run("read_file", {"path": "books/diary.py"}))["success"]


async def test_a_folder_of_the_project_that_gets_the_name_of_a_root_is_hidden_by_it(tools, root):
    (root / "books").mkdir()
    (root / "books/late.py").write_text("def added_later(): ...\n")
    assert not (await tools.run("read_file", {"path": "books/late.py"}))["success"]
    listed = await tools.run("get_repo_map", {})
    assert "books/late.py" not in listed["content"]


def test_the_name_of_a_root_says_nothing_about_the_role_of_its_files(root, shared):
    from oracle.services.project.roots import Roots
    from oracle.services.search.records import Role
    from oracle.services.tools.project_reader import ProjectReader
    from oracle.services.tools.rooted_files import RootedFiles

    named = Root(name="tests", path=shared.resolve())
    reader = ProjectReader(RootedFiles(Roots(main=root, others=(named,))))
    assert reader.role_of("tests/src/ledger.py") is Role.SOURCE


async def test_a_root_that_does_not_respond_is_left_out_of_a_search(root, shared, monkeypatch):
    released = threading.Event()

    class Hanging(Root):
        @property
        def problem(self):
            released.wait(60)
            return ""

    monkeypatch.setattr(rooted_index, "SECONDS_FOR_A_ROOT", 0.05)
    roots = (Hanging(name="books", path=shared.resolve()),)
    index = rooted_index.project_index(root, roots, on_disk=False)
    for _ in range(2):
        hits = await index.search("tax rates", "code", 3)
        assert hits[0].path == "src/shop/rates.ts"
        assert "The root 'books' was not searched: it does not respond" in index.left_out
    released.set()
    index.close()


async def test_questions_at_once_share_the_indexes_of_all_roots(root, shared):
    index = rooted_index.project_index(root, (root_at(root, shared),), on_disk=True)

    async def ask(name):
        async with index.at_hand():
            known = await index.known([name, "books", "zeppelin"])
            places = await index.definitions(name)
        return known, [place.path for place in places]

    found = await asyncio.gather(*map(ask, ["taxRate", "book_invoice"] * 5))
    assert found[0] == ({"taxRate": 1, "books": 0}, ["src/shop/rates.ts"])
    assert found[1] == ({"book_invoice": 1, "books": 0}, ["books/src/ledger.py"])
    assert found == found[:2] * 5
    index.close()


async def test_an_index_of_a_root_that_is_damaged_is_built_again(root, shared):
    index = rooted_index.project_index(root, (root_at(root, shared),), on_disk=True)
    assert await index.definitions("book_invoice")
    index.close()
    (folder,) = (root / ".oracle/index/roots").iterdir()
    for file in folder.rglob("catalogue.db"):
        file.write_bytes(b"damaged" * 1000)
    index = rooted_index.project_index(root, (root_at(root, shared),), on_disk=True)
    assert [each.path for each in await index.definitions("book_invoice")] == [
        "books/src/ledger.py"
    ]
    index.close()
