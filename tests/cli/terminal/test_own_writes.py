"""An own tool that writes, at the terminal: asked about with its arguments, and always shown."""

import json

import pytest

from tests.cli.processes import Terminal, make_project, model_serving, oracle, says
from tests.services.own_code.projects import project_with, trust_all

pytestmark = pytest.mark.extra

RESTART = '''from pathlib import Path

import oracle


@oracle.tool(writes=True)
def restart_service(service: str) -> str:
    """Restart a service of the shop."""
    with (Path(__file__).parents[2] / "done.txt").open("a") as file:
        file.write(service + " ")
    return f"{service} was restarted"
'''


def restarts(*services):
    calls = [("restart_service", json.dumps({"service": service})) for service in services]
    return says(type_="need_turn", reason="it hangs", calls=calls)


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = project_with(make_project(tmp_path), tools__restart=RESTART)
    monkeypatch.chdir(root)
    trust_all(root)
    return root


def done(project):
    file = project / "done.txt"
    return file.read_text().split() if file.exists() else []


def test_a_person_is_asked_about_each_call_until_all_are_allowed(project):
    wish = says(type_="need_capability", capability="restart_service", reason="it hangs")
    replies = [wish, restarts("web", "db"), restarts("mail", "ALL"), says("Fine.")]
    with model_serving(*replies) as (env, _):
        terminal = Terminal("ask", "Why is the web service in auth.py slow?", env=env, columns=120)
        terminal.until('Run restart_service(service="web")?').until("[y/N/a=all its calls] ")
        terminal.type("y\n").until('Run restart_service(service="db")?').until("calls] ")
        terminal.type("\n").until('Run restart_service(service="mail")?').until("calls] ")
        terminal.type("a\n").until("Fine.").end()
    # Calls of one response are run side by side.
    assert (done(project)[0], {*done(project)[1:]}) == ("web", {"mail", "ALL"})
    assert 'ran restart_service(service="ALL")' in terminal.shown


def test_in_a_pipe_it_runs_only_with_a_yes_given_before(project):
    with model_serving(restarts("web"), says("Fine.")) as (env, _):
        ran = oracle("ask", "--yes", "Restart the web service", env=env)
    assert done(project) == ["web"]
    assert b'oracle: ran restart_service(service="web")' in ran.stderr
    # No words of a question are a yes, however much they sound like an order.
    with model_serving(restarts("web"), *[says("It was not restarted.")] * 2) as (env, _):
        refused = oracle("ask", "Restart the web service", env=env)
    assert done(project) == ["web"]
    assert refused.returncode == 3


def test_a_dry_run_shows_what_would_be_called(project):
    with model_serving(restarts("web"), says("Fine.")) as (env, _):
        dry = oracle("ask", "--dry-run", "Restart the web service", env=env)
    assert done(project) == []
    assert b'oracle: dry run, not run: restart_service(service="web")' in dry.stderr
