"""Files as sources: what is read, what is refused, and how much."""

import os
import re
import subprocess
from dataclasses import replace

import pytest

from oracle.errors import InputError, NotFound
from oracle.services.attachments.gathering import MOST_BYTES, gather
from oracle.services.attachments.references import Reach
from oracle.services.project.roots import Root
from oracle.services.project.secret_files import SecretFiles


@pytest.fixture
def reach(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("".join(f"line = {n}\n" for n in range(1, 11)))
    return Reach(folder=root, root=root)


def places(*files, reach, **given):
    return gather(reach=reach, files=files, **given).names


def refused(*files, reach):
    with pytest.raises(InputError) as raised:
        gather(reach=reach, files=files)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_file_is_a_source_with_its_lines_and_a_digest(reach):
    [source] = gather(reach=reach, files=["a.py:2-3"]).sources
    assert (source["where"], source["path"]) == ("a.py:2-3", "a.py")
    assert (source["start"], source["end"]) == (2, 3)
    assert source["text"] == "line = 2\nline = 3"
    assert source["digest"]
    assert "whole" not in source


def test_a_whole_file_says_so(reach):
    [source] = gather(reach=reach, files=["a.py"]).sources
    assert source["whole"] is True


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["a.py", "a.py"], ["a.py:1-10"]),
        (["a.py:1-3", "a.py:3-5"], ["a.py:1-5"]),
        (["a.py:1-3", "a.py:6", "./a.py:7"], ["a.py:1-3", "a.py:6-7"]),
        (["a.py:8-99"], ["a.py:8-10"]),
        (["a.py:9-"], ["a.py:9-10"]),
        (["a.py:2", "a.py"], ["a.py:1-10"]),
    ],
)
def test_the_same_file_twice_is_one_source_for_each_range(reach, files, found):
    assert places(*files, reach=reach) == found


def test_files_of_a_question_and_of_the_option_are_joined(reach):
    assert gather("compare @a.py:1-2", reach=reach, files=["a.py:2-4"]).names == ["a.py:1-4"]


def test_lines_after_the_end_are_an_error(reach):
    assert "has only 10 lines" in refused("a.py:11", reach=reach)


def test_lines_are_counted_as_git_and_the_index_count_them(reach):
    (reach.root / "cr.txt").write_bytes(b"first\rsecond\nthird\x0c\r\nfourth")
    [source] = gather(reach=reach, files=["cr.txt:2-3"]).sources
    assert source["text"] == "third\x0c\nfourth"


def test_an_empty_file_is_attached_and_noted(reach):
    (reach.root / "empty.py").touch()
    found = gather(reach=reach, files=["empty.py"])
    assert found.names == ["empty.py"]
    assert found.notes == ["empty.py is empty"]


def test_line_ends_of_windows_and_a_byte_order_mark_are_removed(reach):
    (reach.root / "w.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    (reach.root / "u.txt").write_bytes("one\r\ntwo".encode("utf-16"))
    texts = [s["text"] for s in gather(reach=reach, files=["w.txt", "u.txt"]).sources]
    assert texts == ["one\ntwo", "one\ntwo"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("x.png", b"text", "is an image"),
        ("x.JPG", b"text", "is an image"),
        ("x.pdf", b"text", "is a PDF"),
        ("noname", b"\x89PNG\r\n\x1a\n", "holds a PNG image"),
        ("noname", b"\xff\xd8\xff\xe0", "holds a JPEG image"),
        ("noname", b"GIF89a", "holds a GIF image"),
        ("noname", b"RIFF\0\0\0\0WEBP", "holds a WebP image"),
        ("noname", b"%PDF-1.7", "is a PDF"),
        ("x.bin", b"a\0b", "is a binary file"),
        ("x.txt", b"\xe9\xe8\xe7" * 30, "is not UTF-8 text"),
        ("key.txt", b"-----BEGIN RSA PRIVATE KEY-----\nMIIE", "is a private key"),
        (".env", b"A=1", "secrets.allow"),
        ("id_rsa", b"x", "secrets.allow"),
        ("big.log", b"x\n" * 3_000_000, "pipe the part"),
    ],
)
def test_what_is_not_text_and_what_is_secret_is_refused_by_name(reach, name, data, words):
    (reach.root / name).write_bytes(data)
    message = refused(name, reach=reach)
    assert words in message
    assert name in message


def test_a_secret_in_a_question_is_refused_too(reach):
    (reach.root / ".env").write_text("A=1")
    with pytest.raises(InputError, match=r"secrets\.allow"):
        gather("what is in @.env?", reach=reach)


def test_a_secret_that_the_user_allowed_is_attached(reach):
    (reach.root / ".env").write_text("A=1")
    allowing = replace(reach, secrets=SecretFiles(allowed=(".env",)))
    assert places(".env", reach=allowing) == [".env:1"]


def test_secrets_inside_of_a_file_are_removed(reach):
    (reach.root / "b.py").write_text('token = "ghp_' + "a1B2" * 9 + '"\n')
    found = gather(reach=reach, files=["b.py"])
    assert found.had_secrets
    assert "a1B2a1B2" not in found.sources[0]["text"]


def test_folders_pipes_and_missing_files_are_refused(reach):
    (reach.root / "src").mkdir()
    os.mkfifo(reach.root / "pipe")
    assert "'src' is a folder" in refused("src", reach=reach)
    assert "'pipe' is a pipe" in refused("pipe", reach=reach)
    assert "there is no file" in refused("none.py", reach=reach)


def test_the_user_may_attach_a_file_outside_of_the_project(reach):
    other = reach.root.parent / "other.py"
    other.write_text("x = 1\n")
    assert places("../other.py", reach=reach) == [f"{other}:1"]
    assert places(str(other), reach=reach) == [f"{other}:1"]


def test_a_link_that_leads_out_of_the_project_is_refused(reach):
    (reach.root.parent / "notes.txt").write_text("private")
    (reach.root / "link.txt").symlink_to(reach.root.parent / "notes.txt")
    assert "leads out of the project" in refused("link.txt", reach=reach)
    (reach.root / "inner.py").symlink_to("a.py")
    assert places("inner.py:1", reach=reach) == ["inner.py:1"]


def test_a_link_out_of_the_project_to_a_secret_is_not_to_be_allowed_as_one(reach):
    (reach.root.parent / ".env").write_text("A=1")
    (reach.root / "link.txt").symlink_to(reach.root.parent / ".env")
    message = refused("link.txt", reach=reach)
    assert "leads out of the project" in message
    assert "secrets.allow" not in message


def test_a_link_to_a_secret_is_refused(reach):
    (reach.root / ".env").write_text("A=1")
    (reach.root / "plain.txt").symlink_to(".env")
    assert "secrets.allow" in refused("plain.txt", reach=reach)


def test_a_linked_folder_that_leads_out_of_the_project_is_refused(reach):
    outside = reach.root.parent / "outside"
    outside.mkdir()
    (outside / "o.txt").write_text("private")
    (reach.root / "linked").symlink_to(outside)
    for name in ("linked/o.txt", "linked/../outside/o.txt", str(reach.root / "linked/o.txt")):
        assert "leads out of the project" in refused(name, reach=reach)
    with pytest.raises(InputError, match="leads out of the project"):
        gather("what is in @linked/o.txt?", reach=reach)
    assert places("../outside/o.txt", reach=reach) == [f"{outside}/o.txt:1"]


def test_no_spelling_of_a_path_leads_through_a_link_out_of_a_root(reach):
    near = reach.root.parent
    for folder in ("outside", "lib", "elsewhere"):
        (near / folder).mkdir()
    (near / "outside/o.txt").write_text("private")
    (near / "lib/l.py").write_text("x = 1\n")
    (near / "lib/out").symlink_to("../outside")
    (reach.root / "out").symlink_to(near / "outside")
    (reach.root / "lib2").symlink_to(near / "lib")
    (near / "alias").symlink_to(reach.root)
    (near / "elsewhere/deep").symlink_to("../alias/out")
    roots = (Root(name="lib", path=near / "lib"),)
    reach = replace(reach, roots=roots)
    spellings = [
        *("lib/out/o.txt", "../lib/out/o.txt", f"{near}/lib/out/o.txt", "lib2/out/o.txt"),
        *(f"{near}/alias/out/o.txt", "../alias/out/o.txt", f"{near}/alias/lib2/out/o.txt"),
        *(f"{near}/elsewhere/deep/o.txt", "out/../outside/o.txt"),
    ]
    for name in spellings:
        assert "is a link that leads out of the" in refused(name, reach=reach), name
        with pytest.raises(InputError, match="leads out of"):
            gather(f"what is in @{name}?", reach=reach)
    assert places("../outside/o.txt", reach=reach) == [f"{near}/outside/o.txt:1"]
    # A link from one root to another leads nowhere else.
    assert places("lib2/l.py", reach=reach) == ["lib/l.py:1"]


def test_a_root_itself_is_a_folder(reach):
    (reach.root.parent / "lib").mkdir()
    reach = replace(reach, roots=(Root(name="lib", path=reach.root.parent / "lib"),))
    assert "is a folder; attach files" in refused("lib", reach=reach)


def test_a_pipe_that_is_named_in_a_question_is_not_waited_for(reach):
    os.mkfifo(reach.root / "pipe")
    assert "pipe is a pipe, so @pipe is sent as text" in gather("what is @pipe?", reach=reach).notes


def test_a_linked_folder_inside_of_the_project_is_read(reach):
    (reach.root / "src").mkdir()
    (reach.root / "src/b.py").write_text("x = 1\n")
    (reach.root / "linked").symlink_to("src")
    assert places("linked/b.py", reach=reach) == ["src/b.py:1"]
    alias = reach.root.parent / "alias"
    alias.symlink_to(reach.root)
    assert places("a.py:1", reach=Reach(folder=alias, root=reach.root)) == ["a.py:1"]


def test_a_hard_link_to_a_secret_or_out_of_the_project_is_refused(reach):
    (reach.root / ".env").write_text("A=1")
    os.link(reach.root / ".env", reach.root / "inside.txt")
    assert "a hard link to .env" in refused("inside.txt", reach=reach)
    (reach.root.parent / "notes").write_text("private")
    os.link(reach.root.parent / "notes", reach.root / "outside.txt")
    assert "secrets.hard_links" in refused("outside.txt", reach=reach)
    assert "secrets.hard_links" in refused("../notes", reach=reach)
    allowing = replace(reach, secrets=SecretFiles(hard_links="all"))
    assert places("outside.txt", reach=allowing) == ["outside.txt:1"]
    os.link(reach.root / "a.py", reach.root / "b.py")
    assert places("b.py:1", reach=reach) == ["b.py:1"]


def test_the_advice_for_a_template_can_be_followed(reach):
    confined = replace(reach, is_confined=True)
    (reach.root / "src").mkdir()
    assert refused("src", reach=confined).endswith("give the path of a file")
    (reach.root.parent / "notes").write_text("private")
    os.link(reach.root.parent / "notes", reach.root / "outside.txt")
    assert "secrets.hard_links" in refused("outside.txt", reach=confined)


def test_whoever_is_confined_reads_only_what_tools_may_read(reach):
    confined = replace(reach, is_confined=True)
    (reach.root.parent / "notes.txt").write_text("private")
    (reach.root / ".gitignore").write_text("local.txt\n")
    (reach.root / "local.txt").write_text("private")
    assert places("a.py:1", reach=confined) == ["a.py:1"]
    assert "outside the project" in refused("../notes.txt", reach=confined)
    assert "ignored by the project" in refused("local.txt", reach=confined)


@pytest.mark.parametrize("name", ["notes.txt", "notes.txt:1", "missing.txt", "note.txt"])
def test_who_is_confined_does_not_learn_what_is_outside(reach, name):
    confined = replace(reach, is_confined=True)
    (reach.root.parent / "notes.txt").write_text("private")
    for path in (f"../{name}", str(reach.root.parent / name), f"~/{name}"):
        assert refused(path, reach=confined) == (
            f"{path!r} lies outside the project; give a path relative to the project's root"
        )


@pytest.mark.parametrize("path", [".env.productoin", "out/notse.txt", "ap.py"])
def test_who_is_confined_gets_no_name_of_a_file_near_by(reach, path):
    outside = reach.root.parent / "elsewhere"
    outside.mkdir()
    (outside / "notes.txt").write_text("private")
    (reach.root / "out").symlink_to(outside)
    (reach.root / ".env.production").write_text("KEY=1")
    with pytest.raises(NotFound) as problem:
        gather(reach=replace(reach, is_confined=True), files=[path])
    assert str(problem.value) == f"there is no file {path!r}; check the path"


def test_all_attachments_share_one_limit(reach):
    (reach.root / "half.txt").write_text("x" * (MOST_BYTES // 2) + "\n")
    (reach.root / "more.txt").write_text("y" * (MOST_BYTES // 2 + 1) + "\n")
    assert places("half.txt", reach=reach)
    message = refused("half.txt", "more.txt", reach=reach)
    assert "'more.txt:1' has 250,001 bytes" in message
    with pytest.raises(InputError, match="all attachments together"):
        gather(reach=reach, files=["half.txt"], piped_bytes=MOST_BYTES // 2 + 1)


def test_very_many_files_are_refused(reach):
    assert "more than 100" in refused(*["a.py"] * 101, reach=reach)


def test_a_diff_is_a_source_and_untracked_files_are_named(reach):
    for command in ("git init -q", "git add a.py"):
        subprocess.run(command.split(), cwd=reach.root, check=True, capture_output=True)
    (reach.root / "new.py").write_text("x")
    found = gather(reach=reach, diff="")
    assert re.fullmatch("git diff --cached", found.names[0])
    assert "+line = 1" in found.sources[0]["text"]
    assert "Untracked files, which are not in this diff: new.py" in found.sources[0]["text"]
    assert found.notes == ["untracked files are not in the diff: new.py"]


def test_an_empty_diff_advises_only_what_git_has(reach):
    def git(*command):
        identity = ("-c", "user.name=n", "-c", "user.email=e@x")
        subprocess.run(["git", *identity, *command], cwd=reach.root, check=True)

    def said():
        with pytest.raises(InputError) as problem:
            gather(reach=reach, diff="")
        return str(problem.value)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    assert said().endswith("nothing has changed; attach files with -f")
    git("commit", "-qm", "second", "--allow-empty")
    assert said().endswith("name a revision: --diff HEAD~1")
    (reach.root / ".env").write_text("A=1")
    (reach.root / "new.py").write_text("x")
    assert "only untracked files: new.py. Attach those that are text" in said()


def test_a_file_of_that_name_elsewhere_in_the_project_is_suggested(reach):
    (reach.root / "oracle.toml").touch()
    for name in ("src/app/session.py", "tests/app/session.py", "src/.env", "src/pic.png"):
        file = reach.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    both = "'session.py'; did you mean 'src/app/session.py' or 'tests/app/session.py'?"
    assert refused("session.py", reach=reach).endswith(both)
    assert refused("src/session.py", reach=reach).endswith("; did you mean 'src/app/session.py'?")
    # A name that may not be attached is no advice.
    assert refused(".env", reach=reach).endswith("; check the path")


def test_a_folder_after_an_at_sign_is_not_passed_over_in_silence(reach):
    (reach.root / "src").mkdir()
    found = gather("what is in @src/, and @nothing?", reach=reach)
    assert found.notes == [
        "src/ is a folder, so @src/ is sent as text; the project is searched anyway, "
        "or attach files, one by one"
    ]


def test_the_command_for_a_part_of_a_file_can_be_run(reach):
    name = "a big one.txt"
    (reach.root / name).write_text("0123456\n" * 600_000)
    for lines, command in (("", "tail -n 500"), (":5-8", "sed -n 5,8p"), (":5-", "sed -n '5,$p'")):
        step = f"; pipe the part that matters: {command} 'a big one.txt' | oracle ask …"
        assert refused(name + lines, reach=reach).endswith(step)
    (reach.root / "my paper.pdf").write_bytes(b"%PDF-1.7")
    assert "pdftotext 'my paper.pdf' - |" in refused("my paper.pdf", reach=reach)
