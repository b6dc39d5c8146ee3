"""What a connection can cost the server until its request is complete, and while it is answered."""

import json
import random
import socket
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from oracle.api import connections
from oracle.api.connections import MOST_BYTES_OF_HEAD
from oracle.api.serving import listening
from oracle.testing import Reply, ScriptedModel
from tests.api.conftest import serving

PIECE = b"a" * 1_000
HEAD = b"POST /api/oracle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("connections")
    (root / "oracle.toml").write_text("")
    with serving(root, ScriptedModel("Hm.", repeats_last=True)) as server:
        yield server


@contextmanager
def connected(server):
    parts = urlsplit(server.address)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
        yield connection


def all_of(connection) -> bytes:
    """What is sent until the server closes the connection."""
    received = b""
    try:
        while more := connection.recv(65_536):
            received += more
    except ConnectionResetError:
        # It was closed before all that was sent had been read.
        pass
    return received


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET /",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
        # Trailers, and what may be said about a chunk, are kept by the parser like headers.
        CHUNKED + b"0\r\nX-Late: ",
        CHUNKED + b"1;",
    ],
    ids=["address", "headers", "trailers", "chunk"],
)
def test_what_comes_before_a_body_has_an_end(server, beginning):
    with connected(server) as connection:
        connection.sendall(beginning)
        sent = 0
        try:
            while sent < 20 * MOST_BYTES_OF_HEAD:
                connection.sendall(PIECE)
                sent += len(PIECE)
        except (BrokenPipeError, ConnectionResetError):
            pass
        received = all_of(connection)
    assert sent < 20 * MOST_BYTES_OF_HEAD or b" 431 " in received


def test_many_headers_are_refused_with_the_reason(server):
    with connected(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        connection.sendall(b"a" * (MOST_BYTES_OF_HEAD + 1))
        head, _, body = all_of(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert json.loads(body)["error"]["kind"] == "HeadTooLarge"


@pytest.mark.parametrize("where", ["address", "headers"])
@pytest.mark.parametrize(("spare", "status"), [(0, b"200"), (-1, b"431")])
def test_the_limit_is_the_same_for_a_head_that_comes_in_one_piece(server, where, spare, status):
    counted = b"/healthz?" + b"host: localhost\r\n" + b"connection: close\r\n"
    padding = MOST_BYTES_OF_HEAD - len(counted) - spare
    long = b""
    if where == "headers":
        long, padding = b"x: " + b"a" * (padding - 5) + b"\r\n", 0
    query = b"a" * padding
    head = b"GET /healthz?" + query + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    with connected(server) as connection:
        connection.sendall(head + long + b"\r\n")
        assert all_of(connection).split()[1] == status


@pytest.mark.parametrize(
    "beginning",
    [b"", b"GET /healthz HT", HEAD + b"Content-Length: 100\r\n\r\n{"],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_request_that_does_not_come_ends_its_connection(server, beginning, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_FOR_REQUEST", 0.05)
    with connected(server) as connection:
        connection.sendall(beginning)
        assert all_of(connection) == b""


@pytest.mark.parametrize(
    "rubbish", [b"\x16\x03\x01\x00\xa5\x01\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
)
def test_rubbish_is_refused_in_our_shape_and_not_logged(server, rubbish, caplog):
    with connected(server) as connection:
        connection.sendall(rubbish)
        body = all_of(connection).partition(b"\r\n\r\n")[2]
    assert json.loads(body)["error"]["kind"] == "BadRequest"
    assert caplog.records == []


def test_a_request_for_a_websocket_is_answered_as_any_other(server, caplog):
    upgrade = (
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade, close\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with connected(server) as connection:
        connection.sendall(upgrade)
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200 ")
    assert caplog.records == []


def test_a_request_with_two_names_for_the_server_is_refused(server):
    with connected(server) as connection:
        connection.sendall(
            b"GET /api/sessions HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n"
            b"Connection: close\r\n\r\n"
        )
        assert b" 403 " in all_of(connection).splitlines()[0]


# -- readers ---------------------------------------------------------------------------------------


@pytest.mark.extra
def test_a_reader_who_does_not_read_costs_bounded_memory_and_slows_nobody(root, monkeypatch):
    def small(host, port):
        socket_ = listening(host, port)
        # Otherwise the system would take all that is sent.
        socket_.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        return socket_

    monkeypatch.setattr("tests.api.conftest.listening", small)
    dice = random.Random(1)
    letters = ("".join(dice.choices("aeiourstlmn", k=dice.randint(3, 9))) for _ in range(45_000))
    text = " ".join(letters)
    model = ScriptedModel(Reply(text=text, piece=500), longest_output=10**7, repeats_last=True)
    (root / "oracle.toml").write_text("[limits]\nturns = 1\n")
    with serving(root, model) as server:
        body = json.dumps({"question": "Tell me the words"}).encode()
        head = f"POST /api/oracle/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
        lazy = socket.socket()
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        lazy.connect(("127.0.0.1", int(server.address.rpartition(":")[2])))
        with lazy, lazy.makefile("rb") as reading:
            lazy.sendall(f"{head}\r\nContent-Type: application/json\r\n\r\n".encode() + body)
            run_id = next(
                line.split()[1].decode()
                for line in iter(reading.readline, b"")
                if line.startswith(b"oracle-run:")
            )
            with server.http.stream("GET", f"/api/runs/{run_id}/stream") as response:
                heard = [line for line in response.iter_lines() if line.startswith("id: ")]
            waiting = server.run(unsent(server))
            assert 0 < waiting < 256_000 < len(text)
            # It reads on, later: nothing is missing.
            told = [line for line in iter(reading.readline, b"0\r\n") if line.startswith(b"id: ")]
    assert [line.decode().strip() for line in told] == heard


async def unsent(server):
    """Bytes that are kept for all clients."""
    connections = server.uvicorn.server_state.connections
    return sum(each.transport.get_write_buffer_size() for each in connections)
