import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.models.session import Exchange
from oracle.services.storage.history import within_budget
from tests.tables import each_row


def path(*sizes):
    return [
        Exchange(id=f"e{n}", session_id="s", question="x" * size, answer="", created_at=n)
        for n, size in enumerate(sizes)
    ]


def letters(text):
    """A notice is free here, so that the tables below stay readable."""
    return 0 if text.startswith("[") else len(text)


@each_row(
    ("sizes", "budget", "kept"),
    [
        ((), 10, 0),
        ((3, 3, 3), 9, 3),
        ((3, 3, 3), 8, 2),
        ((9, 1, 1), 5, 2),
        ((1, 9, 1), 5, 1),
        ((1, 1, 9), 5, 0),
    ],
)
def test_the_newest_that_fit_are_kept_without_a_gap(sizes, budget, kept):
    history = within_budget(path(*sizes), budget, letters)
    assert list(history.exchanges) == path(*sizes)[len(sizes) - kept :]
    assert history.left_out == len(sizes) - kept


@pytest.mark.parametrize(
    ("sizes", "notice"),
    [
        ((1, 1), ""),
        ((9, 1), "[1 earlier exchange left out: no room]"),
        ((9, 9), "[2 earlier exchanges left out: no room]"),
    ],
)
def test_nothing_is_left_out_silently(sizes, notice):
    assert within_budget(path(*sizes), 5, letters).notice == notice


@given(st.lists(st.integers(0, 200), max_size=12), st.integers(0, 1000))
def test_what_is_kept_and_the_notice_fit_together(sizes, budget):
    history = within_budget(path(*sizes), budget, len)
    used = sum(len(exchange.question) for exchange in history.exchanges) + len(history.notice)
    assert used <= budget or not history.exchanges
