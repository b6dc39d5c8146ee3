import asyncio
import json

import pytest

from oracle.services.llm import ollama
from oracle.services.llm.ollama import local_models
from oracle.testing.servers import Drop, Reply, ScriptedServer, Stall
from tests.tables import each_row


def sent(text):
    return Reply(body=[text.encode()])


def tags(*names):
    return sent(json.dumps({"models": [{"name": name} for name in names]}))


async def found(*replies, windows=0):
    """What is found, and the paths that were asked for."""
    async with ScriptedServer(*replies) as server:
        environment = {"OLLAMA_BASE_URL": f"{server.url}/v1"}
        local = await asyncio.to_thread(local_models, environment, windows=windows)
    return local, [request.path for request in server.requests]


async def test_its_models_are_listed_with_their_windows():
    shown = sent(json.dumps({"model_info": {"llama.context_length": 131_072}}))
    local, paths = await found(tags("llama3.2:3b"), shown, windows=5)
    assert [(model.name, model.context_window) for model in local.models] == [
        ("llama3.2:3b", 131_072)
    ]
    assert (local.problem, paths) == ("", ["/api/tags", "/api/show"])


async def test_names_that_could_steer_a_terminal_are_left_out():
    local, _ = await found(tags("good:1b", "\x1b[31mred", "a b", "", "x" * 10_000, "good:1b"))
    assert [model.name for model in local.models] == ["good:1b"]


async def test_ten_thousand_models_are_found_at_once():
    local, _ = await found(tags(*(f"model{n}:1b" for n in range(10_000))))
    assert len(local.models) == 10_000


@each_row(
    ("reply", "said"),
    [
        (sent("<html>not ollama</html>"), "is not ollama (its answer is not JSON)"),
        (sent("[]"), "is not ollama (it lists no models)"),
        (sent('{"models": 5}'), "is not ollama (it lists no models)"),
        (sent("[" * 100_000), "is not ollama (its answer is not JSON)"),
        (Reply(status=500), "is not ollama (status 500)"),
        (Reply(status=302), "is not ollama (status 302)"),
        (Reply(body=[b'{"models"', Drop()]), "ollama does not answer"),
    ],
)
async def test_an_answer_that_makes_no_sense_is_explained(reply, said):
    local, _ = await found(reply)
    assert local.models == ()
    assert said in local.problem
    assert "OLLAMA_BASE_URL" in local.step or "does not answer" in local.problem


@pytest.mark.parametrize("answer", ["null", "{}", '{"model_info": {"x.context_length": "big"}}'])
async def test_a_window_that_is_not_a_number_is_unknown(answer):
    local, _ = await found(tags("one"), sent(answer), windows=1)
    assert local.models[0].context_window is None


async def test_a_server_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr(ollama, "SECONDS", 0.1)
    local, _ = await found(Reply(body=[Stall()]))
    assert local.problem.endswith("within 0.1 s")


@pytest.mark.parametrize(
    ("is_installed", "step"),
    [(True, "start it with `ollama serve`"), (False, "if you use ollama, start it")],
)
def test_nothing_runs_there(tmp_path, monkeypatch, is_installed, step):
    if is_installed:
        (tmp_path / "ollama").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    local = local_models({"OLLAMA_BASE_URL": "http://127.0.0.1:1/v1"})
    assert local.problem == "ollama does not answer at http://127.0.0.1:1"
    assert local.step == step


def test_an_address_that_is_none_is_explained():
    problem = local_models({"OLLAMA_BASE_URL": "nonsense"}).problem
    assert problem.startswith("OLLAMA_BASE_URL: 'nonsense' is not the address")


def test_models_that_run_at_ollama_are_known_by_their_names():
    assert ollama.runs_elsewhere("gpt-oss:120b-cloud")
    assert ollama.runs_elsewhere("deepseek:cloud")
    assert not ollama.runs_elsewhere("llama3.2:3b")
