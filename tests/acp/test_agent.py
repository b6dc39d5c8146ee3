"""An editor asks, watches, allows, cancels, and comes back to its sessions."""

import asyncio

import acp
import pytest
from acp.exceptions import RequestError

from oracle.testing import Reply, ScriptedModel, signal
from tests.acp.editor import in_this_process

QUESTION = "Where is login defined?"


def look():
    return Reply(
        text="Let me look." + signal("need_turn", reason="look"),
        calls=[("read_file", {"path": "auth.py", "start": 1})],
    )


def found(text="It is in `auth.py:1`."):
    return text + signal("context_sufficient", sources_found=1)


@pytest.mark.parametrize("asked", [0, 1, 99])
async def test_an_editor_of_another_version_is_told_ours(root, asked):
    async with in_this_process() as editor:
        told = await editor.agent.initialize(protocol_version=asked)
    assert told.protocol_version == acp.PROTOCOL_VERSION


async def test_the_answer_is_a_message_and_a_draft_is_a_thought(root):
    async with in_this_process(look(), found()) as editor:
        ended = await editor.ask(await editor.new(root), QUESTION)
    assert ended.stop_reason == "end_turn"
    assert ended.field_meta["oracle"]["stop_reason"] == "answered"
    assert editor.text().startswith("It is in `auth.py:1`.")
    assert "Let me look." not in editor.text()
    assert "Let me look." in editor.text("agent_thought_chunk")
    assert "signal" not in editor.text() + editor.text("agent_thought_chunk")


async def test_what_the_answer_cites_can_be_opened_at_its_line(root):
    async with in_this_process(look(), found()) as editor:
        await editor.ask(await editor.new(root), QUESTION)
    assert f"[auth.py:1-2](file://{root}/auth.py#L1:2)" in editor.text()


async def test_a_tool_call_has_a_kind_a_status_and_places(root):
    async with in_this_process(look(), found()) as editor:
        await editor.ask(await editor.new(root), QUESTION)
    (began,), (ended,) = editor.of("tool_call"), editor.of("tool_call_update")
    assert (began.kind, began.status) == ("read", "in_progress")
    assert began.title == 'read_file("auth.py", start=1)'
    assert (began.locations[0].path, began.locations[0].line) == (str(root / "auth.py"), 1)
    assert (ended.tool_call_id, ended.status) == (began.tool_call_id, "completed")
    assert [(each.path, each.line) for each in ended.locations] == [(str(root / "auth.py"), 1)]


async def test_the_plan_ends_with_all_steps_done(root):
    async with in_this_process(look(), found()) as editor:
        await editor.ask(await editor.new(root), QUESTION)
    plans = editor.of("plan")
    assert [entry.status for entry in plans[0].entries] == [
        *("completed", "in_progress", "pending", "pending")
    ]
    assert {entry.status for entry in plans[-1].entries} == {"completed"}


@pytest.mark.parametrize(
    ("last", "limits", "expected"),
    [
        (found(), {}, "end_turn"),
        (Reply(text="I will not.", ending="refusal"), {}, "refusal"),
        (Reply(text="It", ending="filter"), {}, "refusal"),
    ],
)
async def test_each_stop_reason_has_its_word_of_the_protocol(root, last, limits, expected):
    model = ScriptedModel(look(), last, repeats_last=True)
    async with in_this_process(model=model, flags=limits) as editor:
        ended = await editor.ask(await editor.new(root), QUESTION)
    assert ended.stop_reason == expected


async def test_a_limit_of_turns_is_named(root):
    model = ScriptedModel(look(), look(), look(), found())
    async with in_this_process(model=model, flags={"limits.turns": 3}) as editor:
        ended = await editor.ask(await editor.new(root), QUESTION)
    assert ended.stop_reason == "max_turn_requests"


async def test_a_question_that_is_cancelled_still_has_an_answer(root):
    hold = asyncio.Event()
    waiting = Reply(text="It is", hold=hold)
    async with in_this_process(look(), waiting) as editor:
        session = await editor.new(root)
        asking = asyncio.create_task(editor.ask(session, QUESTION))
        await editor.until("tool_call_update")
        await editor.agent.cancel(session_id=session)
        ended = await asking
    assert ended.stop_reason == "cancelled"
    assert editor.text()


async def test_a_second_question_must_wait_for_the_first(root):
    hold = asyncio.Event()
    async with in_this_process(look(), Reply(text=found(), hold=hold)) as editor:
        session = await editor.new(root)
        asking = asyncio.create_task(editor.ask(session, QUESTION))
        await editor.until("tool_call_update")
        with pytest.raises(RequestError, match="cancel it, or wait"):
            await editor.ask(session, "And now?")
        hold.set()
        await asking


# -- permissions -----------------------------------------------------------------------------------


def wants_to_write():
    return "Hm." + signal("need_capability", capability="write_note", reason="keep the finding")


@pytest.mark.parametrize("says", ["allow", "reject", None])
async def test_a_write_needs_a_yes_of_the_person_at_the_editor(root, says):
    note = {"title": "Login", "content": "It is in auth.py."}
    write = Reply(text=signal("need_turn", reason="write"), calls=[("write_note", note)])
    after = write if says == "allow" else found()
    model = ScriptedModel(look(), wants_to_write(), after, found(), repeats_last=True)
    async with in_this_process(model=model, says=says) as editor:
        await editor.ask(await editor.new(root), QUESTION)
    ((seen, call, options),) = editor.asked
    assert options == ["allow", "reject"]
    assert (call.kind, call.status) == ("edit", "pending")
    # What was said before the question was shown before it.
    assert "tool_call_update" in {update.session_update for _, update in editor.updates[:seen]}
    assert (list(root.rglob("*ogin*.md")) != []) == (says == "allow")
    ends = [u for u in editor.of("tool_call_update") if u.tool_call_id == call.tool_call_id]
    assert [end.status for end in ends] == ["completed" if says == "allow" else "failed"]


async def test_a_question_is_cancelled_while_the_editor_is_asked(root):
    model = ScriptedModel(look(), wants_to_write())
    async with in_this_process(model=model, says="nothing") as editor:
        session = await editor.new(root)
        asking = asyncio.create_task(editor.ask(session, QUESTION))
        await editor.until_asked()
        await editor.agent.cancel(session_id=session)
        ended = await asking
        assert editor.door._permissions._answers == {}
    assert ended.stop_reason == "cancelled"


# -- sessions --------------------------------------------------------------------------------------


async def test_a_session_goes_on_where_it_was(root):
    model = ScriptedModel(look(), found(), found("As said, `auth.py:1`."))
    async with in_this_process(model=model) as editor:
        session = await editor.new(root)
        await editor.ask(session, QUESTION)
        await editor.ask(session, "Where was it again?")
        (listed,) = (await editor.agent.list_sessions(cwd=str(root))).sessions
    assert (listed.session_id, listed.title) == (session, QUESTION)
    assert QUESTION in str(model.requests[-1].messages)


async def test_a_session_is_loaded_in_another_process_with_its_tool_calls(root):
    async with in_this_process(look(), found()) as editor:
        session = await editor.new(root)
        await editor.ask(session, QUESTION)
    model = ScriptedModel(found("As said, `auth.py:1`."))
    async with in_this_process(model=model) as again:
        await again.agent.load_session(cwd=str(root), session_id=session, mcp_servers=[])
        assert again.text("user_message_chunk") == QUESTION
        assert again.text() == editor.text()
        assert [call.title for call in again.of("tool_call")] == ['read_file("auth.py", start=1)']
        await again.ask(session, "Where was it again?")
    assert QUESTION in str(model.requests[-1].messages)


@pytest.mark.extra
@pytest.mark.parametrize("asks_first", ["fork", "original"])
async def test_a_fork_and_its_original_do_not_know_of_each_other(root, asks_first):
    answers = {"fork": "In the fork: `auth.py:1`.", "original": "In the original: `auth.py:1`."}
    order = [asks_first, *({"fork", "original"} - {asks_first})]
    replies = [found(answers[name]) for name in order]
    async with in_this_process(look(), found(), *replies) as editor:
        ids = {"original": await editor.new(root)}
        await editor.ask(ids["original"], QUESTION)
        forked = await editor.agent.fork_session(
            cwd=str(root), session_id=ids["original"], mcp_servers=[]
        )
        ids["fork"] = forked.session_id
        for name in order:
            await editor.ask(ids[name], f"And in the {name}?")
    async with in_this_process() as again:
        listed = (await again.agent.list_sessions(cwd=str(root))).sessions
        assert {each.session_id for each in listed} == set(ids.values())
        for name, id_ in ids.items():
            await again.agent.load_session(cwd=str(root), session_id=id_, mcp_servers=[])
            told = again.text("user_message_chunk", id_)
            assert told == f"{QUESTION}And in the {name}?"


async def test_a_session_of_the_terminal_is_loaded_by_its_own_id(root):
    from oracle import Oracle

    model = ScriptedModel(look(), found())
    async with Oracle(project=root, model=model) as oracle:
        answer = await oracle.ask(QUESTION)
    async with in_this_process() as editor:
        (listed,) = (await editor.agent.list_sessions(cwd=str(root))).sessions
        assert listed.session_id == answer.context_id
        await editor.agent.load_session(cwd=str(root), session_id=listed.session_id, mcp_servers=[])
        assert editor.text().startswith(str(answer))


async def test_a_session_that_was_never_stored_cannot_be_loaded(root):
    async with in_this_process() as editor:
        with pytest.raises(RequestError, match="no session 'nothing'") as raised:
            await editor.agent.load_session(cwd=str(root), session_id="nothing", mcp_servers=[])
        assert raised.value.code == -32002
        with pytest.raises(RequestError, match="load it, or begin a new one"):
            await editor.ask("nothing", QUESTION)


async def test_a_closed_session_can_be_resumed(root):
    async with in_this_process(look(), found(), found("As said, `auth.py:1`.")) as editor:
        session = await editor.new(root)
        await editor.ask(session, QUESTION)
        await editor.agent.close_session(session_id=session)
        with pytest.raises(RequestError, match="load it"):
            await editor.ask(session, "And now?")
        await editor.agent.resume_session(cwd=str(root), session_id=session, mcp_servers=[])
        assert (await editor.ask(session, "Where?")).stop_reason == "end_turn"


# -- projects --------------------------------------------------------------------------------------


async def test_each_session_has_the_settings_of_its_folder(tmp_path):
    for name, turns in {"one": 1, "two": 2}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "oracle.toml").write_text(f"[limits]\nturns = {turns}\n")
    async with in_this_process() as editor:
        for name in ("one", "two", "one"):
            await editor.new(tmp_path / name)
        (tmp_path / "one" / "oracle.toml").write_text("[limits]\nturns = 5\n")
        await editor.new(tmp_path / "one")
        opened = [project.settings.limits.turns for project in editor.door.projects.opened]
    assert opened == [1, 2, 5]


@pytest.mark.parametrize("folder", ["relative", "/there/is/no/such/folder"])
async def test_a_folder_that_cannot_be_is_refused(folder):
    async with in_this_process() as editor:
        with pytest.raises(RequestError, match=r"absolute path|no folder"):
            await editor.new(folder)


async def test_a_mistake_in_the_settings_reaches_the_editor(root):
    (root / "oracle.toml").write_text("[limits]\nturns = 'many'\n")
    async with in_this_process() as editor:
        with pytest.raises(RequestError, match=r"limits\.turns"):
            await editor.new(root)


# -- attachments -----------------------------------------------------------------------------------


async def test_files_go_with_the_question(root):
    (root / "b.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
    model = ScriptedModel(found("`auth.py:1` and `b.py:2`."))
    link = acp.resource_link_block("b.py", f"file://{root}/b.py#L2:3")
    unsaved = acp.embedded_text_resource(f"file://{root}/auth.py", "def login(user):\n    pass\n")
    async with in_this_process(model=model) as editor:
        await editor.ask(
            await editor.new(root), "Compare ", link, "with", acp.resource_block(unsaved), "?"
        )
    sent = str(model.requests[0].messages)
    assert "Compare b.py:2-3 with auth.py?" in sent
    assert "two = 2" in sent
    assert "one = 1" not in sent
    assert "def login(user)" in sent


async def test_what_is_outside_of_the_project_is_not_attached(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "private.txt"
    outside.write_text("do not send this")
    model = ScriptedModel(look(), found())
    async with in_this_process(model=model) as editor:
        link = acp.resource_link_block("private.txt", f"file://{outside}")
        await editor.ask(await editor.new(root), QUESTION, link, f" and @{outside}")
    assert "do not send this" not in str(model.requests)
    assert editor.text().count("is not attached: it is not in the project") == 2


async def test_a_question_without_words_is_refused(root):
    async with in_this_process() as editor:
        with pytest.raises(RequestError, match="empty"):
            await editor.ask(await editor.new(root), "  ")
