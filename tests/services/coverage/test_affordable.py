from oracle.services.control.ledger import Ledger, Limits
from oracle.services.coverage.affordable import which_may_be_read
from tests.services.coverage.a_part import part


def test_parts_that_are_read_side_by_side_share_the_uses_that_are_left():
    parts = [part(f"{number}.py", state="open") for number in range(6)]
    ledger = Ledger(limits=Limits(uses_of_a_tool=4)).with_use("read_file").with_use("read_file")
    assert which_may_be_read(parts, ledger, 6) == [0, 1]
