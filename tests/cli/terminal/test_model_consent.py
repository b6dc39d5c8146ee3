"""Money is spent only after a yes, and both answers are remembered."""

from pathlib import Path

import pytest

from oracle.cli.terminal import model_consent
from oracle.cli.terminal.model_consent import dollars, with_usable_model
from oracle.errors import InputError, SettingsError
from oracle.services.llm.spending import keep_consent
from oracle.settings import load_settings
from tests.cli.processes import QUESTION, Terminal, make_project, model_serving, oracle, says
from tests.tables import each_row

OFFER = "no model is selected, and there is a key for openai (OPENAI_API_KEY)"
PROJECT_ASKS = "this project's file selects openai:gpt-5 (oracle.toml:2)"
GREETING = "hello there"  # answered in one turn, without tools


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path)


@pytest.fixture
def foreign(project):
    """A project of somebody else, whose file names a model that costs money."""
    (project / "oracle.toml").write_text('[model]\nname = "gpt-5"\n')
    return project


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")


@pytest.fixture
def person(monkeypatch):
    """A person at a terminal: `person("y")` types that, and the questions are returned."""

    def types(line):
        asked = []
        monkeypatch.setattr(model_consent.sys.stdout, "isatty", lambda: True)
        monkeypatch.setattr(model_consent, "can_ask_a_person", lambda: True)
        monkeypatch.setattr(
            model_consent, "answer_to", lambda question: (asked.append(question), line)[1]
        )
        return asked

    return types


def with_key(env):
    """The user's key, and a provider that is the scripted server."""
    return {
        "OPENAI_API_KEY": "sk-test-0123456789",
        "OPENAI_BASE_URL": env["ORACLE_MODEL_BASE_URL"],
    }


def selected():
    file = Path.home() / ".config/oracle/oracle.toml"
    return file.read_text() if file.exists() else ""


def model_used(**flags):
    return with_usable_model(load_settings(flags=flags)).model.name


# -- nothing is selected ---------------------------------------------------------------------------


def test_a_yes_uses_the_model_and_is_remembered(project):
    with model_serving(says("Done."), says("Again.")) as (env, server):
        first = Terminal("ask", GREETING, env=with_key(env)).until(OFFER)
        first.until("[y/N] ").type("y\r").end()
        second = Terminal("ask", GREETING, env=with_key(env))
        second.end()
    assert "Done." in first.shown
    assert "price unknown" in first.shown  # at a server that is not the provider's
    assert 'name = "openai:gpt-' in selected()
    assert ("Again." in second.shown, "[y/N]" in second.shown) == (True, False)
    assert server.requests[0].body["model"].startswith("gpt-")


@pytest.mark.parametrize("typed", ["", "n", "No"])
def test_a_no_is_remembered_and_embedded_answers(project, key, person, capsys, typed):
    asked = person(typed)
    assert [model_used(), model_used()] == ["embedded", "embedded"]
    assert len(asked) == 1
    assert 'name = "embedded"' in selected()
    assert "`oracle models use sol` selects a model later" in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["maybe", None])
def test_what_is_neither_yes_nor_no_is_not_remembered(project, key, person, typed):
    asked = person(typed)
    assert [model_used(), model_used()] == ["embedded", "embedded"]
    assert (len(asked), selected()) == (2, "")


def test_ctrl_c_at_the_question_ends_the_command(project):
    env = {"OPENAI_API_KEY": "sk-test-0123456789"}
    terminal = Terminal("ask", QUESTION, env=env).until("[y/N] ")
    assert terminal.type("\x03").end() == 130
    assert "Traceback" not in terminal.shown


def test_in_a_pipe_nobody_is_asked_and_nothing_is_spent(project):
    with model_serving() as (env, _):
        first = oracle("ask", "--yes", QUESTION, env=with_key(env))
    assert (first.returncode, b"1800" in first.stdout) == (0, True)
    assert first.stderr.count(b"`oracle models use sol` selects one") == 1
    assert selected() == ""


def test_the_hint_in_a_pipe_comes_once_a_day(project, key, capsys):
    assert [model_used(), model_used()] == ["embedded", "embedded"]
    assert capsys.readouterr().err.count("`oracle models use sol` selects one") == 1


def test_with_quiet_nothing_is_asked_or_said(project, key, person, capsys):
    asked = person("y")
    assert with_usable_model(load_settings(), quiet=True).model.name == "embedded"
    assert (asked, capsys.readouterr().err) == ([], "")


def test_a_key_that_is_set_to_nothing_is_no_key(project, person, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    asked = person("y")
    assert (model_used(), asked) == ("embedded", [])


def test_a_yes_counts_where_it_cannot_be_written(project, key, person, capsys):
    (Path.home() / ".config").write_text("not a folder")
    person("y")
    assert model_used().startswith("openai:gpt-")
    assert "this holds for now only" in capsys.readouterr().err


def test_stored_keys_that_cannot_be_read_do_not_hinder_embedded(project, capsys):
    folder = Path.home() / ".config/oracle"
    folder.mkdir(parents=True)
    (folder / "keys.toml").write_text("damaged [")
    assert model_used() == "embedded"
    assert "keys.toml is damaged" in capsys.readouterr().err


# -- a project's own file --------------------------------------------------------------------------


def test_a_project_s_file_spends_nothing_before_a_yes(foreign):
    with model_serving(says("Done."), says("Again.")) as (env, _):
        refused = oracle("ask", GREETING, env=with_key(env))
        terminal = Terminal("ask", GREETING, env=with_key(env)).until(PROJECT_ASKS)
        assert terminal.until("[y/N] ").type("y\r").end() == 0
        accepted = oracle("ask", GREETING, env=with_key(env))
    assert refused.returncode == 78
    assert b"run `oracle models use openai:gpt-5 --project`" in refused.stderr
    assert accepted.stdout == b"Again.\n"


def test_a_no_to_a_project_s_file_is_remembered(foreign, key, person, capsys):
    asked = person("n")
    assert [model_used(), model_used()] == ["embedded", "embedded"]
    assert len(asked) == 1
    assert capsys.readouterr().err.count("embedded answers instead of openai:gpt-5") == 1


def test_who_answers_is_said_after_each_answer(foreign, key, person, capsys):
    person(None)  # Ctrl-D, which is not remembered
    for _ in range(2):
        model_used()
        assert "embedded answers instead of openai:gpt-5" in capsys.readouterr().err


def test_the_question_is_broken_at_words(monkeypatch):
    monkeypatch.setattr(model_consent.sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    text = "your key pays for it ~/.config/oracle/keys.toml " * 4
    lines = model_consent._fitted(text).splitlines()
    assert max(map(len, lines)) <= 60
    assert " ".join(" ".join(lines).split()) == f"oracle: {text}".strip()


def test_after_a_no_the_user_s_own_model_answers(foreign, key, person):
    file = Path.home() / ".config/oracle/oracle.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[model]\nname = "openai:mine"\nbase_url = "http://127.0.0.1:9/v1"\n')
    person("n")
    model = with_usable_model(load_settings()).model
    assert (model.name, model.base_url) == ("openai:mine", "http://127.0.0.1:9/v1")


def test_a_yes_is_for_this_project_and_this_model(foreign, key, person):
    asked = person("y")
    assert [model_used(), model_used()] == ["openai:gpt-5", "openai:gpt-5"]
    assert len(asked) == 1
    assert "($1.25 in, $10 out per million tokens)" in asked[0]
    (foreign / "oracle.toml").write_text('[model]\nname = "gpt-5.4"\n')
    model_used()
    assert len(asked) == 2


def test_a_project_s_file_cannot_pretend_to_be_cheap(foreign, key, person):
    prices = "input_price = 0.01\noutput_price = 0.01\n"
    (foreign / "oracle.toml").write_text(f'[model]\nname = "gpt-5"\n{prices}')
    asked = person("n")
    model_used()
    assert "($1.25 in, $10 out per million tokens)" in asked[0]


@pytest.mark.parametrize("own", ["variable", "flag", "user", "trust"])
def test_the_user_s_own_word_needs_no_question(foreign, key, monkeypatch, own):
    flags = {}
    if own == "variable":
        monkeypatch.setenv("ORACLE_MODEL_NAME", "gpt-5")
    elif own == "flag":
        flags = {"model.name": "gpt-5"}
    elif own == "trust":
        monkeypatch.setenv("ORACLE_TRUST", str(foreign))
    else:
        file = Path.home() / ".config/oracle/oracle.toml"
        file.parent.mkdir(parents=True)
        file.write_text('[model]\nname = "gpt-5"\n')
    assert model_used(**flags) == "openai:gpt-5"


def test_what_costs_nothing_needs_no_question(foreign, monkeypatch):
    assert model_used() == "openai:gpt-5"  # without a key
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    (foreign / "oracle.toml").write_text('[model]\nname = "ollama:llama3.2:3b"\n')
    assert model_used() == "ollama:llama3.2:3b"
    local = '[model]\nname = "openai:x"\nbase_url = "http://127.0.0.1:8080/v1"\n'
    (foreign / "oracle.toml").write_text(local)
    assert model_used() == "openai:x"


def test_a_key_for_ollama_is_not_sent_without_a_question(foreign, monkeypatch):
    monkeypatch.setenv("OLLAMA_API_KEY", "sk-test-0123456789")
    (foreign / "oracle.toml").write_text('[model]\nname = "ollama:llama3.2:3b"\n')
    with pytest.raises(SettingsError, match="OLLAMA_API_KEY"):
        model_used()


def test_a_model_that_ollama_runs_elsewhere_is_paid_for(foreign):
    (foreign / "oracle.toml").write_text('[model]\nname = "ollama:gpt-oss:120b-cloud"\n')
    with pytest.raises(SettingsError, match="the account that ollama is signed in with"):
        model_used()


def test_the_library_spends_nothing_before_a_yes_either(foreign, key):
    from oracle import Oracle

    with pytest.raises(SettingsError, match="nobody has agreed"):
        Oracle(project=foreign)
    keep_consent(foreign, "openai:gpt-5", "yes")
    Oracle(project=foreign)


# -- names and prices ------------------------------------------------------------------------------


def test_a_short_name_is_explained_once(project, monkeypatch, capsys):
    monkeypatch.setenv("ORACLE_MODEL_NAME", "4o")
    assert [model_used(), model_used()] == ["openai:gpt-4o", "openai:gpt-4o"]
    assert capsys.readouterr().err.count("oracle: 4o means openai:gpt-4o here") == 1


def test_a_name_that_means_nothing_is_reported_with_its_place(project, monkeypatch):
    with pytest.raises(InputError, match="--model: there is no model 'sonet'"):
        model_used(**{"model.name": "sonet"})
    monkeypatch.setenv("ORACLE_MODEL_NAME", "sonet")
    with pytest.raises(SettingsError, match="ORACLE_MODEL_NAME: there is no model 'sonet'"):
        model_used()


@each_row(
    ("amount", "shown"),
    [(2, "$2"), (1.25, "$1.25"), (0.1, "$0.10"), (0.075, "$0.075"), (0.0, "$0"), (150.0, "$150")],
)
def test_prices_are_short(amount, shown):
    assert dollars(amount) == shown
