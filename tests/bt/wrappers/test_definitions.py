"""A living agent sees edited prompts and trees; with a broken file the last good ones stay."""

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from oracle import Oracle
from oracle.errors import PromptFileError
from oracle.testing import ScriptedModel

PROMPT = "---\nid: house\n---\nSpeak of {}.\n"


def project(folder, settings=""):
    (folder / "oracle.toml").write_text(settings)
    (folder / ".oracle" / "prompts").mkdir(parents=True)
    return folder / ".oracle" / "prompts" / "house.md"


async def asked(oracle, model):
    said = [chunk async for chunk in oracle.stream("hello")]
    warnings = [
        chunk["content"]
        for chunk in said
        if chunk.type == "system" and chunk["severity"] == "warning"
    ]
    return model.requests[-1].messages[0]["content"], warnings


async def test_an_edited_prompt_is_in_the_next_question_and_a_broken_one_is_not(tmp_path):
    file = project(tmp_path)
    file.write_text(PROMPT.format("tea"))
    model = ScriptedModel("Hello.", repeats_last=True)
    oracle = Oracle(project=tmp_path, model=model, remembers=False)
    assert "Speak of tea." in (await asked(oracle, model))[0]
    file.write_text(PROMPT.format("ale"))
    assert "Speak of ale." in (await asked(oracle, model))[0]
    file.write_text("---\nid: \n")
    prompt, warnings = await asked(oracle, model)
    assert "Speak of ale." in prompt
    assert "house.md" in warnings[0]
    assert (await asked(oracle, model))[1] == warnings
    file.write_text(PROMPT.format("rum"))
    prompt, warnings = await asked(oracle, model)
    assert "Speak of rum." in prompt
    assert warnings == []
    file.unlink()
    assert "Speak of" not in (await asked(oracle, model))[0]


async def test_a_prompt_that_is_added_later_is_seen(tmp_path):
    file = project(tmp_path)
    shutil.rmtree(file.parent)
    model = ScriptedModel("Hello.", repeats_last=True)
    oracle = Oracle(project=tmp_path, model=model, remembers=False)
    await asked(oracle, model)
    file.parent.mkdir()
    file.write_text(PROMPT.format("tea"))
    assert "Speak of tea." in (await asked(oracle, model))[0]


@pytest.mark.extra
async def test_an_edited_tree_is_that_of_the_next_question(tmp_path):
    project(tmp_path, '[trees]\nfolder = "trees"\n')
    shutil.copytree(Path(str(files("oracle") / "bt" / "trees")), tmp_path / "trees")
    model = ScriptedModel("Hello.", repeats_last=True)
    oracle = Oracle(project=tmp_path, model=model, remembers=False)
    await asked(oracle, model)
    file = tmp_path / "trees" / "turn.lua"
    good = file.read_text()
    file.write_text("BT.tree(")
    assert any("turn.lua" in warning for warning in (await asked(oracle, model))[1])
    file.write_text(good)
    assert (await asked(oracle, model))[1] == []


def test_at_the_start_a_broken_file_is_an_error(tmp_path):
    project(tmp_path).write_text("---\nid: \n")
    with pytest.raises(PromptFileError):
        Oracle(project=tmp_path, model=ScriptedModel("x"), remembers=False)
