"""What wins, and what is told of mistakes. `load_settings` is the door to it."""

from pathlib import Path

import pytest

from oracle.bt.wrappers.project_agent import model_of
from oracle.errors import SettingsError
from oracle.services.settings.resolve import unread_variables, user_settings_file
from oracle.services.storage.database import url_from
from oracle.settings import load_settings
from tests.tables import each_row

SOURCES = [
    ({}, "30", "default", "default"),
    ({"file": 5}, "5", "file", "oracle.toml:2"),
    ({"variable": "6"}, "6", "variable", "ORACLE_LIMITS_TURNS"),
    ({"flag": 7}, "7", "flag", "--max-turns"),
    ({"flag": "7"}, "7", "flag", "--max-turns"),
    ({"file": 5, "variable": "6"}, "6", "variable", "ORACLE_LIMITS_TURNS"),
    ({"file": 5, "flag": 7}, "7", "flag", "--max-turns"),
    ({"variable": "6", "flag": 7}, "7", "flag", "--max-turns"),
    ({"file": 5, "variable": "6", "flag": 7}, "7", "flag", "--max-turns"),
    ({"file": 5, "variable": ""}, "5", "file", "oracle.toml:2"),
    ({"file": 5, "flag": None}, "5", "file", "oracle.toml:2"),
]


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text):
    Path("oracle.toml").write_text(text, encoding="utf-8")


def mistakes(text="", flags=None, **environment):
    write(text)
    with pytest.raises(SettingsError) as told:
        load_settings(environment=environment, flags=flags)
    return str(told.value).splitlines()


@pytest.mark.parametrize(("given", "value", "source", "place"), SOURCES)
def test_later_sources_win_and_the_value_knows_its_source(given, value, source, place):
    write(f"[limits]\nturns = {given['file']}\n" if "file" in given else "")
    environment = {"ORACLE_LIMITS_TURNS": given["variable"]} if "variable" in given else {}
    settings = load_settings(environment=environment, flags={"limits.turns": given.get("flag")})
    origin = settings.origins["limits.turns"]
    assert str(settings.limits.turns) == value
    assert (origin.source, str(origin)) == (source, place)


MISTAKES = [
    (
        "[limits]\ntruns = 3",
        "oracle.toml:2: no setting 'limits.truns'; did you mean 'limits.turns'?",
    ),
    ("[vault]\nxyz = 3", "oracle.toml:2: no setting 'vault.xyz'; use one of: vault.notes"),
    ("[modle]\nname = 'a'\nb = 1", "oracle.toml:1: no section 'modle'; did you mean 'model'?"),
    ("[modle]", "oracle.toml:1: no section 'modle'; did you mean 'model'?"),
    (
        "turns = 3",
        "oracle.toml:1: no setting 'turns' outside a section; did you mean 'limits.turns'?",
    ),
    (
        "zzz = 3",
        "oracle.toml:1: no setting 'zzz' outside a section; `oracle init --print` lists "
        "all settings",
    ),
    (
        "model = 'a:b'",
        "oracle.toml:1: 'model' is a section; write [model], and below it name = …",
    ),
    ("[[web]]", "oracle.toml:1: 'web' is a section; write [web], and below it provider = …"),
    (
        "[limits]\nturns = '3'",
        "oracle.toml:2: limits.turns is '3'; write a whole number from 1, without quotes",
    ),
    (
        "[limits.turns]\nx = 1",
        "oracle.toml:1: limits.turns is a section; write a whole number from 1",
    ),
]


@each_row(("text", "told"), MISTAKES)
def test_a_mistake_in_the_file_is_told_with_its_place_and_a_suggestion(text, told):
    assert mistakes(text) == [told]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_sources():
    told = mistakes(
        "[limits]\nturns = 0\ntokens = 'x'\n", {"limits.seconds": "y"}, ORACLE_LIMITS_MONEY="z"
    )
    assert [line.split()[0].split(":")[0] for line in told] == [
        "oracle.toml",
        "oracle.toml",
        "ORACLE_LIMITS_MONEY",
        "--timeout",
    ]


def test_a_flood_of_mistakes_is_cut():
    told = mistakes("".join(f"x{number} = 1\n" for number in range(50)))
    assert (len(told), told[-1]) == (21, "… and 30 more")


def test_a_long_or_wild_name_is_shown_short_and_escaped():
    (told,) = mistakes('"' + "\\u001b[2J" * 500 + '" = 1')
    assert len(told) < 250
    assert "\x1b" not in told


@each_row(
    "text",
    [
        "[model]\nkey = 'hush'",
        "[model]\napi_key = 'hush'",
        "[web]\ntoken = 'hush'",
        "[openai]\napi_key = 'hush'",
        "anthropic_api_key = 'hush'",
        "[database]\npassword = 'hush'",
        "[database]\nurl = 'postgresql://me:hush@host/db'",
        "[database]\nurl = 'postgresql://host/db?password=hush'",
        "[model]\nkey_variable = 'sk-hush'",
        "[model]\nbase_url = 'http://me:hush@host/v1'",
    ],
)
def test_a_secret_in_the_file_is_refused_with_advice_and_not_shown(text):
    told = "\n".join(mistakes(text))
    assert "hush" not in told
    assert "variable" in told or "set ORACLE_DATABASE_URL" in told


def test_a_password_in_the_variable_of_the_database_is_fine_and_masked():
    environment = {"ORACLE_DATABASE_URL": "postgresql://me:hush@host/db"}
    settings = load_settings(environment=environment)
    assert settings.database.url == "postgresql://me:hush@host/db"
    assert settings.shown("database.url") == "postgresql://me:••••@host/db"


VARIABLES = [
    ("ORACLE_VAULT_XYZ", "no setting has this variable; use one of: ORACLE_VAULT_NOTES"),
    ("ORACLE_LIMITS_TRUNS", "no setting has this variable; did you mean 'ORACLE_LIMITS_TURNS'?"),
    ("ORACLE_MODEL_API_KEY", "no setting has this variable; a key does not belong here; put it"),
]


@pytest.mark.parametrize(("variable", "told"), VARIABLES)
def test_an_unknown_variable_in_a_section_of_ours_is_a_mistake(variable, told):
    (line,) = mistakes(**{variable: "hush"})
    assert line.startswith(f"{variable}: {told}")
    assert "hush" not in line


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("ORACLE_MODEL", "ORACLE_MODEL_NAME"),
        ("ORACLE_TURNS", "ORACLE_LIMITS_TURNS"),
        ("ORACLE_LIMIT_TURNS", "ORACLE_LIMITS_TURNS"),
        ("ORACLE_DATABSE_URL", "ORACLE_DATABASE_URL"),
    ],
)
def test_a_variable_that_looks_like_one_of_ours_is_warned_of(variable, meant):
    settings = load_settings(environment={variable: "1"})
    assert settings.warnings == (f"{variable} is not read; did you mean {meant!r}?",)


def test_variables_of_others_are_left_alone():
    others = ["ORACLE_HOME", "ORACLE_SID", "ORACLE_BASE", "ORACLE_FUZZ_SEED", "ORACLE_PASSWORD"]
    environment = dict.fromkeys(others, "x") | {"ORACLE_LIMITS_TURNS": "2"}
    assert load_settings(environment=environment).warnings == ()
    assert unread_variables(environment) == sorted(others)


def test_the_file_is_found_and_named_from_a_folder_below(project, monkeypatch):
    write("[limits]\nturns = 4\n")
    (project / "src/deep").mkdir(parents=True)
    monkeypatch.chdir("src/deep")
    assert str(load_settings(environment={}).origins["limits.turns"]) == "../../oracle.toml:2"


def test_the_file_of_another_project_is_named_in_full(project, monkeypatch):
    write("[limits]\nturns = 4\n")
    (project / "elsewhere").mkdir()
    monkeypatch.chdir("/")
    origin = load_settings(project, environment={}).origins["limits.turns"]
    assert str(origin) == f"{project}/oracle.toml:2"


def test_a_path_counts_from_the_file_or_from_where_the_user_stands(project, monkeypatch):
    write("[prompts]\nfolder = 'words'\n")
    (project / "src").mkdir()
    monkeypatch.chdir("src")
    by_file = load_settings(environment={})
    by_variable = load_settings(environment={"ORACLE_PROMPTS_FOLDER": "words"})
    assert by_file.path("prompts.folder") == project / "words"
    assert by_variable.path("prompts.folder") == project / "src" / "words"


def test_outside_of_a_project_variables_and_flags_count(monkeypatch):
    settings = load_settings(
        environment={"ORACLE_MODEL_NAME": "a:b"}, flags={"limits.money": "off"}
    )
    assert (settings.root, settings.model.name, settings.limits.money) == (None, "a:b", None)


# -- the user's own file ---------------------------------------------------------------------------

OWN = "~/.config/oracle/oracle.toml"


@pytest.fixture
def users_file():
    file = user_settings_file()
    file.parent.mkdir(parents=True)
    return file


USERS = [
    ({"user": 4}, "4", "user", f"{OWN}:2"),
    ({"user": 4, "file": 3}, "3", "file", "oracle.toml:2"),
    ({"user": 4, "variable": "6"}, "6", "variable", "ORACLE_LIMITS_TURNS"),
    ({"user": 4, "flag": 7}, "7", "flag", "--max-turns"),
]


@pytest.mark.parametrize(("given", "value", "source", "place"), USERS)
def test_the_users_file_is_above_the_defaults_only(users_file, given, value, source, place):
    users_file.write_text(f"[limits]\nturns = {given['user']}\n")
    test_later_sources_win_and_the_value_knows_its_source(given, value, source, place)


def test_the_users_file_counts_outside_of_projects_too(users_file):
    users_file.write_text("[limits]\nturns = 4\n")
    settings = load_settings(Path("/"), environment={})
    assert (settings.root, settings.limits.turns) == (None, 4)


def test_mistakes_of_both_files_are_told_together(users_file):
    users_file.write_text("[limits]\nturns = 0\n")
    told = mistakes("[limits]\ntokens = 0\n")
    assert [line.split(" ")[0] for line in told] == [f"{OWN}:2:", "oracle.toml:2:"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"x = ", f"{OWN}:1: invalid value; write settings as"),
        (b"\n\xff", f"{OWN}:2: is not UTF-8; save the file as UTF-8"),
        (
            b"[model]\napi_key = 'hush'",
            f"{OWN}:2: 'model.api_key': a key does not belong",
        ),
    ],
)
def test_a_broken_file_of_the_user_is_named(users_file, content, told):
    users_file.write_bytes(content)
    (line,) = mistakes()
    assert line.startswith(told)
    assert "hush" not in line


def test_a_home_folder_that_cannot_be_entered_has_no_settings(monkeypatch):
    monkeypatch.setenv("HOME", "/dev/null")
    assert load_settings(environment={}).model.name == "embedded"


GUARDED = "[model]\nname = 'openai:x'\nbase_url = 'https://h/v1'\nkey_variable = 'K'\n"


def test_what_the_user_wrote_needs_no_trust(users_file):
    users_file.write_text(f"{GUARDED}[secrets]\nallow = ['.env']\n[prompts]\nfolder = '~/p'\n")
    settings = load_settings(environment={})
    assert settings.model.base_url == "https://h/v1"
    assert settings.path("prompts.folder") == Path.home() / "p"


def test_relative_paths_of_the_user_start_at_the_projects_root_and_links_need_trust(
    users_file, project
):
    users_file.write_text("[prompts]\nfolder = 'p'\n[database]\nurl = 'sqlite:///d.db'\n")
    write("")
    settings = load_settings(environment={})
    assert settings.path("prompts.folder") == project / "p"
    assert str(url_from(settings, settings.database.url)).endswith(f"{project}/d.db")
    Path("p").symlink_to("/etc")
    Path("d.db").symlink_to("/etc/d.db")
    told = mistakes()
    assert [line.split(": ")[1].split()[0] for line in told] == ["database.url", "prompts.folder"]


def test_a_project_gets_no_key_of_the_user_by_naming_an_address(users_file):
    users_file.write_text("[model]\nname = 'openai:x'\nkey_variable = 'K'\n")
    (line,) = mistakes("[model]\nbase_url = 'http://127.0.0.1:9/v1'\n")
    assert "the key in model.key_variable, would be sent there" in line


def test_another_model_of_the_project_is_not_described_by_the_users_file(users_file):
    users_file.write_text(f"{GUARDED}[web]\nprovider = 'tavily'\nurl = 'http://h'\n")
    write("[model]\nname = 'anthropic:y'\n[web]\nprovider = 'searxng'\n")
    settings = load_settings(environment={})
    assert (settings.model.base_url, settings.model.key_variable, settings.web.url) == (None,) * 3
    assert str(settings.origins["model.base_url"]) == "default"
    write("[model]\nname = 'openai:x'\n")
    assert load_settings(environment={}).model.base_url == "https://h/v1"


def test_in_its_own_folder_the_users_file_is_not_a_projects(users_file, monkeypatch):
    users_file.write_text(GUARDED)
    monkeypatch.chdir(users_file.parent)
    settings = load_settings(environment={})
    assert settings.origins["model.base_url"].source == "user"


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("openai:other", "http://127.0.0.1:9/v1"),
        # Nobody knows its provider: it may be a model of that server.
        ("other", "http://127.0.0.1:9/v1"),
        ("anthropic:claude-sonnet-4-5", None),
        ("sonnet", None),
        ("embedded", None),
    ],
)
@pytest.mark.parametrize("way", ["flag", "variable"])
def test_a_model_of_another_provider_is_not_asked_at_the_address_of_a_file(
    users_file, name, address, way
):
    users_file.write_text("[model]\nname = 'openai:m'\nbase_url = 'http://127.0.0.1:9/v1'\n")
    flags = {"model.name": name} if way == "flag" else {}
    environment = {} if way == "flag" else {"ORACLE_MODEL_NAME": name}
    assert load_settings(environment=environment, flags=flags).model.base_url == address


def test_the_patience_with_a_server_can_be_set(monkeypatch):
    given = {}
    monkeypatch.setattr(
        "oracle.services.llm.opening.open_model", lambda _, **all_: given.update(all_)
    )
    write("[model]\nname = 'openai:x'\nstall_seconds = 7\nattempts = 1\n")
    model_of(load_settings(environment={}), {})
    assert (given["stall_seconds"], given["attempts"]) == (7.0, 1)
