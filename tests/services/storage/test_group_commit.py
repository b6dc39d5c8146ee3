"""The thread of a writer: queued items are written together, a waiting caller is served at once."""

import threading

import pytest

from oracle.services.storage.group_commit import GroupWriter


class Link:
    def close(self):
        pass


class Batches(GroupWriter):
    """Keeps the batches that it is given. The first `failures` of them raise."""

    def __init__(self, *, failures=0, **options):
        super().__init__(Link, name="test", **options)
        self.failures = failures
        self.batches = []
        self.links = []
        self.wrote = threading.Event()

    def _write(self, items):
        self.links.append(self._linked())
        if self.failures:
            self.failures -= 1
            raise OSError
        self.batches.append(list(items))
        self.wrote.set()


@pytest.fixture
def slow():
    """A writer that would collect items for an hour."""
    writer = Batches(gather=3600)
    yield writer
    writer.close()


def test_what_gathers_is_one_batch_in_order(slow):
    for number in range(5):
        slow.put(number)
    assert slow.flush()
    assert slow.batches == [[0, 1, 2, 3, 4]]


def test_a_caller_that_waits_is_not_kept_until_more_has_gathered(slow):
    slow.put(1)
    slow.hurry()
    assert slow.wrote.wait(10)
    assert slow.batches == [[1]]


def test_hurrying_works_again_and_again(slow):
    for number in range(200):
        slow.wrote.clear()
        slow.put(number)
        slow.hurry()
        assert slow.wrote.wait(10)
    assert [item for batch in slow.batches for item in batch] == list(range(200))


def test_many_callers_at_once_are_all_served(slow):
    def work():
        for number in range(100):
            slow.put(number)
            slow.hurry()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    slow.close()
    assert sum(map(len, slow.batches)) == 400


def test_a_batch_that_is_refused_is_tried_again_on_a_new_connection():
    writer = Batches(failures=2, gather=0, retry=0)
    writer.put(1)
    assert writer.wrote.wait(10)
    assert writer.close()
    assert writer.batches == [[1]]
    assert len({id(link) for link in writer.links}) == len(writer.links) == 3


def test_closing_says_whether_all_was_written():
    writer = Batches(failures=10, gather=3600, retry=3600)
    writer.put(1)
    assert not writer.close()
    writer.failures = 0
    assert writer.close()
    assert writer.batches == [[1]]
