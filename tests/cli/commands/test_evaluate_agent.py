"""`oracle eval agent` with a limit of cost, and with results that a crash has torn."""

import pytest

from oracle.evaluation.agent_report import read_outcomes
from tests.cli.processes import oracle

SIMULATED = ("--simulated", "competent", "--every", "80")


@pytest.fixture
def call(tmp_path):
    def run(*arguments, **env):
        result = oracle("eval", *arguments, cwd=tmp_path, env={"OPENAI_API_KEY": "k"} | env)
        return result.returncode, result.stdout.decode(), result.stderr.decode()

    return run


def test_no_money_asks_nothing_and_says_so(call, tmp_path):
    code, output, errors = call(
        "agent", *SIMULATED, "--max-cost", "0", "--results", str(tmp_path / "r.jsonl")
    )
    assert (code, output) == (3, "")
    assert errors.startswith("oracle: stopped at a cost of 0.0000; raise --max-cost")
    assert not (tmp_path / "r.jsonl").exists()


def test_a_price_that_is_not_known_is_refused(call):
    code, output, errors = call("agent", "--model", "openai:fake", "--max-cost", "0.5")
    assert (code, output) == (2, "")
    assert "the price of openai:fake is not known" in errors
    assert "model.input_price" in errors


def test_a_model_that_is_gone_is_no_wrong_answer(call, tmp_path):
    file = tmp_path / "r.jsonl"
    gone = {"ORACLE_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}
    asked = ("agent", "--model", "openai:x", "--every", "81", "--results", str(file))
    code, output, errors = call(*asked, **gone)
    assert (code, output) == (69, "")
    assert "(tree) does not count: no model answered" in errors
    assert read_outcomes(file) == []


def test_a_torn_line_is_named_by_a_comparison(call, tmp_path):
    file = tmp_path / "r.jsonl"
    assert call("agent", *SIMULATED, "--results", str(file))[0] == 0
    file.write_bytes(file.read_bytes()[:-40])
    lines = len(file.read_text().splitlines())
    code, _, errors = call("compare", str(file), str(file))
    assert code == 0
    assert f"r.jsonl: line {lines} is not whole and left out" in errors


def test_the_agent_with_its_own_trees_and_limits_is_the_one_that_is_measured(call, tmp_path):
    (tmp_path / "oracle.toml").write_text("")
    file = tmp_path / "r.jsonl"
    asked = ("agent", *SIMULATED, "--results", str(file))
    assert call(*asked)[0] == 0
    code, output, errors = call(*asked, ORACLE_LIMITS_TURNS="1")
    assert code == 0
    assert "4 results of other trees, prompts or limits left out" in errors
    whole, short = (
        [each for each in read_outcomes(file) if each.agent == agent]
        for agent in dict.fromkeys(each.agent for each in read_outcomes(file))
    )
    assert {each.facts.turns for each in short} == {1}
    assert max(each.facts.turns for each in whole) > 1
    # The table has only what was asked now.
    row = next(line for line in output.splitlines() if "ends with an answer" in line)
    assert row.split()[-1] == "2"
