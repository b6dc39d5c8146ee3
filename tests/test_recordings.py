"""Our own trees and prompts decide as recorded. A change on purpose is recorded again:
`python scripts/make_recordings.py`.
"""

from pathlib import Path

import pytest

from oracle.bt.wrappers.decisions.change import BUILT_IN, NO_CHANGE, Change
from oracle.bt.wrappers.decisions.difference import compared
from oracle.bt.wrappers.decisions.playing import played
from oracle.bt.wrappers.decisions.recording_file import read_recording, recordings_in
from oracle.cli.terminal.diff_lines import diff_lines

FILES = recordings_in(Path(__file__).with_name("recordings"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize(
    "change", [NO_CHANGE, Change(trees=(BUILT_IN,), prompts=BUILT_IN)], ids=["leaves", "all"]
)
async def test_this_version_decides_as_recorded(file, change):
    recording = read_recording(file)
    diff = compared(recording, await played(recording, change))
    told = "\n".join(line.text for line in diff_lines(diff, None))
    assert (diff.is_same, diff.is_followed) == (True, True), told
