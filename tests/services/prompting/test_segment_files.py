import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from oracle.errors import PromptFileError
from oracle.models.prompt_segment import PromptSegment
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.models.signals import SignalType
from oracle.services.project.redaction import redacted
from oracle.services.prompting.composer import compose_prompt
from oracle.services.prompting.segment_files import built_in_segments, load_segments

CODE = QueryClassification.of_type(QueryType.CODE)


def _loaded(folder: Path, name: str, text: str) -> PromptSegment:
    """The segment that the file adds or replaces."""
    (folder / name).write_text(text, encoding="utf-8", newline="")
    (segment,) = set(load_segments(folder)) - set(built_in_segments())
    return segment


@pytest.mark.parametrize("folder", ["missing", "empty"])
def test_without_own_files_a_project_has_the_built_in_segments(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    assert load_segments(tmp_path / folder) == built_in_segments()


def test_a_file_with_the_id_of_a_built_in_segment_replaces_it(tmp_path: Path) -> None:
    segment = _loaded(tmp_path, "ours.md", "---\nid: code\n---\nRead the tests first.\n")
    assert segment.content == "Read the tests first."
    assert (segment.priority, segment.conditions) == (10, ("query_type=code",))
    composed = compose_prompt(CODE, segments=load_segments(tmp_path))
    assert composed.segment_ids == ("base", "signals", "tools", "code")
    assert composed.text.endswith("\n\nRead the tests first.\n")


def test_a_file_with_a_new_id_adds_a_segment_to_every_prompt(tmp_path: Path) -> None:
    segment = _loaded(tmp_path, "tone.md", "---\nid: tone\n---\nBe brief.\n")
    assert (segment.priority, segment.conditions) == (50, ("always",))
    assert segment.token_estimate == 3
    assert compose_prompt(CODE, segments=load_segments(tmp_path)).segment_ids[-1] == "tone"


@pytest.mark.parametrize(
    ("matter", "priority", "conditions"),
    [
        ("priority: 7", 7, ("always",)),
        ("conditions: query_type=code", 50, ("query_type=code",)),
        ("conditions: query_type = code, large_context", 50, ("query_type=code", "large_context")),
        (
            "conditions: [query_type=code, 'previous_errors']",
            50,
            ("query_type=code", "previous_errors"),
        ),
        (
            "conditions:\n  - query_type=code\n  - query_type=action",
            50,
            ("query_type=code", "query_type=action"),
        ),
        ('# about us\n\npriority: "0"  # first of all', 0, ("always",)),
    ],
)
def test_front_matter_is_read_in_the_forms_people_write(
    tmp_path: Path, matter: str, priority: int, conditions: tuple[str, ...]
) -> None:
    segment = _loaded(tmp_path, "own.md", f"---\nid: own\n{matter}\n---\nText.\n")
    assert (segment.priority, segment.conditions) == (priority, conditions)


def test_the_suffix_may_be_written_in_any_case(tmp_path: Path) -> None:
    assert _loaded(tmp_path, "TONE.MD", "---\nid: tone\n---\nBe brief.\n").id == "tone"


def test_signals_can_be_replaced_by_a_text_that_teaches_all_of_them(tmp_path: Path) -> None:
    text = f"End with <signal type=TYPE>, one of {', '.join(SignalType)}."
    assert _loaded(tmp_path, "own.md", f"---\nid: signals\n---\n{text}\n").content == text


@pytest.mark.parametrize("prefix", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path, prefix: str) -> None:
    segment = _loaded(
        tmp_path, "own.md", prefix + "---\r\nid: own\r\n---\r\n# A\r\n\r\n---\r\nB\r\n"
    )
    assert segment.content == "# A\n\n---\nB"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "no front matter; begin with"),
        ("Text only.", 1, "no front matter"),
        ("---\nid: own\nText without an end", 1, "no front matter"),
        ("\n---\nid: own\n---\nText", 1, "no front matter"),
        ("---\n---\nText", 1, "needs one id; add 'id: name'"),
        ("---\nid:\n---\nText", 2, "needs one id"),
        ("---\nid: a, b\n---\nText", 2, "needs one id"),
        ("---\nid: own\nsome words\n---\nText", 3, "'some words' is not of the form 'key: value'"),
        ("---\nid: own\nprioritty: 3\n---\nText", 3, "did you mean 'priority'?"),
        ("---\nid: own\nx: 3\n---\nText", 3, "unknown key 'x'; known are id, priority, conditions"),
        ("---\nid: own\nid: two\n---\nText", 3, "'id' appears twice"),
        ("---\nid: own\npriority: high\n---\nText", 3, "priority 'high' is not a whole number"),
        ("---\nid: own\npriority: -1\n---\nText", 3, "priority '-1'"),
        ("---\nid: own\npriority: 1.5\n---\nText", 3, "priority '1.5'"),
        ("---\nid: own\npriority:\n---\nText", 3, "priority ''"),
        (
            "---\nid: own\nconditions: query_type=cod\n---\nText",
            3,
            "did you mean 'query_type=code'?",
        ),
        ("---\nid: own\nconditions: weekday\n---\nText", 3, "unknown condition 'weekday'"),
        ("---\nid: own\nconditions: []\n---\nText", 3, "conditions is empty; name some, or remove"),
        ("---\nid: own\n---\n \n", None, "no text below the front matter"),
        ("---\nid: Own Rules\n---\nText", None, "id 'Own Rules' must be lower-case"),
        ("---\nid: signals\nconditions: large_context\n---\nText", None, "remove its conditions"),
        ("---\nid: signals\n---\nBe honest.", None, "it lacks <signal, need_turn, context_suff"),
        ("---\nid: tools\n---\nNo place for the list.", None, "add a line {{tools}}"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_at_its_line(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    path = tmp_path / "own.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PromptFileError) as caught:
        load_segments(tmp_path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_two_files_with_one_id_are_an_error_that_names_both(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("---\nid: own\n---\nText\n")
    with pytest.raises(PromptFileError, match=r"b\.md: id 'own' is already used by a\.md"):
        load_segments(tmp_path)


def test_a_file_that_is_not_utf8_is_an_error_at_the_line_of_the_byte(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_bytes(b"---\nid: own\n---\nGr\xfc\xdfe\n")
    with pytest.raises(PromptFileError, match=r"own\.md:4: not UTF-8; save it as UTF-8"):
        load_segments(tmp_path)


def test_a_file_of_absurd_size_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("---\nid: own\n---\n" + "x" * 70_000)
    with pytest.raises(PromptFileError, match="70016 bytes are more than 65536; shorten it"):
        load_segments(tmp_path)


def test_a_file_that_is_not_regular_is_an_error_and_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "own.md")
    with pytest.raises(PromptFileError, match="not a regular file"):
        load_segments(tmp_path)


def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "own.md").symlink_to(tmp_path / "nowhere")
    with pytest.raises(PromptFileError, match=r"own\.md: not a regular file"):
        load_segments(tmp_path)


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "own.md").symlink_to("own.md")
    with pytest.raises(PromptFileError, match="not a regular file"):
        load_segments(tmp_path)


def test_a_file_where_the_folder_should_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "prompts").touch()
    with pytest.raises(PromptFileError, match="prompts: cannot be read"):
        load_segments(tmp_path / "prompts")


def test_hidden_files_other_kinds_and_subfolders_are_not_prompts(tmp_path: Path) -> None:
    for name in (".own.md.swp", ".hidden.md", "notes.txt", "own.md~"):
        (tmp_path / name).write_text("not a prompt")
    (tmp_path / "old").mkdir()
    assert load_segments(tmp_path) == built_in_segments()


def test_the_built_in_segments_hold_nothing_that_looks_like_a_secret():
    """So a run records them without looking."""
    for segment in built_in_segments():
        assert json.dumps(redacted(asdict(segment))) == json.dumps(asdict(segment))
