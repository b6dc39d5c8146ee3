"""`Oracle`: the agent for programs."""

import asyncio
import resource

import pytest

from oracle import ChunkType, Limits, Oracle, OracleError
from oracle.errors import InputError
from oracle.testing import ScriptedModel, ScriptedTools
from tests.asking import TALK
from tests.scenarios import CODE, TOOLS, WRITE, WRITING, held, search, yes


@pytest.fixture
def project(tmp_path):
    (tmp_path / "oracle.toml").touch()
    return tmp_path


async def test_a_question_is_answered_with_its_sources(project):
    model = ScriptedModel(search(1), "It is in auth.py:3.")
    answer = await Oracle(project=project, model=model, tools=ScriptedTools(TOOLS)).ask(CODE)
    assert (str(answer), answer.stop_reason) == ("It is in auth.py:3.", "answered")
    assert [source["where"] for source in answer.sources] == ["auth.py:3"]
    assert (answer.usage["turns"], answer.tried) == (2, ["search_code"])
    assert answer.is_whole


async def test_a_conversation_goes_on_from_an_answer(project):
    model = ScriptedModel(search(1), "It is in auth.py.", "Since 1999.")
    oracle = Oracle(project=project, model=model, tools=ScriptedTools(TOOLS))
    first = await oracle.ask(CODE)
    second = await oracle.ask("Since when?", first.context_id)
    assert second.text == "Since 1999."
    assert "It is in auth.py." in [message["content"] for message in model.requests[2].messages]


def test_programs_that_are_not_async_ask_as_well(project):
    model = ScriptedModel(search(1), "First.", "Second.")
    oracle = Oracle(project=project, model=model, tools=ScriptedTools(TOOLS))
    first = oracle.ask_sync(CODE)
    assert oracle.ask_sync("And then?", first.context_id).text == "Second."


async def test_async_programs_are_told_how_to_ask():
    oracle = Oracle(remembers=False, model=ScriptedModel())
    with pytest.raises(InputError, match=r"await oracle\.ask"):
        oracle.ask_sync(CODE)


async def test_an_answer_can_be_followed_as_it_is_made(project):
    oracle = Oracle(project=project, model=ScriptedModel("It is in auth.py:3."))
    said = [chunk async for chunk in oracle.stream(TALK)]
    assert "".join(c.content for c in said if c.type == ChunkType.CONTENT) == "It is in auth.py:3."
    assert said[-1].type == ChunkType.DONE


async def test_one_that_remembers_nothing_needs_no_project(tmp_path):
    answer = await Oracle(project=tmp_path, remembers=False, model=ScriptedModel("X.")).ask(TALK)
    assert (answer.text, answer.context_id) == ("X.", None)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_no_project_is_named(tmp_path):
    with pytest.raises(OracleError, match="is not in a project"):
        Oracle(project=tmp_path)


async def test_questions_at_once_share_what_records_them(project):
    oracle = Oracle(project=project, model=ScriptedModel("X.", repeats_last=True))
    answers = await asyncio.gather(*(oracle.ask(f"What is {n}?") for n in range(5)))
    assert len({answer.context_id for answer in answers}) == 5


@pytest.mark.parametrize("failure", ["stop", "memory"])
async def test_the_project_says_what_happens_when_nothing_can_be_recorded(
    project, tmp_path_factory, monkeypatch, caplog, failure
):
    """Its own settings count, not those of the working directory."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_the_disk(_):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
        return "X."

    (project / "oracle.toml").write_text(f"[journal]\nfailure = '{failure}'\n")
    monkeypatch.setenv("ORACLE_TRUST", str(project))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    try:
        answer = await Oracle(project=project, model=ScriptedModel(fill_the_disk)).ask(TALK)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert answer.text == "X."
    assert answer.stop_reason == ("store_failed" if failure == "stop" else "answered")
    assert ("GOING ON WITHOUT A RECORD" in caplog.text) == (failure == "memory")


async def test_limits_and_a_persons_yes_reach_the_agent(project):
    model = ScriptedModel(WRITE, "Not done.")
    options = {"project": project, "tools": ScriptedTools(WRITING), "approve": yes}
    answer = await Oracle(model=model, limits=Limits(turns=2), **options).ask(CODE)
    assert (answer.stop_reason, answer.missing) == (
        "turn_limit",
        ["any source, because nothing was looked at"],
    )


async def test_cancelling_ends_with_what_there_is(project):
    oracle = Oracle(project=project, model=ScriptedModel(held("It is in the fi")))
    async for chunk in oracle.stream(CODE):
        if chunk.type == ChunkType.CONTENT:
            oracle.cancel("enough")
    assert chunk["answer"].startswith("It is in the fi […]")


@pytest.mark.parametrize("question", ["", " \n", "\u200b"])
async def test_a_question_that_cannot_be_asked_is_answered_by_why(question, project):
    answer = await Oracle(project=project, model=ScriptedModel()).ask(question, "nowhere")
    assert (answer.stop_reason, answer.is_whole) == ("invalid_input", False)
    assert answer.error_kind == "InputError"
    assert "the question is empty" in answer.text


async def test_without_a_model_the_embedded_one_answers(project):
    answer = await Oracle(project=project).ask(CODE)
    assert answer.stop_reason == "partial_answer"
    assert "language model" not in answer.text


async def test_a_model_can_be_given_by_its_name(project):
    (project / "oracle.toml").write_text('[model]\nname = "anthropic:claude-sonnet-4-5"\n')
    answer = await Oracle(project=project, model="embedded").ask("hello")
    assert answer.stop_reason == "answered"
    with pytest.raises(InputError, match=r"'sonet'.*sonnet"):
        Oracle(project=project, model="sonet")


def test_what_is_no_model_is_refused_at_once(project):
    with pytest.raises(InputError, match="model is 3; give a name"):
        Oracle(project=project, model=3)


async def test_files_are_attached_by_path_and_lines(project):
    (project / "auth.py").write_text("a\nb\nc\n")
    model = ScriptedModel("It is in auth.py:2.")
    oracle = Oracle(project=project, model=model)
    answer = await oracle.ask(CODE, attachments=["auth.py:2-3", project / "auth.py"])
    assert (answer.stop_reason, answer.sources[0]["where"]) == ("answered", "auth.py:1-3")
    with pytest.raises(InputError, match=r"no file 'none\.py'"):
        await oracle.ask(CODE, attachments=["none.py"])
