"""The modes of a terminal while a command runs, on a pseudo-terminal of our own."""

import os
import pty
import termios

import pytest

from oracle.cli.terminal import terminal_state
from oracle.cli.terminal.terminal_state import TerminalState


@pytest.fixture
def keyboard(monkeypatch):
    ours, theirs = pty.openpty()
    monkeypatch.setattr(terminal_state, "_terminal", lambda: theirs)
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def is_on(descriptor, *flags):
    return all(termios.tcgetattr(descriptor)[3] & flag for flag in flags)


def test_keys_are_hidden_and_shown_again(keyboard):
    _, theirs = keyboard
    before, state = termios.tcgetattr(theirs), TerminalState()
    state.hide_keys()
    state.hide_keys()
    assert not is_on(theirs, termios.ECHO)
    assert is_on(theirs, termios.ICANON, termios.ISIG, termios.NOFLSH)
    state.show_keys()
    assert termios.tcgetattr(theirs) == before


def test_two_programs_of_one_pipeline_leave_the_echo_on(keyboard):
    _, theirs = keyboard
    before, first, second = termios.tcgetattr(theirs), TerminalState(), TerminalState()
    for state in (first, second):
        state.hide_keys()
    first.show_keys()
    second.hide_keys()
    second.show_keys()
    assert termios.tcgetattr(theirs) == before


@pytest.mark.parametrize("typed", [b"y\n", b"y", b"no\ny\n"])
def test_what_was_typed_before_a_question_is_no_answer_to_it(keyboard, typed):
    ours, theirs = keyboard
    state = TerminalState()
    state.hide_keys()
    os.write(ours, typed)
    with state.asking(theirs):
        assert is_on(theirs, termios.ECHO)
        os.write(ours, b"maybe\n")
        assert os.read(theirs, 100) == b"maybe\n"


def test_a_chat_keeps_keys_and_lends_the_terminal_for_a_question(keyboard):
    ours, theirs = keyboard
    before, state = termios.tcgetattr(theirs), TerminalState()
    os.write(ours, b"early\n")
    state.begin_chat()
    assert state.typed_ahead == b"early\r"
    state.hide_keys()
    state.show_keys()
    assert not is_on(theirs, termios.ICANON)
    os.write(ours, b"late\x04")
    with state.asking(theirs):
        assert termios.tcgetattr(theirs) == before
        assert state.typed_ahead == b"early\rlate\x04"
    assert not is_on(theirs, termios.ICANON)
    state.end_chat()
    assert termios.tcgetattr(theirs) == before
