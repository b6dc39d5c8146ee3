"""Drawing takes its time, and may fail; the run does not wait for it."""

import threading

import pytest

from oracle.cli.terminal.interrupts import interrupts_call
from oracle.cli.terminal.screen_thread import ScreenThread
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from tests.cli.processes import ORACLE

WORD = OracleStreamChunk(type=ChunkType.CONTENT, data={"content": "word"})


class SlowScreen:
    """Shows nothing before `ready` is set."""

    def __init__(self):
        self.ready = threading.Event()
        self.shown = []

    def show(self, chunk):
        self.ready.wait(30)
        self.shown.append(chunk)

    def tick(self):
        pass

    def close(self):
        pass


class BrokenScreen(SlowScreen):
    def show(self, chunk):
        raise BrokenPipeError("gone")


def test_who_speaks_does_not_wait_for_a_slow_terminal():
    screen = SlowScreen()
    thread = ScreenThread(screen)
    for _ in range(1000):
        thread.show(WORD)
    assert screen.shown == []
    screen.ready.set()
    thread.close()
    assert len(screen.shown) == 1000


def test_a_screen_that_breaks_is_told_once_and_at_the_end():
    told = []
    thread = ScreenThread(BrokenScreen())
    thread.calls_on_failure(lambda: told.append("failed"))
    thread.show(WORD)
    thread.show(WORD)
    with pytest.raises(BrokenPipeError):
        thread.close()
    assert told == ["failed"]


def test_the_first_ctrl_c_cancels_and_the_second_ends_at_once():
    import subprocess

    code = """
import os, signal
from oracle.cli.terminal.interrupts import interrupts_call
with interrupts_call(lambda: print("cancel", flush=True)):
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    print("never")
"""
    result = subprocess.run([ORACLE[0], "-c", code], capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stdout) == (130, "cancel\n")


def test_afterwards_ctrl_c_is_what_it_was():
    import signal

    before = signal.getsignal(signal.SIGINT)
    with interrupts_call(lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
