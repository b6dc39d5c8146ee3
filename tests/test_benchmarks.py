"""The benchmarks still measure what they say: the loop plays their script to its end."""

import pytest

from benchmarks.contestants import Script, bare, direct, ours


@pytest.mark.parametrize("contestant", [ours, bare, direct])
@pytest.mark.parametrize("tool_turns", [1, 30])
async def test_the_script_is_played_to_its_answer(contestant, tool_turns):
    await contestant(Script(tool_turns=tool_turns))()
