"""The real MiniLM: it loads offline and silently, answers in time, and helps where it is used."""

import subprocess
import sys

import pytest

from oracle.evaluation.situations import by_both, by_heuristic, evaluate, situations
from oracle.services.bert.bert import open_readers
from oracle.services.bert.minilm import PACKAGES

pytestmark = pytest.mark.extra

LOADED = """
import asyncio
from oracle.services.bert.bert import Bert
bert = Bert()
bert.model.start().result()
found = asyncio.run(bert.situation(["Permission denied."]))
assert "problem" in found or max(found["states"], key=found["states"].get) == "blocked", found
"""
LEFT = """
import asyncio, time
from oracle.services.bert.bert import Bert
bert = Bert()
print(asyncio.run(bert.situation(["Well."])))
time.sleep({seconds})
"""


def in_a_process(code):
    return subprocess.run(
        [sys.executable, "-W", "default", "-c", code], capture_output=True, text=True, timeout=240
    )


@pytest.fixture(scope="module")
def readers():
    for package in PACKAGES:
        pytest.importorskip(package, reason=f"there is no {package}; `make test-extra` installs it")
    return open_readers()


@pytest.mark.usefixtures("readers")
def test_it_loads_without_a_word_on_the_terminal():
    done = in_a_process(LOADED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.usefixtures("readers")
@pytest.mark.parametrize("seconds", [0.0, 0.5, 2.0])
def test_a_process_may_end_while_it_is_being_loaded(seconds):
    done = in_a_process(LEFT.format(seconds=seconds))
    assert (done.returncode, done.stderr) == (0, "")
    assert "still being loaded" in done.stdout


def test_the_fallback_is_better_with_it(readers):
    rows = situations("test")
    heuristic, both = evaluate(rows, by_heuristic), evaluate(rows, by_both(readers))
    assert both.accuracy >= 0.7
    assert both.accuracy - heuristic.accuracy >= 0.2
