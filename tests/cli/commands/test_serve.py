"""`oracle serve`, in a process of its own: what it says when it cannot serve, and how it stops."""

import json
import re
import signal
from contextlib import contextmanager

import httpx
import pytest

from oracle.api.serving import listening
from tests.processes import ORACLE, PIPE, Process, run

pytestmark = pytest.mark.extra


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


def test_other_machines_are_not_served_without_a_token(project):
    assert "there is no valid token" in refused(project, "--host", "0.0.0.0")
    id_ = token(project, "create", "ann", "--json")["id"]
    token(project, "revoke", id_)
    assert "oracle token create NAME" in refused(project, "--host", "0.0.0.0")


def token(project, *arguments):
    command = [*ORACLE, "token", *arguments]
    done = run(command, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


@contextmanager
def serving(project, *arguments):
    server = Process(
        [*ORACLE, "serve", "--port", "0", "--drain", "0", *arguments],
        cwd=project,
        stderr=PIPE,
        text=True,
    )
    try:
        said = server.stderr.readline()
        port = re.search(r"http://\S+:(\d+)", said).group(1)
        address, options = f"http://127.0.0.1:{port}", {"trust_env": False, "verify": False}
        with httpx.Client(base_url=address, **options) as client:
            yield client
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


def test_a_token_made_by_another_process_works_at_once_and_stops_at_once(project):
    with serving(project) as client:
        assert client.get("/api/runs").status_code == 200
        made = token(project, "create", "ann", "--json")
        own = {"Authorization": f"Bearer {made['token']}"}
        assert client.get("/api/runs").status_code == 401
        assert client.get("/api/runs", headers=own).status_code == 200
        token(project, "revoke", made["token"])
        assert client.get("/api/runs", headers=own).status_code == 401


def test_with_a_token_other_addresses_are_served_under_any_name(project):
    made = token(project, "create", "ann", "--json")
    with serving(project, "--host", "0.0.0.0") as client:
        headers = {"Host": "oracle.example"}
        assert client.get("/healthz", headers=headers).status_code == 200
        assert client.get("/api/runs", headers=headers).status_code == 401
        headers["Authorization"] = f"Bearer {made['token']}"
        assert client.get("/api/runs", headers=headers).status_code == 200
        # Without any token in the database it still needs one.
        token(project, "revoke", made["id"], "--delete")
        assert client.get("/api/runs", headers=headers).status_code == 401
        assert client.get("/api/runs").status_code == 401


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
