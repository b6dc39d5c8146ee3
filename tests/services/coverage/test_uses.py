"""Which text uses which, by names."""

import pytest

from oracle.services.coverage.uses import users_first, uses_among
from oracle.services.quoting.quotation import Quotation
from tests.tables import each_row


def text(path, code):
    return [Quotation.of({"kind": "code", "where": path, "path": path, "start": 1, "text": code})]


CLI = text("app/cli.py", "from app.store import save_order\n\ndef main():\n    save_order(1)")
STORE = text("app/store.py", "def save_order(order):\n    Database().insert(order)")
DATABASE = text("app/db.py", "class Database:\n    def insert(self, row): ...")


def test_a_name_that_one_defines_and_another_has_shows_who_uses_whom():
    assert uses_among([DATABASE, CLI, STORE]) == {
        0: {},
        1: {2: ["save_order"]},
        2: {0: ["Database"]},
    }


@each_row(
    ("one", "other"),
    [
        ("def save_order(): ...", "def save_order(): ..."),
        ("def run(): ...", "run()"),
        ("def _hidden(): ...", "_hidden()"),
        ("def show(): ...", "screen.show()\nhow to show it"),
        ("class Store:\n    def keep_all(self): ...", "x.keep_all()"),
        ("def save_order(): load_order()", "def load_order(): save_order()"),
    ],
    ids=["both define it", "short", "private", "a plain word", "a method", "each other"],
)
def test_what_shows_nothing(one, other):
    assert uses_among([text("a.py", one), text("b.py", other)]) == {0: {}, 1: {}}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("app/store.py", "from app.store import x"),
        ("app/store/__init__.py", "from app.store import x"),
        ("src/store.ts", "import { x } from './store'"),
        ("store.py", "import store"),
    ],
)
def test_an_import_of_a_file_is_a_use(path, line):
    assert uses_among([text(path, "y"), text("main.py", line)])[1] == {0: []}


def test_imports_are_told_in_the_order_of_their_lines():
    """A set would have another order in each process, and a replay would ask another question."""
    names = ["store", "orders", "prices", "taxes", "mails", "parts", "users", "roles"]
    main = text("main.py", "\n".join(f"import {name}" for name in names))
    used = uses_among([main, *(text(f"{name}.py", "y") for name in names)])[0]
    assert list(used) == [1, 2, 3, 4, 5, 6, 7, 8]


@each_row(
    ("uses", "ordered"),
    [
        ({0: {}, 1: {2: []}, 2: {0: []}}, [1, 2, 0]),
        ({0: {1: []}, 1: {2: []}, 2: {0: []}}, [0, 1, 2]),
        ({0: {}, 1: {}, 2: {1: []}}, [2, 1, 0]),
        ({0: {}, 1: {}}, [0, 1]),
        ({}, []),
    ],
    ids=["a chain", "a circle", "one apart", "all apart", "none"],
)
def test_users_come_first_and_who_has_no_part_in_it_last(uses, ordered):
    assert users_first(uses) == ordered
