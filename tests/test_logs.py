"""No secret reaches a log, whatever a message quotes and whatever handler there is."""

import ast
import io
import logging
from pathlib import Path

import pytest

import oracle
from oracle.logs import logger_of

KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
SOURCE = Path(oracle.__file__).parent


@pytest.fixture
def logged():
    """A logger of ours, and what a program's own handler writes of it."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    logger = logger_of("oracle.of_a_test")
    logger.addHandler(handler)
    yield logger, out
    logger.removeHandler(handler)


def test_a_key_in_a_message_or_an_argument_is_redacted(logged):
    logger, out = logged
    logger.warning("the tool failed: %s", ConnectionError(f"401 for key {KEY}"))
    logger.warning(f"at https://u:{KEY}@db.example.org/")
    assert KEY not in out.getvalue()
    assert "the tool failed: 401 for key [redacted" in out.getvalue()


def test_a_key_in_an_exception_is_redacted_and_the_rest_of_the_traceback_stays(logged):
    logger, out = logged
    try:
        raise ConnectionError(f"401 for key {KEY}")
    except ConnectionError:
        logger.exception("it failed")
    assert KEY not in out.getvalue()
    assert "in test_a_key_in_an_exception" in out.getvalue()
    assert "ConnectionError: 401 for key [redacted" in out.getvalue()


def test_a_record_without_secrets_is_as_it_was(logged, caplog):
    logger, _ = logged
    logger.error("run %s: %s", "a", 7, exc_info=ValueError("x"))
    [record] = caplog.records
    assert (record.msg, record.args) == ("run %s: %s", ("a", 7))
    assert record.exc_info[0] is ValueError


def test_a_message_that_cannot_be_made_says_so(logged):
    class Broken:
        def __str__(self):
            raise RuntimeError("no text")

    logger, out = logged
    logger.error("it is %s", Broken())
    assert out.getvalue() == "'it is %s' cannot be logged: RuntimeError\n"


def test_every_logger_of_ours_is_made_in_one_place():
    for file in SOURCE.rglob("*.py"):
        if "evaluation/data" in file.as_posix() or file == SOURCE / "logs.py":
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            is_made = isinstance(node, ast.Call) and ast.unparse(node.func) == "logging.getLogger"
            named = ast.unparse(node.args[0]) if is_made and node.args else ""
            assert "__name__" not in named, f"{file}: use oracle.logs.logger_of"
