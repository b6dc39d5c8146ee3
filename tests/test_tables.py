"""A table that is one test says all that the tests of its rows would."""

import asyncio

import pytest

from tests.tables import each_row


def square(given, expected):
    assert given**2 == expected


def test_each_failing_row_is_named_with_its_reason_and_the_others_are_tried():
    test = each_row("given, expected", [(1, 1), (2, 5), (3, 9), (4, 0)])(square)
    with pytest.raises(AssertionError, match="2 of 4 rows fail") as caught:
        test()
    assert "[2-5] AssertionError: assert (2 ** 2) == 5" in str(caught.value)
    assert "[4-0]" in str(caught.value)
    assert isinstance(caught.value.__cause__, AssertionError)


def test_rows_that_hold_are_silent():
    each_row("given, expected", [(1, 1), (2, 4)])(square)()


def test_an_exception_that_is_missing_fails_the_row():
    @each_row("number", [0, 1])
    def test(number):
        with pytest.raises(ZeroDivisionError):
            1 / number

    with pytest.raises(AssertionError, match=r"1 of 2 rows fail:\n\[1\] Failed: DID NOT RAISE"):
        test()


def test_a_coroutine_is_awaited_for_each_row():
    @each_row("number", [1, 2])
    async def test(number):
        await asyncio.sleep(0)
        assert number == 1

    with pytest.raises(AssertionError, match="1 of 2 rows fail"):
        asyncio.run(test())


def test_two_tables_are_combined():
    seen = []

    @each_row("first", "ab")
    @each_row("second", [1, 2])
    def test(first, second):
        seen.append((first, second))

    test()
    assert sorted(seen) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


@pytest.fixture
def factor():
    return 3


@each_row("given, expected", {1: 3, 2: 6}.items(), ids=str)
def test_what_is_not_in_a_row_is_a_fixture(factor, given, expected):
    assert given * factor == expected


def test_labels_come_from_the_row_or_the_names():
    rows = [pytest.param(1, 0, id="one"), (2, 0)]
    test = each_row("given, expected", rows, ids=lambda value: f"<{value}>")(square)
    with pytest.raises(AssertionError, match=r"(?s)\[one\].*\[<2>-<0>\]"):
        test()


def test_an_empty_table_and_a_marked_row_are_refused():
    with pytest.raises(AssertionError, match="without rows"):
        each_row("given", [])
    with pytest.raises(AssertionError, match="use parametrize"):
        each_row("given", [pytest.param(1, marks=pytest.mark.extra)])
