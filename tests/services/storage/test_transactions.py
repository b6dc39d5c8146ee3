"""Statements on both kinds of database: all or nothing, and no broken connection is used again."""

import pytest

from oracle.errors import StoreError
from oracle.services.storage.transactions import marks


def add(connection, name):
    return connection.execute("INSERT INTO blobs (hash, body) VALUES (?, ?)", [name, "x"])


async def names(database):
    return await database.read(lambda c: c.firsts("SELECT hash FROM blobs ORDER BY hash"))


async def test_a_statement_says_how_many_rows_it_changed(database):
    assert await database.write(lambda c: add(c, "a")) == 1
    assert await database.write(lambda c: c.execute("DELETE FROM blobs")) == 1
    assert await database.write(lambda c: c.execute("DELETE FROM blobs")) == 0


async def test_rows_can_be_read_in_several_forms(database):
    await database.write(lambda c: [add(c, name) for name in "ab"])
    sql = "SELECT hash, body FROM blobs ORDER BY hash"
    assert await database.read(lambda c: c.rows(sql)) == [("a", "x"), ("b", "x")]
    assert await database.read(lambda c: list(c.each(sql))) == [("a", "x"), ("b", "x")]
    assert await database.read(lambda c: c.records(sql)[1]) == {"hash": "b", "body": "x"}
    assert await database.read(lambda c: (c.first(sql), c.firsts(sql))) == ("a", ["a", "b"])
    nothing = "SELECT hash FROM blobs WHERE hash = ?"
    assert await database.read(lambda c: c.first(nothing, ["c"])) is None


async def test_an_error_undoes_the_transaction_and_the_next_one_works(database):
    def fail(connection):
        add(connection, "a")
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        await database.write(fail)
    assert await names(database) == []
    await database.write(lambda c: add(c, "b"))
    assert await names(database) == ["b"]


async def test_an_error_in_a_savepoint_undoes_that_part_only(database):
    def fail_in_part(connection):
        add(connection, "a")
        with pytest.raises(connection.backend.value_errors), connection.savepoint():
            [add(connection, name) for name in "ba"]
        with connection.savepoint():
            add(connection, "c")

    await database.write(fail_in_part)
    assert await names(database) == ["a", "c"]


async def test_after_an_error_of_the_driver_another_connection_is_used(database):
    used = []

    def look(connection):
        used.append(connection._raw)
        return connection.first("SELECT 1")

    def fail(connection):
        used.append(connection._raw)
        connection.execute("SELECT nothing FROM nowhere")

    assert await database.read(look) == 1
    with pytest.raises(StoreError, match="table"):
        await database.read(fail)
    assert await database.read(look) == 1
    assert used[-1] is not used[-2]


async def test_a_list_of_no_values_matches_nothing(database):
    await database.write(lambda c: add(c, "a"))
    for wanted, found in ([], []), (["a", "b"], ["a"]):
        sql = f"SELECT hash FROM blobs WHERE hash IN {marks(wanted)}"
        assert await database.read(lambda c, s=sql, w=wanted: c.firsts(s, w)) == found
