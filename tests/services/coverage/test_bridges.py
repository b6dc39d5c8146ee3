"""Files between the parts of a flow."""

from oracle.services.coverage.bridges import (
    MOST_BRIDGES,
    bridges_in,
    names_to_follow,
    with_bridges,
)
from oracle.testing.models import tool_spec
from tests.services.coverage.a_part import part
from tests.tables import each_row

TOOLS = [tool_spec("read_file")]


def use(path, text="Table().insert(it)", line=40):
    return {"kind": "code", "where": f"{path}:{line}", "path": path, "start": line, "text": text}


CLI = part("shop/cli.py", "from core.relay import Relay", "def order_command(): ...")
TABLE = part("shop/table.py", "LIMIT = 3", "class Table: ...")


def test_what_parts_use_of_each_other_is_followed_first_and_then_classes():
    user = part("shop/user.py", "order_command()")
    assert names_to_follow([TABLE, CLI, user]) == ["order_command", "Table", "LIMIT"]
    assert names_to_follow([]) == []


@each_row(
    ("source", "is_one"),
    [
        (use("core/relay.py"), True),
        (use("core/other.py"), False),
        (use("shop/table.py"), False),
        (use("tests/relay.py"), False),
        (use("core/relay.py", "from shop.table import Table"), False),
        (use("core/relay.py", "class Table: ..."), False),
    ],
    ids=["it is", "imported by none", "a part", "a test", "only its import", "another of the name"],
)
def test_a_bridge_uses_one_part_and_is_imported_by_another(source, is_one):
    found = bridges_in([source], [CLI, TABLE], TOOLS)
    assert [one["name"] for one in found] == (["core/relay.py"] if is_one else [])


def test_a_bridge_is_read_around_the_place_and_once():
    (one,) = bridges_in([use("core/relay.py", line=400), use("core/relay.py")], [CLI, TABLE], TOOLS)
    assert one["arguments"] == {"path": "core/relay.py", "start": 380, "end": 499}
    assert one["state"] == "open"


def test_bridges_are_read_next_and_a_place_that_was_found_before_is_kept():
    found, other = [{**part(path), "state": "open"} for path in ("core/a.py", "core/b.py")]
    bridges = bridges_in([use("core/relay.py")], [CLI, TABLE], TOOLS)
    again = {**bridges[0], "name": "x", "file": "core/b.py"}
    parts = with_bridges([CLI, found, other], [*bridges, again])
    assert parts == [CLI, other, *bridges, found]


def test_what_was_read_stays_in_its_place():
    """A part that no tool may read any more lies between them."""
    note = {**part("notes/a.md"), "state": "open"}
    bridges = bridges_in([use("core/relay.py")], [CLI, TABLE], TOOLS)
    assert with_bridges([CLI, note, TABLE], bridges) == [CLI, *bridges, TABLE, note]


def test_there_are_only_a_few():
    names = [f"relay{n}" for n in range(9)]
    cli = part("shop/cli.py", *(f"from core.{name} import x" for name in names))
    found = bridges_in([use(f"core/{name}.py") for name in names], [cli, TABLE], TOOLS)
    assert len(found) == MOST_BRIDGES
