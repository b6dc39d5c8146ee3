from harbour.api.auth import Caller
from harbour.api.ratelimit import BURST, RateLimit


def test_after_the_burst_a_call_waits_a_second():
    limit = RateLimit(clock=lambda: 0.0)
    caller = Caller(key_id=1, role="agent")
    assert [limit.wait_for(caller) for _ in range(BURST)] == [0.0] * BURST
    assert limit.wait_for(caller) == 1.0


def test_the_board_is_never_slowed_down():
    limit = RateLimit(clock=lambda: 0.0)
    board = Caller(key_id=2, role="board")
    assert {limit.wait_for(board) for _ in range(500)} == {0.0}
