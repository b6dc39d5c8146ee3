"""Signals stay where the model wrote them: in its messages, in the events and with the exchange."""

import pytest

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.run_store import open_store
from oracle.services.ans.bus import event_bus_replaced
from oracle.services.signals.said import place_in_answer, signals_in_answer, with_signals
from oracle.services.storage.database import as_url
from oracle.testing import RecordingBus, Reply, ScriptedModel, ScriptedTools, signal
from tests.tables import each_row

QUESTION = "How does the login function in auth.py work?"
MORE = signal("need_turn", reason="find it").strip()
ENOUGH = signal("context_sufficient", sources_found=1).strip()
BAD = '<signal type="done"><confidence>2</confidence></signal>'
SEARCH = [("search_code", {"query": "login"})]


@pytest.fixture
def heard():
    with event_bus_replaced(RecordingBus()) as bus:
        yield bus


async def said(model, *, store=None, session=None, question=QUESTION):
    tools = ScriptedTools({"search_code": "auth.py:3 def login()"})
    wrapper = OracleBTWrapper(model=model, tools=tools, store=store, session_id=session)
    return [chunk async for chunk in wrapper.process_query(question)]


def sent_back(model):
    """What the model was sent of its own words, in the last request."""
    return [m["content"] for m in model.requests[-1].messages if m["role"] == "assistant"]


def shown(chunks):
    return "".join(chunk["content"] for chunk in chunks if chunk.type == "content")


@each_row(
    "text",
    [
        f"I look.\n\n{MORE}",
        f"I look. {MORE} Then I read.",
        f"I look.\n\n{MORE}\n{ENOUGH}",
        f"{BAD}\nI look.\n\n{MORE}",
        f"I look.\n\n{BAD}",
        MORE,
        BAD,
        "I look. <signal type='stuck'> and so on\nuntil here",
    ],
)
async def test_the_model_is_sent_its_own_signals_and_the_user_never_sees_them(text):
    model = ScriptedModel(Reply(text=text, calls=SEARCH), f"In `auth.py:3`.\n{ENOUGH}")
    chunks = await said(model)
    assert sent_back(model)[0] == text
    assert "<signal" not in shown(chunks)
    assert "<signal" not in chunks[-1]["answer"]


async def test_a_response_of_nothing_but_a_signal_is_sent_back_and_counts_as_empty():
    model = ScriptedModel(BAD, "Thanks.", "ok", repeats_last=True)
    await said(model, question="Thanks!")
    assert BAD in [m["content"] for m in model.requests[1].messages if m["role"] == "assistant"]


async def test_an_unclosed_signal_is_kept_up_to_a_limit():
    text = "I look. <signal type='stuck'> " + "".join(f"x{n}" for n in range(2_000))
    model = ScriptedModel(Reply(text=text, calls=SEARCH), f"In `auth.py:3`.\n{ENOUGH}")
    await said(model)
    assert sent_back(model)[0] == text[: 4_096 + len("I look. ")]


async def test_every_signal_is_an_event_with_its_xml(heard):
    text = f"{BAD}\nOne {MORE} two {ENOUGH} three <signal"
    model = ScriptedModel(Reply(text=text, calls=SEARCH), f"In `auth.py:3`.\n{ENOUGH}")
    await said(model)
    found = [e for e in heard.events if e.type.startswith("signal.") and e.turn == 1]
    assert [(event.type, event.payload["raw_xml"]) for event in found] == [
        ("signal.malformed", BAD),
        ("signal.received", MORE),
        ("signal.ignored", ENOUGH),
        ("signal.malformed", "<signal"),
    ]
    assert [event.payload["at"] for event in found] == [0, 4, 9, 15]
    assert found[1].payload["problems"] == ["the signal is not the last thing in the text"]
    assert "type" in found[0].payload["problem"]


async def test_of_very_many_signals_the_first_are_events_and_the_rest_is_counted(heard):
    many = "".join(f"part{n} {BAD}" for n in range(500))
    model = ScriptedModel(Reply(text=many, calls=SEARCH), f"In `auth.py:3`.\n{ENOUGH}")
    await said(model)
    found = [e.payload for e in heard.events if e.type == "signal.malformed"]
    assert len(found) == 21
    assert found[-1]["problem"].startswith("480 more signals")


async def test_the_exchange_keeps_the_signals_and_the_history_has_them_again(tmp_path):
    answer = f"In `auth.py:3`. {ENOUGH} That is all."
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        model = ScriptedModel(Reply(text=f"I look. {BAD}{MORE}", calls=SEARCH), answer)
        done = (await said(model, store=store))[-1]
        (exchange,) = await store.history(done["context_id"])
        assert exchange.answer == "In `auth.py:3`.  That is all."
        signals = exchange.metadata["signals"]
        assert [(one["turn"], one["event"], one["raw_xml"]) for one in signals] == [
            (1, "signal.malformed", BAD),
            (1, "signal.received", MORE),
            (2, "signal.received", ENOUGH),
        ]
        assert [one["in_answer"] for one in signals] == [None, None, 16]
        later = ScriptedModel(f"You are welcome.\n{ENOUGH}")
        await said(later, store=store, session=exchange.session_id, question="Thanks!")
        assert sent_back(later) == [answer]


async def test_an_answer_of_the_tree_has_no_signal_of_the_model(tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        model = ScriptedModel("", "", "")
        done = (await said(model, store=store))[-1]
        (exchange,) = await store.history(done["context_id"])
        assert [one["in_answer"] for one in exchange.metadata["signals"]] == []


def test_signals_go_back_to_their_places():
    signals = [
        {"at": 0, "raw_xml": "<a>"},
        {"at": 1, "raw_xml": "<b>"},
        {"at": 9, "raw_xml": "<c>"},
    ]
    assert with_signals("xyz", signals) == "<a>x<b>yz<c>"


@each_row(
    ("at", "answer", "place"),
    [
        (5, "It is `a.py:9`.", 5),
        (15, "It is `a.py:9` [not found].", len("It is `a.py:9` [not found].")),
        (5, "It is `a.py:9` [not found].", 5),
        (15, "It is `a.py:9`.\n\n*This answer is not complete.*", None),
        (15, "Something else", None),
    ],
)
def test_the_place_of_a_signal_is_found_in_an_answer_with_marks(at, answer, place):
    assert place_in_answer(at, "It is `a.py:9`.", answer) == place


@each_row("kept", [None, 3, "x", {}, [1], [{}], [{"raw_xml": 1, "in_answer": "a"}]])
def test_damaged_metadata_has_no_signals(kept):
    assert signals_in_answer(kept) == []


def test_an_answer_full_of_signals_does_not_fill_the_history():
    kept = [{"raw_xml": MORE, "in_answer": n} for n in range(20)]
    assert [signal["at"] for signal in signals_in_answer(kept)] == [0, 1, 2]
