"""Traces of the real command: sent while it answers, and exported afterwards."""

import json
import os
import subprocess
import sys

import pytest

from oracle.services.installing import install_command
from oracle.testing.otlp import OtlpCollector
from tests.cli.processes import QUESTION, make_project, oracle
from tests.processes import DEVNULL

pytestmark = pytest.mark.extra


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


def asked(project, **env):
    done = oracle("ask", "--model", "embedded", QUESTION, cwd=project, env=env)
    assert done.returncode == 0
    assert b"session.py:1" in done.stdout
    return done.stderr.decode()


def sent_to(url):
    """However busy the machine is, the end of the process waits until all is sent."""
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_TIMEOUT": "60"}


def last_run(project):
    (run,) = json.loads(oracle("runs", "--json", cwd=project).stdout)
    return run["id"]


def test_a_question_arrives_at_the_collector_before_the_process_ends(project):
    with OtlpCollector() as collector:
        asked(project, **sent_to(collector.url))
        names = [span.name for span in collector.spans]
    assert names[-1] == "invoke_agent oracle"
    assert "chat embedded" in names
    assert {span.trace_id for span in collector.spans} == {last_run(project)}


@pytest.mark.parametrize("behaves", ["hangs", 503])
def test_a_collector_that_fails_costs_one_line(project, behaves):
    with OtlpCollector(behaves=behaves) as collector:
        said = asked(project, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert said.count("traces cannot be sent") == 1
    assert "Traceback" not in said


def test_missing_packages_cost_one_line_a_day(project):
    hidden = "import sys; sys.modules['opentelemetry'] = None; import oracle.cli.main as m; m.run()"
    env = {**os.environ, **sent_to("http://127.0.0.1:9")}
    said = []
    for _ in range(2):
        # Not a fork of a process that has imported it already.
        done = subprocess.run(
            [sys.executable, "-c", hidden, "ask", "--model", "embedded", QUESTION],
            cwd=project,
            env=env,
            stdin=DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0
        said.append(done.stderr.count(install_command("otel")))
    assert said == [1, 0]


def test_a_run_is_exported_as_json(project):
    asked(project)
    oracle("run", "export", "--otlp", "-o", "trace.json", cwd=project)
    printed = oracle("run", "export", "last", "--otlp", cwd=project).stdout
    assert (project / "trace.json").read_bytes() == printed
    (resource,) = json.loads(printed)["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    assert spans[-1]["name"] == "invoke_agent oracle"
    assert {span["traceId"] for span in spans} == {last_run(project)}
    assert QUESTION not in printed.decode()


def test_content_is_exported_only_with_the_flag(project):
    asked(project)
    printed = oracle("run", "export", "--otlp", "--content", cwd=project).stdout.decode()
    assert QUESTION in printed
    assert "gen_ai.output.messages" in printed
    refused = oracle("run", "export", "--content", cwd=project)
    assert refused.returncode == 2
    assert b"--content needs --otlp" in refused.stderr


def test_a_run_is_sent_again_with_the_same_ids(project):
    with OtlpCollector() as collector:
        env = sent_to(collector.url)
        asked(project, **env)
        live = {(span.name, span.span_id, span.parent_id) for span in collector.spans}
        done = oracle("run", "export", "--otlp", cwd=project, env=env)
        assert b"sent trace" in done.stderr
        assert done.stdout == b""
        again = {(span.name, span.span_id, span.parent_id) for span in collector.spans}
    assert live == again
    assert len(collector.spans) == 2 * len(live)


def test_a_collector_that_refuses_an_export_is_an_error(project):
    asked(project)
    with OtlpCollector(behaves=401) as collector:
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        done = oracle("run", "export", "--otlp", cwd=project, env=env)
    assert done.returncode != 0
    assert b"did not take the trace" in done.stderr
    assert b"Traceback" not in done.stderr
