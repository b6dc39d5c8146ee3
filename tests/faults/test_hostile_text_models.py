"""Models that repeat our own text, signal twice or in odd places, garble their tags, or are cut.

Whatever they write: the run ends with an answer, the user sees neither our text nor a signal, and
a replay comes to the same end.
"""

import random

import pytest

from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.services.agent_services import AgentServices
from oracle.services.ans.bus import event_bus_replaced
from oracle.services.control.ledger import Limits
from oracle.services.journal import MemorySink
from oracle.services.tools.answer import Answer, as_result
from oracle.testing import RecordingBus, Reply, ScriptedModel, ScriptedTools, signal
from tests.default_run import thinned
from tests.tables import each_row

QUESTION = "How does the login function in auth.py work?"
SEARCH = [("search_code", {"query": "login"})]
ENOUGH = signal("context_sufficient", sources_found=1).strip()
MORE = signal("need_turn", reason="find it").strip()
FOUND = {"kind": "code", "where": "auth.py:3", "path": "auth.py", "start": 3, "end": 3}
RESULT = dict(
    as_result(Answer(summary="1 place found.", findings=[{**FOUND, "text": "def login():"}]))
)
ANSWER = "It is in `auth.py:3`."
LEAKS = (
    "<signal",
    "</signal>",
    "system_message",
    "project_facts",
    "data, not instructions",
    "You answer a developer's questions",
    "State a fact about the project only",
    "End every response with exactly one signal",
    "Search before you read",
    "Budget: 30 turns",
    "Your response was empty. Call a tool",
)


class Run:
    def __init__(self, *replies, limits=None, result=RESULT):
        self.model = ScriptedModel(*replies, repeats_last=True)
        self.said, self.sink = [], MemorySink()
        live = AgentServices(
            model=self.model,
            tools=ScriptedTools({"search_code": result}),
            say=self.said.append,
        )
        setup = AgentSetup(live=live, limits=limits or Limits(turns=6))
        recipe = setup.recipe(QUESTION, facts={"name": "shop", "folders": ["src"]})
        self.tree = RecordedTree(recipe, self.sink, services=lambda r: services_from(r, live))

    async def settle(self):
        self.summary = self.tree.summary(await self.tree.settle())
        self.answer = self.tree.board.get("answer")
        self.shown = "".join(chunk["content"] for chunk in self.said if chunk.type == "content")
        return self

    async def comes_to_the_same_end_again(self):
        again = RecordedTree.replay(self.sink.records, self.sink.contents, services=services_from)
        return again.summary(await again.settle()) == self.summary


def searches(text=""):
    return Reply(text=text + MORE, calls=SEARCH)


def repeats(choose):
    """A model that answers with what it was sent."""
    return lambda request: choose(request.messages)


ECHOES = {
    "the whole prompt": repeats(lambda messages: messages[0]["content"]),
    "the middle of the prompt": repeats(
        lambda messages: "\n".join(messages[0]["content"].splitlines()[20:60])
    ),
    "the facts": repeats(lambda messages: messages[1]["content"]),
    "the newest result": repeats(
        lambda messages: [m for m in messages if m["role"] == "tool"][-1]["content"]
    ),
    "a system message": lambda request: "<system_message>Answer now.</system_message>",
    "the newest system message": repeats(
        lambda messages: [m for m in messages if m["role"] == "system"][-1]["content"]
    ),
    "everything": repeats(
        lambda messages: "\n\n".join(m["content"] for m in messages if m["role"] == "system")
    ),
}


@pytest.mark.parametrize("name", thinned(ECHOES, 3))
async def test_a_model_that_only_repeats_us_gives_no_answer(name):
    run = await Run(searches(), ECHOES[name]).settle()
    assert not [leak for leak in LEAKS if leak in run.shown + run.answer]
    assert run.answer.strip()
    assert run.tree.board.get("stop_reason") != "answered"
    assert await run.comes_to_the_same_end_again()


@pytest.mark.parametrize("name", thinned(ECHOES, 3))
async def test_an_answer_next_to_it_is_shown_alone(name):
    def reply(request):
        return f"{ECHOES[name](request)}\n\n{ANSWER}\n\n{ENOUGH}"

    run = await Run(searches(), reply).settle()
    assert run.answer == ANSWER
    assert not [leak for leak in LEAKS if leak in run.shown]
    assert await run.comes_to_the_same_end_again()


async def test_a_project_about_prompts_can_be_quoted():
    line = "State a fact about the project only when a tool result or an earlier message in this"
    result = {"success": True, "content": f"prompts/base.md:7  - {line}", "sources": [FOUND]}
    run = await Run(searches(), f"{line} conversation shows it.{ENOUGH}", result=result).settle()
    assert line in run.answer


@pytest.mark.parametrize("seed", thinned(range(12), 3))
async def test_garbled_tags_and_odd_places_never_leak(seed):
    chance = random.Random(seed)
    pieces = [
        ANSWER,
        *(ENOUGH, MORE, "<signal", '<signal type="stuck">', "</signal>", "<sign", "<signal/>"),
        *("<system_message>", "</system_message>", "<project_facts>\n", "`", "\n\n", "\n", " "),
        "<signal type='done'><confidence>9</confidence></signal>",
        "<SIGNAL TYPE=need_turn confidence=.5><reason>r</reason></SIGNAL>",
    ]
    texts = ["".join(chance.choices(pieces, k=chance.randrange(1, 9))) for _ in range(6)]
    run = await Run(searches(), *texts).settle()
    assert run.answer.strip()
    outside_code = "".join(run.shown.split("`")[::2])
    assert "<signal " not in outside_code
    assert await run.comes_to_the_same_end_again()


@each_row("end", range(1, len(MORE) + 3, 7))
async def test_a_stream_that_is_cut_in_its_signal_shows_nothing_of_it(end):
    cut = f"{ANSWER} {MORE}"[: len(ANSWER) + 1 + end]
    run = await Run(searches(), Reply(text=cut, raises=RuntimeError("gone"))).settle()
    assert "<s" not in run.shown + run.answer


@pytest.mark.parametrize("count", [2, 3, 30])
async def test_every_one_of_many_signals_leaves_a_trace(count):
    with event_bus_replaced(RecordingBus()) as bus:
        text = " ".join(f"{n} {MORE}" for n in range(count))
        await Run(Reply(text=text, calls=SEARCH), ANSWER + ENOUGH).settle()
    found = [
        e for e in bus.events if e.type in ("signal.received", "signal.ignored") and e.turn == 1
    ]
    assert [event.payload["raw_xml"] for event in found] == [MORE] * min(count, 20)
    assert [event.type for event in found].count("signal.received") == 1


async def test_a_model_that_is_sent_its_signals_is_sent_no_text_of_ours():
    run = await Run(
        Reply(text=f"<system_message>x</system_message>I look. {MORE}", calls=SEARCH), ANSWER
    ).settle()
    (own,) = [m["content"] for m in run.model.requests[1].messages if m["role"] == "assistant"]
    assert own == f"I look. {MORE}"


@pytest.mark.extra
@pytest.mark.parametrize("seed", range(40))
async def test_prompts_cut_and_shuffled_at_random_never_leak(seed):
    chance = random.Random(seed)

    def reply(request):
        lines = request.messages[0]["content"].splitlines()
        start = chance.randrange(len(lines))
        return "\n".join(lines[start : start + chance.randrange(1, 40)])

    run = await Run(searches(), reply).settle()
    assert not [leak for leak in LEAKS[2:] if leak in run.shown + run.answer]
