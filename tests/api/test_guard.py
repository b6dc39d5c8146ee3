"""Who may not use the server, and what is too much for it."""

import pytest

from oracle.services.settings.sections import ServerSettings
from oracle.testing import ScriptedModel
from tests.api.conftest import serving

MOST_BYTES = ServerSettings().most_bytes


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("guarded")
    (root / "oracle.toml").write_text("")
    with serving(root, ScriptedModel()) as server:
        yield server


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": ""},
        {"Host": "[::1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://127.0.0.1:80.evil.example"},
        {"Origin": "http://evil.example@127.0.0.1"},
        {"Host": "evil.example@127.0.0.1"},
        [("Origin", "http://evil.example"), ("Origin", "http://127.0.0.1")],
        # No `Origin` comes with these: a picture or a script, and a frame.
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_other_names_and_pages_of_others_are_refused(server, headers):
    response = server.http.get("/api/sessions", headers=headers)
    assert response.status_code in (400, 403)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": "localhost"},
        {"Host": "[::1]:80"},
        {"Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    ],
)
def test_this_machine_may_use_it(server, headers):
    assert server.http.get("/api/sessions", headers=headers).status_code == 200


def test_a_link_of_another_page_may_be_opened(server):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    for more in ({}, {"Sec-Fetch-Dest": "document"}):
        assert server.http.get("/api/sessions", headers={**link, **more}).status_code == 200


@pytest.mark.parametrize("is_counted", [True, False], ids=["with a length", "in chunks"])
def test_a_large_body_is_refused(server, is_counted):
    body = b'{"question": "' + b"x" * MOST_BYTES + b'"}'
    sent = body if is_counted else iter([body[:1000], body[1000:]])
    response = server.http.post(
        "/api/oracle", content=sent, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 413
    assert "bytes; send less" in response.json()["error"]["message"]


def test_no_other_page_may_read_a_response(server):
    response = server.http.options(
        "/api/sessions",
        headers={"Origin": "http://localhost:3000", "Access-Control-Request-Method": "GET"},
    )
    assert "access-control-allow-origin" not in response.headers
