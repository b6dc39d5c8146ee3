"""`oracle token`: shown once, listed without its secret, revoked by whatever names it."""

import json
import time

import pytest
from typer.testing import CliRunner

from oracle.cli.main import app


@pytest.fixture(autouse=True)
def _project(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").touch()
    monkeypatch.chdir(tmp_path)


def token(*arguments):
    """In this process: what it printed to stdout and to stderr, and the error."""
    result = CliRunner().invoke(app, ["token", *arguments])
    return result.stdout, result.stderr, result.exception and str(result.exception)


def listed():
    return json.loads(token("list", "--json")[0])


def test_only_the_token_goes_to_stdout_and_no_list_has_it_again(tmp_path):
    told, notes, _ = token("create", "laptop", "--user", "ann")
    (text,) = told.splitlines()
    _, id_, secret = text.split("_", 2)
    assert len(secret) == 43
    assert f"token {id_} of user ann, scope ask; it expires on" in notes
    assert "not shown again" in notes
    shown = "".join(token("list")[:2]) + json.dumps(listed())
    assert f"oracle_{id_}_…" in shown
    assert secret not in shown
    stored = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert id_.encode() in stored
    assert secret.encode() not in stored


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [([], 90 * 86_400), (["--expires", "12h"], 12 * 3_600), (["--expires", "never"], None)],
)
def test_a_token_expires_when_it_is_said_to(arguments, seconds):
    token("create", "ann", *arguments)
    (row,) = listed()
    if seconds is None:
        assert row["expires_at"] is None
    else:
        assert row["expires_at"] == pytest.approx(time.time() + seconds, abs=60)
    assert (row["user"], row["scope"], row["state"]) == ("ann", "ask", "active")


@pytest.mark.parametrize("named", ["id", "beginning", "name", "token", "shown"])
def test_a_token_is_revoked_by_whatever_names_it(named):
    made = json.loads(token("create", "ann", "--json")[0])
    id_ = made["id"]
    names = {"id": id_, "beginning": id_[:5], "name": "ann", "token": made["token"]}
    assert token("revoke", {**names, "shown": f"oracle_{id_}_…"}[named])[0] == (
        f"token {id_} (ann) is revoked\n"
    )
    assert [row["state"] for row in listed()] == ["revoked"]


def test_a_deleted_token_is_gone_from_the_list():
    token("create", "ann")
    assert "is deleted" in token("revoke", "ann", "--delete")[0]
    assert listed() == []
    assert "`oracle token create NAME` makes one" in token("list")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "ann", "--expires", "soon"], "'soon' is not a time span"),
        (["create", "ann", "--expires", "0d"], "ends in the future"),
        (["create", "ann", "--expires", "999999w"], "or never"),
        (["create", "ann "], "cannot be used"),
        (["create", "ann", "--scope", "root"], "'root' is not one of"),
        (["create", "a\nb"], "cannot be used"),
        (["create", "ann", "--user", "x" * 65], "at most 64 letters"),
        (["create", ""], "cannot be used"),
        (["revoke", "none"], "no token 'none'"),
        (["revoke", ""], "no token ''"),
    ],
)
def test_a_mistake_is_named(arguments, message):
    _, notes, problem = token(*arguments)
    assert message in f"{notes}{problem}"


def test_two_tokens_of_the_same_name_are_told_apart_by_their_ids():
    token("create", "ann")
    token("create", "ann")
    assert "is ambiguous" in token("revoke", "ann")[2]


def test_a_mistyped_token_is_not_repeated():
    text = token("create", "ann")[0].strip()
    wrong = f"{text[:10]}{'0' * 7}{text[17:]}"
    _, notes, problem = token("revoke", wrong)
    assert text[20:] not in f"{notes}{problem}"
    assert "no token;" in problem
