"""The benchmarks still measure what they say: the loop plays their script to its end."""

import asyncio

import pytest

from benchmarks import journal
from benchmarks.contestants import Script, bare, direct, ours


@pytest.mark.parametrize("contestant", [ours, bare, direct])
@pytest.mark.parametrize("tool_turns", [1, 30])
async def test_the_script_is_played_to_its_answer(contestant, tool_turns):
    await contestant(Script(tool_turns=tool_turns))()


def test_a_turn_of_the_journal_is_compared_with_plain_rows_of_its_database(monkeypatch, tmp_path):
    monkeypatch.setattr(journal, "TURNS", 2)
    asyncio.run(journal._durable_turn(tmp_path / "oracle.db"))
    assert journal._raw_commit(tmp_path / "oracle.db") > 0
