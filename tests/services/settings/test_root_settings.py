"""`[roots]` in oracle.toml: what is allowed, what needs trust, and what each mistake says."""

import os

import pytest

from oracle.errors import SettingsError
from oracle.services.settings.own_changes import write_settings
from oracle.settings import load_settings
from tests.tables import each_row


@pytest.fixture
def project(tmp_path):
    project = tmp_path / "main"
    for folder in ("main/src", "main/notes", "shared/inner", "other", "home/.ssh"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "file.txt").write_text("x")
    return project


def loaded(project, text, **environment):
    (project / "oracle.toml").write_text(text)
    return load_settings(project, environment={"ORACLE_TRUST": str(project), **environment})


def test_roots_are_relative_to_the_file_or_absolute_or_at_home(project, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    text = f'[roots]\nshared = "../shared"\nother = "{tmp_path}/other"\nmine = "~/work"\n'
    settings = loaded(project, text)
    assert [(root.name, root.path) for root in settings.roots] == [
        ("shared", tmp_path / "shared"),
        ("other", tmp_path / "other"),
        ("mine", tmp_path / "home/work"),
    ]
    assert [bool(root.problem) for root in settings.roots] == [False, False, True]
    assert settings.value("roots.shared") == "../shared"
    assert str(settings.origins["roots.other"]).endswith("oracle.toml:3")


@each_row(
    ("line", "says"),
    [
        ('src = "../shared"', "roots.src: the project has a folder of this name; choose another"),
        ('notes = "../shared"', "'notes' is reserved"),
        ('Threads = "../shared"', "'Threads' is reserved"),
        ('node_modules = "../shared"', "is reserved"),
        ('"a/b" = "../shared"', "roots.a/b: its name has to begin with a letter"),
        ('".hidden" = "../shared"', "its name has to begin with a letter"),
        (f'{"x" * 41} = "../shared"', "at most 40"),
        ('me = "."', "'.' is the project itself"),
        ('inside = "src"', "'src' is inside of the project"),
        ('above = ".."', "'..' contains the project"),
        (
            'a = "../shared"\nb = "../shared/inner/.."',
            "roots.b: .* is the same folder as 'a'; keep",
        ),
        ('a = "../shared"\nb = "../shared/inner"', "roots.b: '../shared/inner' is inside of 'a'"),
        ('b = "../shared/inner"\na = "../shared"', "roots.a: '../shared' contains 'b'"),
        ('a = "../shared"\nA = "../other"', "differs only by its case"),
        ('a = "../file.txt"', "'../file.txt' is a file; name a folder"),
        ('keys = "../home/.ssh"', "a folder of secrets"),
        ("a = 3", "roots.a: it is 3; write a folder"),
        ('a = ""', "roots.a: it is "),
        ('a = "../x\\u0000"', "roots.a: "),
        ('a = ["../shared"]', "roots.a: it is a list; write a folder"),
        ("[roots.a]\nx = 1", "roots.a: it is a section"),
    ],
)
def test_a_mistake_names_its_line_its_value_and_the_next_step(project, line, says):
    with pytest.raises(SettingsError, match=says) as problem:
        loaded(project, f"[roots]\n{line}\n")
    assert "oracle.toml:" in str(problem.value)


def test_a_link_to_the_same_folder_is_the_same_folder(project, tmp_path):
    (tmp_path / "link").symlink_to("shared")
    with pytest.raises(SettingsError, match="is the same folder as 'a'"):
        loaded(project, '[roots]\na = "../shared"\nb = "../link"\n')


def test_a_root_may_have_the_name_of_a_secret(project):
    (root,) = loaded(project, '[roots]\ntoken = "../shared"\n').roots
    assert root.name == "token"


def test_the_users_own_file_has_no_roots(project, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config/oracle").mkdir(parents=True)
    (tmp_path / "config/oracle/oracle.toml").write_text('[roots]\na = "/tmp"\n')
    with pytest.raises(SettingsError, match="roots belong to one project; move them"):
        loaded(project, "")


def test_a_root_counts_only_with_trust_in_the_folder_that_it_leads_to(project, tmp_path):
    (project / "oracle.toml").write_text('[roots]\na = "../link"\n')
    with pytest.raises(SettingsError, match=r"roots\.a is '\.\./link': files of this folder would"):
        load_settings(project, environment={})
    (tmp_path / "link").symlink_to("shared")
    write_settings(project / "oracle.toml", {"roots.a": "../link"})
    assert load_settings(project, environment={}).roots[0].path == tmp_path / "shared"
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("other")
    with pytest.raises(SettingsError, match=r"run `oracle config trust`$"):
        load_settings(project, environment={})


def test_a_root_keeps_the_secrets_of_its_own_settings_and_not_its_exceptions(project, tmp_path):
    own = '[secrets]\nfiles = ["*.vars"]\nallow = [".env"]\n[model]\nname = "x"\n'
    (tmp_path / "shared/oracle.toml").write_text(own)
    (root,) = loaded(project, '[roots]\na = "../shared"\n').roots
    assert root.secrets.rule_for("x/deploy.vars") == "*.vars"
    assert root.secrets.rule_for(".env")


def test_a_root_whose_own_settings_cannot_be_read_is_not_read(project, tmp_path):
    (tmp_path / "shared/oracle.toml").write_text("[secrets\n")
    (root,) = loaded(project, '[roots]\na = "../shared"\n').roots
    assert "is not read: its settings cannot be read: oracle.toml:1" in root.problem


def test_variables_for_secrets_count_in_roots(project):
    text = '[roots]\na = "../shared"\n'
    (root,) = loaded(project, text, ORACLE_SECRETS_ALLOW="a/.env", ORACLE_SECRETS_FILES="*.q").roots
    assert root.secrets.rule_for(".env") is None
    assert root.secrets.rule_for("x.q") == "*.q"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_root_that_may_not_be_read_says_so(project, tmp_path):
    (tmp_path / "other").chmod(0)
    (root,) = loaded(project, '[roots]\na = "../other"\n').roots
    assert "cannot be read (Permission denied)" in root.problem
    (tmp_path / "other").chmod(0o700)
