"""Addresses that editors send, and sentences that they cut in pieces."""

from pathlib import Path

import acp
import pytest

from oracle.acp.prompts import Place, prompt_of
from oracle.services.attachments.references import Reach


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///a/b.py", ("/a/b.py", None, None)),
        ("file://localhost/a/b.py", ("/a/b.py", None, None)),
        ("file:///a/b%20c.py#L3", ("/a/b c.py", 3, 3)),
        ("file:///a/b.py#L3:9", ("/a/b.py", 3, 9)),
        ("file:///a/b.py#L3-L9", ("/a/b.py", 3, 9)),
        ("file:///a/b.py?symbol=f#L3-9", ("/a/b.py", 3, 9)),
        ("file:///a/b.py#L0", ("/a/b.py", 1, 1)),
        ("file:///a/b.py#L9:3", ("/a/b.py", 9, 9)),
        ("file:///a/b.py#heading", ("/a/b.py", None, None)),
        ("file://other-host/a/b.py", None),
        ("https://example.com/a.py", None),
        ("zed:///agent/thread/1", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_an_address_names_a_file_and_lines(uri, expected):
    place = Place.of(uri)
    assert (None if place is None else (str(place.path), place.first, place.last)) == expected


def prompt(root, *blocks):
    blocks = [acp.text_block(block) if isinstance(block, str) else block for block in blocks]
    return prompt_of(blocks, Reach(folder=root, root=root))


def link(root, name, lines=""):
    return acp.resource_link_block(name, f"file://{root / name}{lines}")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Explain ", " please", "Explain a.py please"),
        ("Explain", "please", "Explain a.py please"),
        ("What is in ", "?", "What is in a.py?"),
        ("What is it?", "", "What is it? a.py"),
        ("", "what is it?", "a.py what is it?"),
        ("(see ", ")", "(see a.py)"),
    ],
)
def test_a_file_stands_where_it_was_in_the_sentence(tmp_path, before, after, expected):
    (tmp_path / "a.py").write_text("one = 1\n")
    assert prompt(tmp_path, before, link(tmp_path, "a.py"), after).question == expected


def test_a_file_is_attached_once_however_often_it_is_named(tmp_path):
    (tmp_path / "a.py").write_text("one = 1\n")
    given = prompt(tmp_path, "@a.py and ", link(tmp_path, "a.py")).given
    assert [(each["where"], each["text"]) for each in given.sources] == [("a.py:1", "one = 1")]


def test_lines_that_the_editor_sends_keep_their_numbers(tmp_path):
    (tmp_path / "a.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
    part = acp.embedded_text_resource(f"file://{tmp_path}/a.py#L2:3", "two = 22\nthree = 3\n")
    (source,) = prompt(tmp_path, "What?", acp.resource_block(part)).given.sources
    assert (source["where"], source["start"], source["end"]) == ("a.py:2-3", 2, 3)
    assert source["text"] == "two = 22\nthree = 3"
    assert "digest" not in source


def test_a_text_that_is_no_file_goes_with_the_question(tmp_path):
    rule = acp.embedded_text_resource("zed:///agent/rule/1", "Be brief.")
    given = prompt(tmp_path, "What?", acp.resource_block(rule)).given
    assert given.text == "zed:///agent/rule/1\nBe brief."


@pytest.mark.parametrize("name", [".env", "image.png", "missing.py"])
def test_what_cannot_be_attached_is_said_and_does_no_harm(tmp_path, name):
    if name != "missing.py":
        (tmp_path / name).write_bytes(b"\x89PNG\r\n" if name.endswith("png") else b"KEY=hunter2")
    asked = prompt(tmp_path, "What is in ", link(tmp_path, name), "?")
    assert asked.question == f"What is in {name}?"
    assert not asked.given.sources
    assert len(asked.notes) == 1


def test_a_secret_file_is_not_attached_as_the_editor_has_it_open(tmp_path):
    part = acp.embedded_text_resource(f"file://{tmp_path}/.env", "KEY=hunter2")
    asked = prompt(tmp_path, "What?", acp.resource_block(part))
    assert not asked.given.sources
    assert "a file of secrets" in asked.notes[0]


def test_a_link_that_leads_out_of_the_project_is_not_followed(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "private.txt").write_text("private")
    Path(root / "a.txt").symlink_to(tmp_path / "private.txt")
    asked = prompt(root, "What?", link(root, "a.txt"))
    assert not asked.given.sources
    assert "not in the project" in asked.notes[0]


def test_images_and_bytes_are_not_attached(tmp_path):
    blob = acp.embedded_blob_resource(f"file://{tmp_path}/a.bin", "AAAA")
    asked = prompt(
        tmp_path, "What?", acp.image_block("AAAA", "image/png"), acp.resource_block(blob)
    )
    assert len(asked.notes) == 2


def test_all_attachments_together_have_a_limit(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("x\n" * 150_000)
    asked = prompt(tmp_path, "What?", link(tmp_path, "a.txt"), link(tmp_path, "b.txt"))
    assert [each["path"] for each in asked.given.sources] == ["a.txt"]
    assert "500,000 bytes" in asked.notes[0]
