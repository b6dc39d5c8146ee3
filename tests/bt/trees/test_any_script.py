"""Whatever a model does, a run ends within its ledger, with an answer, and keeps to its grants."""

import asyncio
import logging

from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import ModelError
from oracle.services.control.ledger import Limits
from oracle.services.control.unfinished_answer import EXPLAINED
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import CODE, LONG, ask

QUERIES = (CODE, LONG, "Thanks, that helps!", "What did we decide about caching?")
TOOLS = ("search_code", "read_file", "search_vault", "web_search", "write_note", "rm_rf")
NO_MORE_TOOLS = ("No tools are left", "no tools are left", "without tools", "tools keep failing")

signals = st.sampled_from(
    [
        "",
        '<signal type="done"><confidence>2</confidence></signal>',
        '<signal type="need_turn">',
        *(
            signal(kind, confidence, **fields)
            for confidence in (0.1, 0.9)
            for kind, fields in [
                ("need_turn", {"reason": "the same"}),
                ("need_turn", {"reason": "another"}),
                ("context_sufficient", {"sources_found": 1}),
                ("stuck", {"attempted": ["a"], "blocker": "b"}),
                ("need_capability", {"capability": "web search", "reason": "r"}),
                ("need_capability", {"capability": "write a note", "reason": "r"}),
                ("need_capability", {"capability": "run the tests", "reason": "r"}),
                ("partial_answer", {"missing": "m"}),
                ("delegation_recommended", {"reason": "r", "scope": "s"}),
            ]
        ),
    ]
)
calls = st.lists(
    st.tuples(st.sampled_from(TOOLS), st.sampled_from([{"query": "a"}, {"query": "b"}, "broken"])),
    max_size=3,
)
replies = st.builds(
    lambda text, end, calls, raises: Reply(text=text + end, calls=calls, raises=raises),
    st.sampled_from(["", "A text.", "long " * 150, "round\n" * 20]),
    signals,
    calls,
    st.sampled_from([None] * 12 + [ModelError("down")]),
)
results = st.sampled_from(["auth.py:3 x", "", OSError("disk"), ["a:1", "b:1", "c:1"], None])


async def allow(_question):
    return True


@given(
    script=st.lists(replies, min_size=1, max_size=9),
    query=st.sampled_from(QUERIES),
    result=results,
    turns=st.integers(1, 12),
    approve=st.sampled_from([None, allow]),
)
def test_any_script_ends_well(script, query, result, turns, approve):
    logging.disable(logging.CRITICAL)
    try:
        heard = asyncio.run(played(script, query, result, turns, approve))
    finally:
        logging.disable(logging.NOTSET)
    assert len(heard.model.requests) <= turns
    assert heard.stop in {"answered", *EXPLAINED} - {"internal_error", "no_progress", "tick_budget"}
    assert all(uses <= 4 for uses in heard.done["usage"]["uses"].values())
    check_grants(heard, approve)


async def played(script, query, result, turns, approve):
    tools = ScriptedTools(dict.fromkeys(TOOLS[:-1], result))
    limits = Limits(turns=turns, uses_of_a_tool=4)
    model = ScriptedModel(*script, repeats_last=True)
    return await ask(model=model, tools=tools, query=query, limits=limits, approve=approve)


def check_grants(heard, approve):
    for number, offered in enumerate(heard.offered):
        told = heard.told(number)
        if any(sentence in told for sentence in NO_MORE_TOOLS):
            assert offered == []
        for line in told.splitlines():
            if line.startswith("Withdrawn, because"):
                assert not set(line.partition(": ")[2].rstrip(".").split(", ")) & set(offered)
    called = [event for event in heard.bus.events if event.type == "tool.called"]
    assert len(called) == len(heard.tools.calls)
    assert all(event.payload["tool"] in heard.offered[event.turn - 1] for event in called)
    if approve is None:
        assert "write_note" not in heard.ran
