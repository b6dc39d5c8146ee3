"""A screen shows what arrives in chunks, and nothing else."""

import pytest

from oracle.cli.terminal.screen import JsonLines, PlainText, Screen
from oracle.models.stream_chunk import CHUNKS, ChunkType
from tests.cli.chunks import QUESTION, chunk

NODE = {"path": "question/turns", "status": "success", "tick": 3}


def screen(volume="normal", output=None):
    return Screen(output or PlainText(), None, volume, prints_lines=volume == "verbose")


def test_the_class_and_the_tools_of_a_question_come_from_its_chunk(capsys):
    screen("verbose").show(chunk(ChunkType.QUESTION, **QUESTION))
    assert capsys.readouterr().err == "question   code (0.99) · search_code, read_file\n"


@pytest.mark.parametrize("volume", ["quiet", "normal", "verbose"])
def test_statuses_that_were_asked_for_are_printed_however_quiet_it_is(volume, capsys):
    screen(volume).show(chunk(ChunkType.NODE, **NODE))
    assert capsys.readouterr().err == "success    question/turns\n"


@pytest.mark.parametrize(
    ("volume", "severity", "printed"),
    [
        ("quiet", "warning", ""),
        ("normal", "warning", "warning    Beware.\n"),
        ("verbose", "warning", "warning    Beware.\n"),
        ("quiet", "info", ""),
        ("normal", "info", ""),
        ("verbose", "info", "note       Beware.\n"),
    ],
)
@pytest.mark.parametrize("output", [PlainText(), JsonLines()])
def test_a_warning_is_printed_in_a_pipe_unless_it_is_quiet(
    volume, severity, printed, output, capsys
):
    screen(volume, output).show(chunk(ChunkType.SYSTEM, content="Beware.", severity=severity))
    assert capsys.readouterr().err == printed


@pytest.mark.parametrize("type_", [*("prompt", "turn_start", "verdict", "cost")])
def test_chunks_that_are_not_for_the_terminal_are_ignored(type_, capsys):
    kind = ChunkType(type_)
    screen("verbose").show(chunk(kind, **dict.fromkeys(CHUNKS[kind], None)))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("type_", ChunkType)
def test_json_has_every_chunk(type_, capsys):
    JsonLines().chunk(chunk(type_, **dict.fromkeys(CHUNKS[type_], None)))
    assert capsys.readouterr().out.startswith(f'{{"type": "{type_}"')
