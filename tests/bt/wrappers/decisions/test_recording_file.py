"""A recording in a file: the same as in memory, without secrets, and checked when it is read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from oracle.bt.wrappers.decisions import recording_file
from oracle.bt.wrappers.decisions.change import Change
from oracle.bt.wrappers.decisions.difference import compared
from oracle.bt.wrappers.decisions.playing import played
from oracle.bt.wrappers.decisions.recording_file import exported, read_recording, recordings_in
from oracle.errors import InputError, JournalError
from oracle.testing import Reply, signal
from tests.recorded_scenes import recording_of
from tests.scenarios import ENOUGH, Scene, search

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
async def file(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(await exported(await recording_of("unbelieved")))
    return path


async def test_what_is_read_is_what_was_written(tmp_path):
    recording = await recording_of("stuck")
    path = tmp_path / "run.json"
    path.write_text(await exported(recording))
    again = read_recording(path)
    assert again.decisions == recording.decisions
    assert again.effects == list(recording.effects)
    assert again.recipe.sources == recording.recipe.sources
    assert compared(again, await played(again)).is_same


async def test_secrets_and_the_home_folder_are_taken_out(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/somebody"))
    recording = await recording_of(
        Scene(
            replies=[search(1), "The login is in `a.py:1`, not in auth.py." + ENOUGH],
            tools={"search_code": "a.py:1 /home/somebody/src"},
            stop="answered",
        )
    )
    # As an older version with fewer rules may have recorded it.
    board = {**recording.recipe.board, "query": f"How does the login with {TOKEN} work?"}
    recording = replace(recording, recipe=replace(recording.recipe, board=board, folder="/x"))
    path = tmp_path / "run.json"
    path.write_text(await exported(recording))
    text = path.read_text()
    assert (TOKEN in text, "/home/somebody" in text) == (False, False)
    assert "a.py:1 ~/src" in text
    # The requests are known by digests of the redacted texts.
    again = await played(read_recording(path))
    assert (again.course.assumed, again.course.missing) == ([], None)


def told(recording):
    """All that the model said, put together as whoever reads the file can do it."""
    parts = [part for effect in recording.effects for _, part in effect.parts]
    return {kind: "".join(part.get(kind, "") for part in parts) for kind in ("text", "reasoning")}


@pytest.mark.parametrize("piece", [1, 7, 24])
async def test_a_secret_that_comes_in_pieces_is_taken_out(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/somebody"))
    said = f"The key is {TOKEN}, in `a.py:1` of /home/somebody/src, I think." + ENOUGH
    replies = [search(1), Reply(text=said, piece=piece)]
    path = tmp_path / "run.json"
    path.write_text(await exported(await recording_of(scene_of(replies))))
    text = told(read_recording(path))["text"]
    assert (TOKEN[:12] in text, "somebody" in text) == (False, False)
    assert "key is [redacted: " in text
    assert "in `a.py:1` of ~/src, I think." in text
    again = await played(read_recording(path))
    assert (again.course.assumed, again.course.missing) == ([], None)
    assert again.recording.decisions.answer == read_recording(path).decisions.answer


async def test_a_secret_that_the_longest_output_cuts_is_taken_out(tmp_path):
    at = len(TOKEN) // 2
    replies = [
        search(1),
        Reply(text=f"`a.py:1` has {TOKEN[:at]}", ending="length"),
        f"{TOKEN[at:]} in it." + ENOUGH,
    ]
    path = tmp_path / "run.json"
    path.write_text(await exported(await recording_of(scene_of(replies))))
    text = told(read_recording(path))["text"]
    assert (TOKEN[:12] in text, TOKEN[at:] in text) == (False, False)


@pytest.mark.parametrize(
    ("query", "clean"),
    [("limit in /home/somebody/x.py", "limit in ~/x.py"), (f"who uses {TOKEN}", "[redacted: ")],
)
@pytest.mark.parametrize("as_text", [False, True])
async def test_a_call_with_something_private_is_exported(
    tmp_path, monkeypatch, query, clean, as_text
):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/somebody"))
    arguments = {"query": query}
    asks = [("search_code", json.dumps(arguments) if as_text else arguments)]
    replies = [Reply(text=signal("need_turn", reason="look"), calls=asks), "`a.py:1`." + ENOUGH]
    path = tmp_path / "run.json"
    path.write_text(await exported(await recording_of(scene_of(replies))))
    text = path.read_text()
    assert (TOKEN in text, "somebody" in text, clean in text) == (False, False, True)
    again = await played(read_recording(path))
    assert (again.course.assumed, again.course.missing) == ([], None)


async def test_an_export_that_would_go_another_way_names_what_to_do():
    recording = await recording_of("unbelieved")
    effects = [effect for effect in recording.effects if effect.identity.kind != "tool"]
    recipe = replace(recording.recipe, folder="/x")
    with pytest.raises(InputError, match=r"cannot be exported: .*; ask it again without"):
        await exported(replace(recording, recipe=recipe, effects=effects))


async def test_a_file_knows_under_which_prompts_its_answers_were_given(file):
    again = await played(read_recording(file), Change(settings=["model.name=openai:x"]))
    assert {note.why for note in again.course.assumed} == {"prompt"}


async def test_a_secret_in_streamed_reasoning_is_taken_out():
    recording = await recording_of(scene_of([search(1), "`a.py:1`." + ENOUGH]))
    pieces = [(0.0, {"reasoning": TOKEN[at : at + 9]}) for at in range(0, len(TOKEN), 9)]
    first = replace(recording.effects[0], parts=[*pieces, *recording.effects[0].parts])
    text = await exported(replace(recording, effects=[first, *recording.effects[1:]]))
    assert not any(part["reasoning"] in text for _, part in pieces)


def scene_of(replies):
    return Scene(replies=replies, tools={"search_code": "a.py:1 key"}, stop="answered")


def changed(file, change):
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


@pytest.mark.parametrize("text", ["", "hi", "[]", "{}", "[" * 100_000, '{"a": 1}', "\x00", "null"])
def test_a_file_that_is_no_recording_is_refused(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(InputError, match="no recording"):
        read_recording(path)


def test_a_file_that_was_cut_is_refused(file):
    file.write_text(file.read_text()[:-300])
    with pytest.raises(InputError, match="not whole JSON"):
        read_recording(file)


def test_a_file_that_was_changed_is_refused(file):
    changed(file, lambda data: data["decisions"].update(stop_reason="stuck"))
    with pytest.raises(JournalError, match="was changed or is damaged"):
        read_recording(file)


def test_a_file_of_another_version_is_refused(file):
    changed(file, lambda data: data.update(oracle_recording=1))
    with pytest.raises(InputError, match="a recording of version 1"):
        read_recording(file)


def test_a_file_that_is_too_large_is_not_read_whole(file, monkeypatch):
    monkeypatch.setattr(recording_file, "LARGEST_FILE", 1_000)
    with pytest.raises(InputError, match="over 0 MiB"):
        read_recording(file)


def with_digest(change):
    def forge(data):
        change(data)
        rest = {name: data[name] for name in ("recipe", "cancelled", "effects", "decisions")}
        data["digest"] = recording_file._digest(rest)

    return forge


FORGED = {
    "leaves of another version": (lambda data: data["recipe"].update(format=2), InputError),
    "a board that is no board": (lambda data: data["recipe"].update(board=[]), JournalError),
    "a fact that no recipe has": (lambda data: data["recipe"].update(more=1), JournalError),
    "no recipe": (lambda data: data.update(recipe=None), JournalError),
    "an unknown effect": (
        lambda data: data["effects"][0].update(identity=["x", "", "", "", 0]),
        JournalError,
    ),
    "an effect that is none": (lambda data: data.update(effects=[7]), JournalError),
    "parts without a time": (lambda data: data["effects"][0].update(parts=[["x"]]), JournalError),
    "a node that does not exist": (
        lambda data: data["decisions"].update(nodes=["1 99999 success"]),
        JournalError,
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_is_refused_too(file, name):
    change, error = FORGED[name]
    changed(file, with_digest(change))
    with pytest.raises(error):
        read_recording(file)


def test_a_folder_without_recordings_does_not_pass_as_checked(tmp_path):
    with pytest.raises(InputError, match="no recording here"):
        recordings_in(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        recordings_in(tmp_path / "none")
