"""What a chat says about itself, and what `/save` writes."""

import os
from pathlib import Path

import pytest

from oracle.cli.terminal.chat_texts import cost_lines, header, source_lines
from oracle.cli.terminal.saving import file_to_save, save, saved_conversation
from oracle.errors import InputError, StoreError
from oracle.models.session import Exchange, Session
from oracle.services.control.ledger import Limits
from oracle.services.project.root import user_folder
from oracle.services.settings.resolve import default_settings
from tests.tables import each_row

SESSION = Session(id="1a2b3c4d5e", title="where is it?", created_at=0.0, updated_at=0.0)


def exchange(number, usage=None):
    return Exchange(
        id=f"e{number}",
        session_id=SESSION.id,
        parent_id=f"e{number - 1}" if number else None,
        question=f"question {number}",
        answer=f"answer {number}\x1b[31m",
        metadata={} if usage is None else {"usage": usage},
        created_at=float(number),
    )


def used(**given):
    return {"turns": 2, "tokens": 1_500, "money": 0.01, "seconds": 1.5, "uses": {"a": 2}, **given}


def test_the_header_is_one_line_that_shortens_the_title():
    assert header("embedded", None, 80) == "model embedded; /help lists the commands"
    long = Session(id="1a2b3c4d5e", title="why " * 100, created_at=0.0, updated_at=0.0)
    shown = f"oracle: {header('embedded', long, 100)}"
    assert len(shown) == 100
    assert "1a2b3c4d: why why" in shown


def test_the_costs_of_all_questions_are_added():
    lines = cost_lines([exchange(0, used()), exchange(1, used(turns=1))], Limits(), "openai:x")
    assert lines == [
        "this conversation: 2 questions · 3 turns · 4 tool calls · 3,000 tokens · cost 0.0200"
        " · 3.0 s",
        "each question may use: 30 turns · 400,000 tokens · cost 1.00 · 300 s",
    ]


def test_an_unknown_price_is_not_a_cost_of_zero():
    free = [exchange(0, used(money=0.0))]
    first, second = cost_lines(free, Limits(), "openai:x", has_price=False)
    assert "cost not known" in first
    assert "any cost (no price is known)" in second


def test_the_embedded_model_counts_no_tokens():
    first, second = cost_lines([exchange(0, used(money=0.0))], Limits(money=None), "embedded")
    assert "no cost (embedded model)" in first
    assert "1,500" not in first
    assert "any cost" in second


@each_row("usage", [None, [], "x", {"turns": "x"}, {"uses": 3, "money": None}])
def test_damaged_costs_count_as_nothing(usage):
    assert "1 question · 0 turns" in cost_lines([exchange(0, usage)], Limits(), "openai:x")[0]


def test_sources_are_numbered_with_all_their_lines_and_the_cited_ones_first():
    def lines(path, start, end, **more):
        return {"path": path, "where": f"{path}:{start}", "start": start, "end": end, **more}

    sources = [lines("a.py", n * 10, n * 10 + 1) for n in range(1, 7)]
    sources += [lines("b.py", 1, 5), lines("b.py", 4, 9, cited=True), {"where": "search_code"}]
    assert source_lines(sources, ["search_code"]) == [
        "1  b.py:1-9 *",
        "2  a.py:10-11, 20-21, 30-31, 40-41, 50-51, 60-61",
        "* cited in the answer",
    ]
    assert source_lines([]) == []


def test_a_conversation_is_saved_as_markdown_that_cannot_steer_a_terminal(tmp_path):
    text = saved_conversation(SESSION, [exchange(0), exchange(1)])
    file = tmp_path / "talk.md"
    assert save(file, text, overwrite=False)
    assert file.read_text().startswith("# where is it?\n\n## 1\n\n> question 0\n\nanswer 0[31m\n")


def test_an_existing_file_is_overwritten_only_on_purpose(tmp_path):
    file = tmp_path / "talk.md"
    file.write_text("mine")
    assert not save(file, "new", overwrite=False)
    assert file.read_text() == "mine"
    assert save(file, "new", overwrite=True)
    assert file.read_text() == "new"


@pytest.mark.parametrize(("name", "error", "part"), [
    (".", InputError, "is a folder; add the name of a file"),
    ("gone/x.md", StoreError, "No such file or directory; give another file"),
    ("x" * 300, StoreError, "File name too long"),
    ("nul\0.md", StoreError, "cannot be written"),
])  # fmt: skip
def test_a_file_that_cannot_be_written_is_one_line(tmp_path, name, error, part):
    with pytest.raises(error, match=part) as raised:
        save(tmp_path / name, "text", overwrite=False)
    assert "\n" not in str(raised.value)


def test_a_pipe_is_never_written_to(tmp_path):
    os.mkfifo(tmp_path / "p")
    with pytest.raises(StoreError, match="it is a pipe"):
        save(tmp_path / "p", "text", overwrite=True)


def test_the_file_is_named_after_the_session_if_none_is_given():
    settings = default_settings(Path("/project"))
    assert str(file_to_save("a.md", SESSION, settings)) == "a.md"
    # Not among the files that the next question searches.
    saved = file_to_save("", SESSION, settings)
    assert str(saved) == "/project/.oracle/saved/oracle-1a2b3c4d.md"
    with pytest.raises(InputError, match="no such user"):
        file_to_save("~nobody-of-this-name/x", SESSION, settings)


def test_outside_of_a_project_it_is_saved_in_the_folder_of_the_user():
    settings = default_settings(None)
    file = file_to_save("", SESSION, settings)
    assert file.parent.parent == user_folder()
    assert save(file, "text", overwrite=False)
    assert file.read_text() == "text"
