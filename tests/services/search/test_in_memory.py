"""An index in memory finds the same as one on disk, within its bound."""

import pytest

from oracle.services.search import Index
from oracle.services.search.bound import Bound


@pytest.fixture
def memory(project):
    opened = []

    def open_index(**bound):
        opened.append(Index.in_memory(project.root, bound=Bound(**bound)))
        return opened[-1]

    yield open_index
    for index in opened:
        index.close()


def write_shop(project):
    project.write("shop/basket.py", "class Basket:\n    def total_price(self):\n        return 1\n")
    project.write("shop/checkout.py", "def check_out(basket):\n    return basket.total_price()\n")
    project.write("docs/adr.md", "# Decision\n\nWe decided to sell tea.\n")


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: index.search("what does a basket cost"),
        lambda index: index.search("what did we decide", kind="vault"),
        lambda index: index.definitions("total_price"),
        lambda index: index.references("total_price"),
        lambda index: index.repo_map("price of a basket"),
        lambda index: index.top_names(),
        lambda index: "Basket" in index.known_terms,
    ],
)
def test_it_finds_the_same_as_the_one_on_disk(project, memory, ask):
    write_shop(project)
    index = memory()
    index.refresh()
    assert ask(index)
    assert not (project.root / ".oracle").exists()
    assert ask(index) == ask(project.indexed())


def test_it_follows_the_files(project, memory):
    write_shop(project)
    index = memory()
    assert index.refresh().added == 3
    project.write("shop/basket.py", "class Crate: ...\n")
    (project.root / "docs/adr.md").unlink()
    report = index.refresh()
    assert (report.changed, report.removed) == (1, 1)
    assert index.definitions("Basket") == []
    assert index.update(["shop/checkout.py"]).unchanged == 1


@pytest.mark.parametrize(
    ("bound", "left_out"), [({"files": 2}, 1), ({"bytes": 80}, 2), ({"bytes": 0}, 3), ({}, 0)]
)
def test_what_does_not_fit_is_counted(project, memory, bound, left_out):
    write_shop(project)
    report = memory(**bound).refresh()
    assert (report.added, report.left_out) == (3 - left_out, left_out)


def test_room_that_is_freed_is_used(project, memory):
    write_shop(project)
    index = memory(files=2)
    index.refresh()
    (project.root / "docs/adr.md").unlink()
    assert index.refresh().left_out == 0
    assert index.paths() == ["shop/basket.py", "shop/checkout.py"]


def test_files_whose_path_is_asked_about_come_first(project, memory):
    write_shop(project)
    index = memory(files=1)
    index.refresh(about="how does the checkout work?")
    assert index.paths() == ["shop/checkout.py"]
