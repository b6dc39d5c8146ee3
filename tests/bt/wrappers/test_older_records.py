"""Records of format 2 are replayed by this version.

`format_2.json.z` has runs that the version before format 3 has recorded: its model was not sent its
own signals back, and its records have no times.
"""

import json
import zlib
from pathlib import Path

import pytest

from oracle.bt.wrappers.recipe import services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.services.journal.record import decoded

RECORDED = json.loads(zlib.decompress((Path(__file__).parent / "format_2.json.z").read_bytes()))


@pytest.mark.parametrize("name", RECORDED["runs"])
async def test_a_run_of_the_last_format_comes_to_the_same_end(name):
    records = decoded(map(tuple, RECORDED["runs"][name]))
    again = RecordedTree.replay(records, RECORDED["contents"], services=services_from)
    assert again.summary(await again.settle()) == records[-1].body
