import pytest

from harbour.clients import retry
from harbour.errors import Upstream


def failing(times: int, error: Upstream):
    state = {"left": times}

    def work() -> str:
        if state["left"]:
            state["left"] -= 1
            raise error
        return "done"

    return work


def test_transient_errors_are_tried_again():
    pauses: list[float] = []
    work = failing(3, Upstream("busy", transient=True))
    assert retry.call(work, sleep=pauses.append, chance=lambda: 1.0) == "done"
    assert pauses == [0.5, 1.0, 2.0]


def test_the_fourth_failure_is_raised():
    with pytest.raises(Upstream):
        retry.call(failing(4, Upstream("busy", transient=True)), sleep=lambda _: None)


def test_a_long_retry_after_is_not_waited_for():
    error = Upstream("busy", transient=True, retry_after=31)
    with pytest.raises(Upstream):
        retry.call(failing(1, error), sleep=lambda _: None)


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_these_are_final(status: int):
    assert not retry.from_status("tidewatch", status, None).transient
