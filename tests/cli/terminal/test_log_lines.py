"""What becomes of log records on the screen."""

import logging
import os

import pytest

from oracle.cli.terminal.log_lines import LogLines, line_of, log_lines_to, print_on_stderr
from tests.cli.processes import oracle


def record(name, message, *arguments):
    return logging.LogRecord(name, logging.WARNING, __file__, 1, message, arguments, None)


def test_a_record_about_storage_is_a_message_for_everybody():
    line = line_of(record("oracle.services.ans.writer", "%d events are lost\nTraceback", 3))
    assert str(line) == "oracle: warning: 3 events are lost"
    assert line.is_for("normal")


@pytest.mark.parametrize("name", ["fallback", "asyncio", "py.warnings", "oracle.bt.tool_calls"])
def test_other_records_are_lines_for_everything_only(name):
    line = line_of(record(name, "fallback: %s", {"a": 1}))
    assert line.is_for("everything")
    assert not line.is_for("verbose")


def test_a_record_that_cannot_be_shown_disturbs_nothing(capsys):
    LogLines().emit(record("oracle.services.ans.writer", "%d events", "three"))
    assert capsys.readouterr().err == ""


def test_inside_the_block_lines_go_to_the_screen_that_draws():
    shown = []
    with log_lines_to(shown.append):
        from oracle.cli.terminal import log_lines

        log_lines._handler.handle(record("fallback", "odd"))
    assert [line.text for line in shown] == ["fallback: odd"]
    assert log_lines._handler.to is print_on_stderr


@pytest.mark.parametrize("quiet", [["-q"], []])
def test_no_record_of_a_library_reaches_the_screen(tmp_path, monkeypatch, quiet):
    code = "import logging, warnings; warnings.warn('odd'); logging.getLogger('x').warning('raw')\n"
    (tmp_path / "oracle.toml").touch()
    # Found by the interpreter at its start; the record itself comes when rich is imported.
    (tmp_path / "library_noise.py").write_text(code)
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'oracle.bt.wrappers.project_agent':\n"
        "            import library_noise\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    monkeypatch.chdir(tmp_path)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = oracle("ask", *quiet, "hello", env={"PYTHONPATH": path})
    assert done.returncode == 0
    assert b"raw" not in done.stderr
    assert b"odd" not in done.stderr
