import json
import os

import pytest
from rich.console import Console

from oracle.cli.commands.checks import Finding, optional_extras
from oracle.cli.commands.doctor import report, summary
from tests.processes import ORACLE, run

FINDINGS = [
    Finding(check="disk", level="ok", told="9 GB free"),
    Finding(check="model", level="warning", told="embedded", next_step="set model.name"),
    Finding(check="web", level="problem", told="no\x1b[2J address", next_step="set web.url"),
]


def oracle(*arguments, cwd):
    env = {**os.environ, "NO_COLOR": "1"}
    return run([*ORACLE, *arguments], capture_output=True, text=True, cwd=cwd, env=env, timeout=300)


def test_a_finding_is_a_line_with_the_next_step_below_it():
    console = Console(width=100, highlight=False)
    with console.capture() as capture:
        console.print(report(FINDINGS))
    assert [line.rstrip() for line in capture.get().splitlines()] == [
        "ok       disk      9 GB free",
        "warning  model     embedded",
        "                   → set model.name",
        "problem  web       no[2J address",
        "                   → set web.url",
    ]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_long_findings_are_broken_at_words_and_indented(width):
    told = "there is a rather long sentence about something, and it goes on and on"
    finding = Finding(check="model", level="problem", told=told, next_step=told)
    lines = report([finding], width=width).plain.splitlines()
    assert max(map(len, lines)) <= width
    assert all(line.startswith("    ") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == f"problem model {told} → {told}"


@pytest.mark.parametrize(
    ("findings", "told"),
    [
        (FINDINGS[:1], "no problems found"),
        (FINDINGS[:2], "0 problems, 1 warning"),
        (FINDINGS, "1 problem, 1 warning"),
    ],
)
def test_the_sum_is_told(findings, told):
    assert summary(findings) == told


def test_a_sound_project_ends_with_0_and_one_with_a_problem_with_1(tmp_path):
    (tmp_path / "oracle.toml").touch()
    sound = oracle("doctor", cwd=tmp_path)
    assert sound.returncode == 0
    assert sound.stderr == "oracle: 0 problems, 2 warnings\n"
    (tmp_path / "oracle.toml").write_text("broken")
    broken = oracle("doctor", cwd=tmp_path)
    assert broken.returncode == 1
    assert "problem  settings  oracle.toml:1:" in broken.stdout


def test_json_has_a_finding_an_object(tmp_path):
    result = oracle("doctor", "--json", cwd=tmp_path)
    rows = json.loads(result.stdout)
    assert (result.returncode, result.stderr) == (0, "")
    assert {tuple(row) for row in rows} == {("check", "level", "told", "next_step")}
    assert ("project", "warning") in [(row["check"], row["level"]) for row in rows]


def test_extras_for_users_are_told_and_those_for_development_are_not():
    here, absent = optional_extras()
    assert "all" not in [*here, *absent]
    assert "postgres" in here
    assert not {"dev", "bench", "train"} & {*here, *absent}
