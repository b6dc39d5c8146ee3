"""`oracle serve`, in a process of its own: what it says when it cannot serve, and how it stops."""

import re
import signal

import httpx
import pytest

from oracle.api.serving import listening
from tests.processes import ORACLE, PIPE, Process, run


@pytest.fixture
def project(tmp_path):
    (tmp_path / "oracle.toml").touch()
    return tmp_path


def refused(project, *arguments):
    done = run([*ORACLE, "serve", *arguments], cwd=project, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_port_that_is_taken_is_named(project):
    with listening("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        said = refused(project, "--port", port)
    assert f"cannot listen on 127.0.0.1:{port}" in said
    assert "choose another --port" in said


def test_other_machines_are_not_served(project):
    assert "does not know tokens yet" in refused(project, "--host", "0.0.0.0")


def test_a_model_that_does_not_exist_is_one_clear_line(project):
    assert "there is no model 'nonsense'" in refused(project, "--port", "0", "--model", "nonsense")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_when_it_is_told_to(project, how):
    server = Process(
        [*ORACLE, "serve", "--port", "0", "--drain", "0"], cwd=project, stderr=PIPE, text=True
    )
    try:
        address = re.search(r"http://\S+", server.stderr.readline()).group()
        assert httpx.get(f"{address}/healthz", trust_env=False).json() == {"status": "ok"}
    finally:
        server.send_signal(how)
    assert server.wait(30) == 0
