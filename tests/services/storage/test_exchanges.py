import pytest

from oracle.errors import NotFound
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.runs import Runs
from oracle.services.storage.sessions import Sessions


def ids(exchanges):
    return [exchange.id for exchange in exchanges]


async def test_the_history_of_an_exchange_is_its_own_branch(conversation):
    exchanges = Exchanges(conversation)
    assert ids(await exchanges.path_to("e3")) == ["e1", "e2", "e3"]
    assert ids(await exchanges.path_to("e4")) == ["e1", "e2", "e4"]


async def test_a_conversation_goes_on_from_its_newest_exchange(conversation):
    assert (await Exchanges(conversation).newest("s1")).id == "e4"


async def test_a_new_session_has_no_exchange(database):
    await Sessions(database).create(session_id="s1", title="new", at=1.0)
    assert await Exchanges(database).newest("s1") is None


async def test_signals_are_kept_in_the_metadata(conversation, exchange):
    signals = [{"type": "need_turn", "confidence": 0.5, "fields": {"reason": "más «ü»"}}]
    written = exchange("e5", "e4", run_id="r1", metadata={"signals": signals, "none": None})
    await Exchanges(conversation).append(written)
    assert await Exchanges(conversation).get("e5") == written


async def test_appending_marks_the_session_as_used(conversation, exchange):
    await Exchanges(conversation).append(exchange("e9", "e4"))
    assert (await Sessions(conversation).get("s1")).updated_at == 9.0


async def test_appending_twice_is_appending_once(conversation, exchange):
    for _ in range(2):
        await Exchanges(conversation).append(exchange("e5", "e4"))
    assert ids(await Exchanges(conversation).of_session("s1")) == ["e1", "e2", "e3", "e4", "e5"]


async def test_a_parent_in_another_session_is_refused_and_nothing_is_written(
    conversation, exchange
):
    await Sessions(conversation).create(session_id="s2", title="other", at=1.0)
    with pytest.raises(NotFound, match="no exchange 'e1' in session 's2'"):
        await Exchanges(conversation).append(exchange("e9", "e1", session="s2"))
    assert (await Sessions(conversation).get("s2")).updated_at == 1.0


async def test_an_unknown_session_or_exchange_is_an_error(conversation, exchange):
    with pytest.raises(NotFound, match="no session 's2'; `oracle sessions list` shows"):
        await Exchanges(conversation).append(exchange("e9", session="s2"))
    with pytest.raises(NotFound, match="no exchange 'e7'; `oracle sessions show"):
        await Exchanges(conversation).path_to("e7")


async def test_the_answer_of_a_run_is_kept_once_after_what_it_answers(conversation):
    runs, exchanges = Runs(conversation), Exchanges(conversation)
    asked = {"question": "Where?", "tree": "oracle", "at": 5.0, "owner": "me"}
    await runs.begin(run_id="r1", session_id="s1", context_id="e4", **asked)
    for _ in range(2):
        assert await exchanges.append_of_run("r1", "Here.", {"tokens": 3}, 9.0) == "r1"
    kept = (await exchanges.of_runs(["r1"]))["r1"]
    assert (kept.parent_id, kept.run_id, kept.question, kept.answer) == (
        *("e4", "r1"),
        *("Where?", "Here."),
    )
    assert (kept.metadata, kept.created_at) == ({"tokens": 3}, 9.0)


async def test_no_user_is_shown_the_answer_of_a_shadow_or_without_a_session(conversation):
    runs, exchanges = Runs(conversation), Exchanges(conversation)
    asked = {"question": "Where?", "tree": "oracle", "at": 5.0, "owner": "me"}
    await runs.begin(run_id="alone", **asked)
    await runs.begin(run_id="shadow", session_id="s1", shadow_of="alone", **asked)
    for name in ("alone", "shadow"):
        assert await exchanges.append_of_run(name, "Here.", {}, 9.0) is None
    assert await exchanges.of_runs(["alone", "shadow"]) == {}
